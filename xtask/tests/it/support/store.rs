//! The workspace's own store, with a real toolchain in it.

use super::workspace_root;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The store with the toolchain `lite` in it.
pub(crate) fn store() -> &'static PathBuf {
    static STORE: OnceLock<PathBuf> = OnceLock::new();
    STORE.get_or_init(|| {
        let root = workspace_root();
        let store = std::env::var_os("STRATA_STORE").map_or_else(|| root.join("store"), PathBuf::from);
        let status = std::process::Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["bootstrap", "--toolchain", "lite", "--store"])
            .arg(&store)
            .current_dir(&root)
            .env_remove("CARGO_MANIFEST_DIR")
            .status();
        assert!(status.expect("xtask starts").success(), "the toolchain `lite` can be installed");
        store
    })
}
