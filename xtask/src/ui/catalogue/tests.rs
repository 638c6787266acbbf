//! The catalogue is whole, and docs/errors.md is what it says.

use super::{BUG, CHAPTERS, HELD, all, samples};
use crate::ui::Failure;
use crate::ui::failure::render;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// No process can be made to meet them here: a file that Windows holds, and a panic (which has a test of its own).
const WITHOUT_SAMPLE: [&str; 2] = [HELD.code, BUG.code];

#[test]
fn a_code_is_given_once() {
    let codes: Vec<&str> = all().map(|entry| entry.code).collect();
    let unique: BTreeSet<&str> = codes.iter().copied().collect();
    assert_eq!(codes.len(), unique.len(), "{codes:?}");
}

#[test]
fn every_code_has_an_error_and_every_error_a_code() {
    let shown: BTreeSet<&str> = samples::all().iter().map(|error| Failure::of(error).code).collect();
    let known: BTreeSet<&str> = all().map(|entry| entry.code).collect();
    let missing: Vec<&&str> =
        known.difference(&shown).filter(|code| !WITHOUT_SAMPLE.contains(code)).collect();
    assert!(missing.is_empty(), "without a sample: {missing:?}");
    assert!(shown.is_subset(&known));
}

#[test]
fn every_error_as_a_person_reads_it() {
    let texts: Vec<String> =
        samples::all().iter().map(|error| render(error, &Failure::of(error), false)).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn the_page_of_errors_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/errors.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).expect("docs/errors.md can be written");
    }
    let written = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(written == page, "docs/errors.md is old: UPDATE_DOCS=1 cargo test -p xtask the_page_of_errors");
}

fn page() -> String {
    let mut examples: BTreeMap<&str, String> = BTreeMap::new();
    for error in samples::all() {
        let first = error.to_string().lines().next().unwrap_or_default().to_owned();
        examples.entry(Failure::of(&error).code).or_insert(first);
    }
    let mut text = "# Errors

Every error has a code, which never gets another meaning: `error[F08]: …`. `cargo xtask doctor --explain F08` says what is here.
This page is written from the code (`UPDATE_DOCS=1 cargo test -p xtask the_page_of_errors`); a test compares them.
"
    .to_owned();
    for (chapter, groups) in CHAPTERS {
        let _ = write!(text, "\n## {chapter}\n");
        for entry in groups.iter().copied().flatten() {
            let super::Explanation { code, exit, meaning, cause, mend } = entry;
            let _ = write!(text, "\n### {code}\n\n{meaning}\n\n");
            if let Some(example) = examples.get(code) {
                let _ = writeln!(text, "- reads like: `` {example} ``");
            }
            let exit = format!("{} ({})", *exit as i32, exit.words());
            let (cause, mend) = (markdown(cause), markdown(mend));
            let _ = write!(text, "- cause: {cause}\n- mend: {mend}\n- exit code: {exit}\n");
        }
    }
    text
}

/// A placeholder like <name> is no tag of HTML, and a backslash is one; between backquotes they are so anyway.
fn markdown(words: &str) -> String {
    let escape = |(at, part): (usize, &str)| match at % 2 {
        0 => part.replace('\\', r"\\").replace('<', r"\<"),
        _ => part.to_owned(),
    };
    words.split('`').enumerate().map(escape).collect::<Vec<_>>().join("`")
}
