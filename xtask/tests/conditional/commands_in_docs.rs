//! The commands that a reader of the README and the docs is told to type: the lines of every block of `sh`.

use crate::support::workspace_root;

/// One line of a block.
pub(crate) struct DocCommand {
    /// `docs/ci.md:47`
    pub(crate) place: String,
    pub(crate) command: String,
}

/// All of them, in the order of the pages' names.
pub(crate) fn commands_in_docs() -> Vec<DocCommand> {
    let root = workspace_root();
    let mut pages = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    let docs = std::fs::read_dir(root.join("docs")).expect("docs").flatten();
    pages.extend(docs.map(|entry| format!("docs/{}", entry.file_name().to_string_lossy())));
    pages.retain(|page| page.ends_with(".md"));
    pages.sort();
    let mut commands = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(root.join(&page)).expect("a page");
        let mut is_block = false;
        // Of a command that goes on: where it begins, and what it is so far.
        let mut begun: Option<DocCommand> = None;
        for (number, line) in text.lines().enumerate() {
            // A block may stand in a list.
            if line.trim_start().starts_with("```") {
                is_block = !is_block && line.trim_start() == "```sh";
            } else if is_block && !line.trim().is_empty() {
                let place = format!("{page}:{}", number + 1);
                let mut command = begun.take().unwrap_or(DocCommand { place, command: String::new() });
                let (part, goes_on) =
                    line.trim().strip_suffix('\\').map_or((line.trim(), false), |part| (part, true));
                command.command += part;
                match goes_on {
                    true => begun = Some(command),
                    false => commands.push(command),
                }
            }
        }
    }
    commands
}
