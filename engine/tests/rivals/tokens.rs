//! Tokens of multilingual text, against Hugging Face's tokenizers, and back.

use crate::python::{TOKENIZERS, output, script};
use engine::gguf::Gguf;
use engine::tokenizer::Tokenizer;
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
struct Rival {
    name: String,
    texts: Vec<String>,
    ids: Vec<Vec<u32>>,
}

/// Every text has the same tokens, and they are the text again.
pub(crate) fn agree() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tokens");
    std::fs::create_dir_all(&folder).expect("a folder");
    let text = output(script(&TOKENIZERS, "tokens.py").arg(&folder));
    let rivals: Vec<Rival> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(rivals.len(), 4);
    for rival in rivals {
        let gguf = Gguf::open(&folder.join(format!("{}.gguf", rival.name))).expect("a file");
        let tokenizer = Tokenizer::new(&gguf).expect("a tokenizer");
        for (text, ids) in rival.texts.iter().zip(&rival.ids) {
            let ours = tokenizer.encode_with_control(text);
            assert_eq!(&ours, ids, "{}: {text:?}", rival.name);
            let as_text = tokenizer.encode(text);
            assert_eq!(&tokenizer.decode(&as_text), text, "{}: there and back", rival.name);
        }
        println!("{}: {} texts the same", rival.name, rival.texts.len());
    }
}
