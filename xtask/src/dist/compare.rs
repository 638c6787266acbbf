//! What differs between two builds, said so that somebody can find out why: file, section, place, and the first bytes of both.

use object::{Object, ObjectSection};
use std::collections::{BTreeMap, BTreeSet};

/// As many bytes of each are shown.
const SHOWN: usize = 16;

/// Compares two sets of files, by path. One line and more for each difference.
pub(super) fn compare(first: &BTreeMap<String, Vec<u8>>, second: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let paths: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    let describe = |path: &&String| match (first.get(*path), second.get(*path)) {
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) => Some(difference(path, a, b)),
        (Some(_), None) => Some(format!("{path}: only in the first")),
        _ => Some(format!("{path}: only in the second")),
    };
    paths.iter().filter_map(describe).collect()
}

fn difference(path: &str, a: &[u8], b: &[u8]) -> String {
    let at = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len().min(b.len()));
    let section = section_at(a, at as u64).map(|name| format!(", section {name}")).unwrap_or_default();
    let sizes = match a.len() == b.len() {
        true => format!("{} bytes", a.len()),
        false => format!("{} and {} bytes", a.len(), b.len()),
    };
    // A few bytes before the place often tell what it is.
    let from = at.saturating_sub(SHOWN / 4);
    format!(
        "{path}: first differs at byte {at} of {sizes}{section}\n      first   {}\n      second  {}",
        shown(a, from),
        shown(b, from)
    )
}

/// The section of a PE or ELF file that holds byte `at`.
fn section_at(bytes: &[u8], at: u64) -> Option<String> {
    let file = object::File::parse(bytes).ok()?;
    let holds = |section: &object::Section| {
        section.file_range().is_some_and(|(start, size)| (start..start + size).contains(&at))
    };
    let section = file.sections().find(holds);
    Some(
        section.map_or("headers".to_owned(), |section| section.name().unwrap_or("without a name").to_owned()),
    )
}

/// Hex and text of the bytes from `from`.
fn shown(bytes: &[u8], from: usize) -> String {
    let part = &bytes[from.min(bytes.len())..bytes.len().min(from + SHOWN)];
    let hex = part.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    let text: String = part
        .iter()
        .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { *byte as char } else { '.' })
        .collect();
    format!("{hex:<47}  {text}")
}

/// Something of the machine that must not be in any output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trace {
    /// What it is: `the workspace's path`, `the user's name`, …
    pub(super) what: &'static str,
    /// Searched for as bytes, and as UTF-16, which Windows' resources and debug records have.
    pub(super) text: String,
}

/// Names each file that holds a trace, once for each trace.
pub(super) fn find_traces(files: &BTreeMap<String, Vec<u8>>, traces: &[Trace]) -> Vec<String> {
    let mut found = Vec::new();
    for Trace { what, text } in traces {
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (narrow, wide) = (memchr::memmem::Finder::new(text), memchr::memmem::Finder::new(&utf16));
        for (path, content) in files {
            if let Some(at) = narrow.find(content).or_else(|| wide.find(content)) {
                found.push(format!("{path}: holds {what} `{text}` at byte {at}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &[u8])]) -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, bytes)| (path.to_string(), bytes.to_vec())).collect()
    }

    #[test]
    fn a_difference_names_file_place_and_bytes() {
        let first = files(&[("same", b"x"), ("a.txt", b"built in /one/dir"), ("gone", b"")]);
        let second = files(&[("same", b"x"), ("a.txt", b"built in /another"), ("new", b"")]);
        assert_eq!(
            compare(&first, &second),
            [
                "a.txt: first differs at byte 10 of 17 bytes\n      first   69 6e 20 2f 6f 6e 65 2f 64 69 72                 in /one/dir\n      second  69 6e 20 2f 61 6e 6f 74 68 65 72                 in /another",
                "gone: only in the first",
                "new: only in the second",
            ]
        );
        assert!(compare(&first, &first).is_empty());
    }

    #[test]
    fn a_place_in_a_program_has_the_section_for_a_name() {
        let own = std::fs::read(std::env::current_exe().expect("this program")).expect("reads");
        let file = object::File::parse(own.as_slice()).expect("a program");
        let (start, _) = file.section_by_name(".text").and_then(|s| s.file_range()).expect("code");
        let mut other = own.clone();
        other[start as usize + 7] ^= 1;
        let found = compare(&files(&[("p", &own)]), &files(&[("p", &other)]));
        assert!(found[0].contains(&format!("at byte {} of", start + 7)), "{found:?}");
        assert!(found[0].contains(", section .text\n"), "{found:?}");
        other = own.clone();
        other[9] ^= 1;
        assert!(compare(&files(&[("p", &own)]), &files(&[("p", &other)]))[0].contains(", section headers\n"));
    }

    #[test]
    fn traces_are_found_in_both_encodings() {
        let wide: Vec<u8> = "..C:\\work\\x".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let files = files(&[("narrow", b"a C:\\work b"), ("wide", &wide), ("none", b"C:\\wor")]);
        let trace = Trace { what: "the workspace's path", text: "C:\\work".into() };
        assert_eq!(
            find_traces(&files, &[trace]),
            [
                "narrow: holds the workspace's path `C:\\work` at byte 2",
                "wide: holds the workspace's path `C:\\work` at byte 4",
            ]
        );
    }
}
