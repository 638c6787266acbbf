//! The LLVM of the toolchain `lite`, which xtask installs where it is missing. STRATA_LLVM_TREE names one that is there already.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The unpacked LLVM.
pub(crate) fn llvm() -> &'static Path {
    static TREE: OnceLock<PathBuf> = OnceLock::new();
    TREE.get_or_init(|| {
        if let Some(tree) = std::env::var_os("STRATA_LLVM_TREE") {
            return PathBuf::from(tree);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let store = std::env::var_os("STRATA_STORE").map_or_else(|| root.join("store"), PathBuf::from);
        // The one that `cargo test --workspace` has built lies two folders up; cargo would build it with other features once more.
        let test = std::env::current_exe().expect("a test has a path");
        let built =
            test.ancestors().nth(2).map(|folder| folder.join("xtask")).filter(|xtask| xtask.is_file());
        let mut command = match built {
            Some(xtask) => Command::new(xtask),
            None => {
                let mut cargo = Command::new(env!("CARGO"));
                cargo.args(["run", "--quiet", "--package", "xtask", "--"]);
                cargo
            }
        };
        let output = command
            .args(["--quiet", "--format", "json"])
            .args(["bootstrap", "--toolchain", "lite", "--store"])
            .arg(store)
            .current_dir(&root)
            .env_remove("CARGO_MANIFEST_DIR")
            .output()
            .expect("xtask starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let shown = || format!("{text}{}", String::from_utf8_lossy(&output.stderr));
        // Of the JSON line `"name":"llvm",…,"tree":"…"`: its only string that ends like this package's tree.
        let package = text
            .split("{")
            .find(|part| part.contains(r#""name":"llvm""#))
            .unwrap_or_else(|| panic!("{}", shown()));
        let tree = package.split(r#""tree":""#).nth(1).and_then(|rest| rest.split('"').next());
        PathBuf::from(tree.unwrap_or_else(|| panic!("{}", shown())))
    })
}
