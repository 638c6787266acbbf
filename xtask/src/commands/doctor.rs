//! `cargo xtask doctor`

use super::{MissingPrerequisite, Session};
use crate::host::{MINIMUM_CMAKE, MINIMUM_NINJA, find_program, gpus};
use crate::store::load_installed;
use crate::ui::human_bytes;
use clap::Args;
use serde_json::json;

/// Say what this machine has and what is missing, with the command that mends it
///
/// Ends with code 6 when the toolchain cannot be used.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Say what an error's code means, where it comes from and what mends it; `all` lists the codes
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Note,
    Problem,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::Note => "note",
            Verdict::Problem => "problem",
        }
    }
}

struct Line {
    verdict: Verdict,
    what: String,
    mend: Option<String>,
}

impl Doctor {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        if let Some(code) = &self.explain {
            return super::explain::explain(session, code);
        }
        let mut lines = vec![toolchain(session)?];
        lines.extend(programs());
        lines.extend(graphics());
        lines.push(space(session));
        let text: Vec<String> = lines
            .iter()
            .map(|line| {
                let mend = line.mend.as_ref().map(|mend| format!("\n         {mend}")).unwrap_or_default();
                format!("{:<8} {}{mend}", line.verdict.word(), line.what)
            })
            .collect();
        let values = lines
            .iter()
            .map(|line| json!({"verdict": line.verdict.word(), "what": line.what, "mend": line.mend}));
        session.ui.data(&text.join("\n"), &json!({"checks": values.collect::<Vec<_>>()}));
        match lines.into_iter().find(|line| line.verdict == Verdict::Problem) {
            Some(line) => {
                Err(MissingPrerequisite { what: line.what, mend: line.mend.unwrap_or_default() }.into())
            }
            None => Ok(()),
        }
    }
}

fn toolchain(session: &Session) -> anyhow::Result<Line> {
    let lock = session.lock()?;
    let selected = session.select(&lock)?;
    let name = &selected.toolchain.name;
    Ok(match load_installed(&session.store, selected) {
        Ok(installed) => {
            let what =
                format!("toolchain {name} (ROCm {}): {} packages", installed.rocm, installed.packages.len());
            Line { verdict: Verdict::Ok, what, mend: None }
        }
        Err(error) => Line {
            verdict: Verdict::Problem,
            what: error.to_string(),
            mend: Some(format!("cargo xtask bootstrap --toolchain {name}")),
        },
    })
}

fn programs() -> Vec<Line> {
    let line = |name: &str, minimum| match find_program(name, minimum) {
        Some(p) if p.is_new_enough => {
            format!("{name} {} at {} (unused while the lock pins one)", p.version, p.path.display())
        }
        Some(p) => format!("{name} {} at {} is too old (unused)", p.version, p.path.display()),
        None => format!("no {name} on the PATH (none is needed while the lock pins one)"),
    };
    let note = |what| Line { verdict: Verdict::Note, what, mend: None };
    vec![note(line("cmake", MINIMUM_CMAKE)), note(line("ninja", MINIMUM_NINJA))]
}

fn graphics() -> Vec<Line> {
    let gpus = gpus();
    if gpus.is_empty() {
        let what = "no AMD GPU: kernels can be built here and not run".to_owned();
        return vec![Line { verdict: Verdict::Note, what, mend: None }];
    }
    let line = |gpu: crate::host::Gpu| {
        let vram = gpu.vram.map(|bytes| format!(", {}", human_bytes(bytes))).unwrap_or_default();
        let (verdict, note) = match gpu.target {
            Some(_) => (Verdict::Ok, ""),
            None => (Verdict::Note, ", which is no target of this project"),
        };
        Line { verdict, what: format!("GPU {}: {}{vram}{note}", gpu.number, gpu.arch), mend: None }
    };
    gpus.into_iter().map(line).collect()
}

fn space(session: &Session) -> Line {
    let existing = session.store.root().ancestors().find(|path| path.exists());
    let free = existing.and_then(|path| fs4::available_space(path).ok()).map(human_bytes);
    let what = format!(
        "{} free for the store at {}",
        free.unwrap_or("unknown space".into()),
        session.store.root().display()
    );
    Line { verdict: Verdict::Ok, what, mend: None }
}
