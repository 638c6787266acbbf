//! `cargo xtask doctor`

use super::{MissingPrerequisite, Session};
use crate::host::{Check, Gpu, Machine, Question, Verdict, checks, survey};
use clap::Args;
use serde_json::{Value, json};

/// Raised when a field of `doctor --format json` changes its meaning or goes (xtask/tests/schemas/doctor.schema.json).
const SCHEMA: u32 = 1;

/// Say what this machine has and what is missing, with the command that mends it
///
/// Each line is ok, a warning, or a problem: then the main job cannot run, and doctor ends with code 6. For a program: --format json.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Say what an error's code means, where it comes from and what mends it; `all` lists the codes
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

impl Doctor {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        if let Some(code) = &self.explain {
            return super::explain::explain(session, code);
        }
        let lock = session.lock()?;
        let selected = session.select(&lock)?;
        let machine = survey(&Question { store: &session.store, root: &session.root, lock: &lock, selected });
        let checks = checks(&machine);
        session.ui.data(&for_people(&checks), &for_programs(&machine, &checks));
        match checks.into_iter().find(|check| check.verdict == Verdict::Problem) {
            Some(check) => {
                Err(MissingPrerequisite { what: check.what, mend: check.mend.unwrap_or_default() }.into())
            }
            None => Ok(()),
        }
    }
}

fn for_people(checks: &[Check]) -> String {
    let line = |check: &Check| {
        let mend = check.mend.as_ref().map(|mend| format!("\n         {mend}")).unwrap_or_default();
        format!("{:<8} {}{mend}", check.verdict.word(), check.what)
    };
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn for_programs(machine: &Machine, checks: &[Check]) -> Value {
    let gpu = |gpu: &Gpu| {
        json!({
            "number": gpu.number,
            "name": gpu.name,
            "arch": gpu.arch,
            "target": gpu.target.map(gfx::Target::name),
            "vram_bytes": gpu.vram,
            "integrated": gpu.is_integrated,
            "driver": gpu.driver,
            "source": gpu.source.name(),
            "tier": gpu.target.map(|target| target.tier().name()),
            "refused": gpu.refusal(),
        })
    };
    let native: Vec<&str> = machine.gpus.native_targets().into_iter().map(gfx::Target::name).collect();
    json!({
        "schema": SCHEMA,
        "host": machine.host.triple(),
        "toolchain": machine.chosen,
        "ready": checks.iter().all(|check| check.verdict != Verdict::Problem),
        "native_targets": native,
        "gpus": machine.gpus.gpus.iter().map(gpu).collect::<Vec<_>>(),
        "checks": checks,
    })
}
