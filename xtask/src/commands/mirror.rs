//! `cargo xtask mirror`

use super::Session;
use super::bootstrap::From;
use crate::fetch::{Places, save_package};
use crate::files;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Save every archive that the toolchain needs, for a machine without a network
///
/// Each archive is verified and lies at `DIR/<sha256>/<file>`. Take the folder along, or serve it, and bootstrap from it with
/// `--offline --mirror DIR`.
#[derive(Debug, Args)]
pub(crate) struct MirrorCommand {
    /// Folder of the mirror; what is in it already is not downloaded again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    from: From,
}

impl MirrorCommand {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        let context = session.fetching(&self.from);
        files::create_folder(&self.out)?;
        let work = tempfile::Builder::new().prefix(".work-").tempdir_in(&self.out)?;
        let path = |name: &str| work.path().join(name);
        let (tree, scratch) = (path("tree"), path("scratch"));
        let partials = self.out.join("partials");
        let places = Places { tree: &tree, scratch: &scratch, partials: &partials };
        let mut saved = 0;
        for package in selected.packages() {
            let new = save_package(package, &self.out, places, &context)?;
            session.ui.phase("saved", &format!("{} {}: {new} new files", package.name, package.version));
            saved += new;
        }
        files::remove_tree(&partials)?;
        session.ui.data(
            &format!("{saved} new files in {}", self.out.display()),
            &json!({"new_files": saved, "out": self.out.display().to_string()}),
        );
        Ok(())
    }
}
