//! The examples of docs/interfaces.md.

use std::path::Path;

/// A fenced block.
pub(crate) struct Block {
    /// What stands behind the fence.
    pub(crate) language: String,
    /// Its lines.
    pub(crate) text: String,
}

/// All of them, in order.
pub(crate) fn blocks() -> Vec<Block> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/interfaces.md");
    let page = std::fs::read_to_string(page).expect("docs/interfaces.md");
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(language) if !is_open => {
                blocks.push(Block { language: language.to_owned(), text: String::new() });
                is_open = true;
            }
            Some(_) => is_open = false,
            None if is_open => {
                let text = &mut blocks.last_mut().expect("an open block").text;
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    blocks
}
