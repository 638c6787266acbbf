//! The corpus of the fuzz targets, replayed: every file, and each of its neighbours that a fuzzer tries first.

use crate::gguf::read_all;
use engine::gguf::Directory;
use engine::serve::request::Ask;
use std::path::Path;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let entries = std::fs::read_dir(&folder).expect("a corpus").map(|entry| entry.expect("an entry").path());
    let files: Vec<Vec<u8>> = entries.map(|path| std::fs::read(path).expect("a file")).collect();
    assert!(files.len() >= 5, "a corpus in {}", folder.display());
    files
}

/// Each byte replaced by what breaks parsers, and each length.
fn neighbours(file: &[u8], mut check: impl FnMut(&[u8])) {
    for at in 0..file.len().min(2048) {
        check(&file[..at]);
        for byte in [0, 1, 0x7f, 0x80, 0xff, file[at] ^ 1, file[at].wrapping_add(1)] {
            let mut changed = file.to_vec();
            changed[at] = byte;
            check(&changed);
        }
    }
}

#[test]
fn gguf_files_are_read_or_refused() {
    for file in corpus("gguf") {
        read_all(&file);
        neighbours(&file, |bytes| _ = Directory::parse(bytes));
    }
}

#[test]
fn requests_are_read_or_refused() {
    let mut accepted = 0;
    for body in corpus("http") {
        neighbours(&body, |bytes| {
            let _ = Ask::chat(bytes);
            let _ = Ask::text(bytes);
        });
        accepted += usize::from(Ask::chat(&body).is_ok() || Ask::text(&body).is_ok());
    }
    assert!(accepted >= 3, "a corpus of refused bodies alone would reach little");
}
