//! `cargo xtask completions`

use super::Session;
use crate::cli::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde_json::json;

/// Print completions for a shell
///
/// They complete `xtask` (an alias of `cargo xtask`) and, in bash, zsh and fish, `cargo xtask` itself.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Runs it.
    pub(crate) fn run(&self, session: &Session) -> anyhow::Result<()> {
        let text = script(self.shell);
        session.ui.data(&text, &json!({"shell": self.shell.to_string(), "script": text}));
        Ok(())
    }
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown(&Cli::command()), "xtask", &mut script);
    format!("{}{}", String::from_utf8_lossy(&script), after_cargo(shell))
}

/// Without the commands that nobody types.
fn shown(full: &clap::Command) -> clap::Command {
    let commands = full.get_subcommands().filter(|command| !command.is_hide_set());
    clap::Command::new("xtask").args(full.get_arguments()).subcommands(commands)
}

/// What makes the shell complete `cargo xtask` like `xtask`, and leaves the rest of cargo to whoever completes it.
fn after_cargo(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => {
            r#"
# `cargo xtask` like `xtask`; what completed cargo before goes on doing so.
_xtask_cargo_before="$(complete -p cargo 2>/dev/null | sed -n 's/.*-F \([^ ]*\) .*/\1/p')"
[[ "$_xtask_cargo_before" == _xtask_cargo ]] && _xtask_cargo_before=""
_xtask_cargo() {
    if [[ "${COMP_WORDS[1]}" == xtask && "$COMP_CWORD" -gt 1 ]]; then
        COMP_WORDS=("${COMP_WORDS[@]:1}")
        COMP_CWORD=$((COMP_CWORD - 1))
        _xtask xtask "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    elif [[ -n "$_xtask_cargo_before" ]]; then
        "$_xtask_cargo_before" "$@"
    fi
}
complete -F _xtask_cargo -o bashdefault -o default cargo
"#
        }
        // zsh's own `_cargo` looks for a function of this name.
        Shell::Zsh => "\n_cargo-xtask() { _xtask \"$@\" }\n",
        Shell::Fish => {
            "\ncomplete -c cargo -n '__fish_seen_subcommand_from xtask' -f -a '(complete -C (string join \" \" -- (commandline -opc)[2..] (commandline -ct)))'\n"
        }
        _ => "",
    }
}
