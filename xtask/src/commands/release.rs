//! `cargo xtask release`

use super::build::What;
use super::checkout::Checkout;
use super::{Session, bootstrap, dist};
use clap::Args;

/// Bootstrap, build and dist in one go
#[derive(Debug, Args)]
pub(crate) struct Release {
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    from: bootstrap::From,
    #[command(flatten)]
    options: dist::Options,
}

impl Release {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let offline = self.from.offline;
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        session.refuse_unpinned(selected)?;
        self.options.check_key()?;
        session.targets(&self.what.targets, selected)?;
        let checkout = Checkout::read(&session.root)?;
        let installed = bootstrap::install(session, selected, &self.from)?;
        let _alone = session.lock_builds()?;
        self.what.build(session, &lock, selected, &installed, offline)?;
        let how = dist::How { host: self.what.host, options: &self.options, checkout, is_offline: offline };
        dist::pack(session, selected, &installed, &self.what.targets, how)
    }
}
