//! Habits of the tree, checked like anything else.

use crate::support::workspace_root;
use std::process::Command;

fn project_files() -> Vec<String> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(workspace_root())
        .output()
        .expect("git lists the files");
    let root = workspace_root();
    let names = String::from_utf8(listed.stdout).expect("names");
    names.lines().filter(|name| root.join(name).is_file()).map(str::to_owned).collect()
}

fn text(name: &str) -> String {
    let bytes = std::fs::read(workspace_root().join(name)).expect(name);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn no_source_file_is_too_long() {
    for name in project_files() {
        let is_source =
            [".rs", ".hip", ".h", ".c", ".py", ".cmake", ".sh"].iter().any(|ending| name.ends_with(ending));
        let lines = if is_source { text(&name).lines().count() } else { 0 };
        assert!(lines <= 600, "{name} has {lines} lines: one idea a file");
    }
}

#[test]
fn no_module_imports_a_command() {
    for name in project_files() {
        let is_module = name.starts_with("xtask/src/")
            && !name.starts_with("xtask/src/commands/")
            // Codes and hints are given to the errors of commands too, and the command line names its commands.
            && !name.starts_with("xtask/src/ui/catalogue/")
            && !["xtask/src/main.rs", "xtask/src/cli.rs", "xtask/src/ui/failure.rs"].contains(&name.as_str());
        let text = text(&name);
        // Also as one of several: `use crate::{build, commands}`.
        let mut several = text.split("use crate::{").skip(1).filter_map(|rest| rest.split_once("};"));
        let imports =
            text.contains("crate::commands") || several.any(|(names, _)| names.contains("commands"));
        assert!(!is_module || !imports, "{name} imports a command");
    }
}

#[test]
fn no_registry_host_is_named() {
    // Put together here, so that this file does not name them either.
    let hosts = [
        ["pypi", ".org"],
        ["pythonhosted", ".org"],
        ["deb.debian", ".org"],
        ["security.debian", ".org"],
        ["crates", ".io/"],
        ["npmjs", ".org"],
    ]
    .map(|parts| parts.concat());
    for name in project_files().iter().filter(|name| *name != "Cargo.lock") {
        let text = text(name);
        for host in &hosts {
            assert!(!text.contains(host.as_str()), "{name} names {host}");
        }
    }
}

/// Names in backticks that look like those of tests, in the columns that say how something was shown.
fn test_names(text: &str) -> Vec<&str> {
    let quoted =
        text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted
        .filter(|name| name.matches('_').count() >= 3)
        .filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
        .collect()
}

#[test]
fn tests_that_the_docs_name_are_there() {
    let sources: String =
        project_files().iter().filter(|name| name.ends_with(".rs")).map(|name| text(name)).collect();
    for page in [
        "docs/verification.md",
        "docs/troubleshooting.md",
        "docs/known-troubles.md",
        "docs/upstream-trees.md",
    ] {
        for name in test_names(&text(page)) {
            let is_there =
                sources.contains(&format!("fn {name}(")) || sources.contains(&format!("\"{name}\""));
            assert!(is_there, "{page} names the test `{name}`, which nobody has");
        }
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for page in project_files().iter().filter(|name| name.ends_with(".md")) {
        let folder = workspace_root().join(page).parent().expect("a folder").to_owned();
        // What is between fences is code.
        let content: String = text(page).split("```").step_by(2).collect();
        for link in content.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap_or_default();
            let is_local = !path.is_empty() && !path.contains("://");
            assert!(!is_local || folder.join(path).exists(), "{page} links to `{link}`");
            if let (true, Some((_, heading))) = (path.ends_with(".md") && is_local, link.split_once('#')) {
                let text = std::fs::read_to_string(folder.join(path)).expect(path);
                assert!(headings(&text).contains(&heading.to_owned()), "{page} links to `{link}`");
            }
        }
    }
}

/// The names that a page's headings have as ends of links.
fn headings(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| Some(line.strip_prefix('#')?.trim_start_matches('#').trim()));
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    lines.map(|line| line.chars().filter_map(kept).collect()).collect()
}

#[test]
fn every_page_is_a_chapter_of_the_book() {
    let summary = text("docs/SUMMARY.md");
    let chapters: Vec<&str> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|name| !name.is_empty())
        .collect();
    for name in project_files() {
        let Some(page) =
            name.strip_prefix("docs/").filter(|page| page.ends_with(".md") && !page.contains('/'))
        else {
            continue;
        };
        let is_chapter = chapters.contains(&page) || page == "SUMMARY.md";
        assert!(is_chapter, "{name} is not in docs/SUMMARY.md");
    }
    let mut unique = chapters.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), chapters.len(), "a chapter is there twice");
}

#[test]
fn every_known_trouble_has_its_row() {
    let page = text("docs/known-troubles.md");
    let (dists, neighbours) = page.split_once("## Strata and its neighbours").expect("two chapters");
    let numbers = |text: &str| -> Vec<u32> {
        let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok());
        rows.collect()
    };
    assert_eq!(numbers(dists), (1..=40).collect::<Vec<_>>());
    assert_eq!(numbers(neighbours), (1..=46).collect::<Vec<_>>());
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        assert_eq!(row.replace("\\|", "").matches(" |").count(), 5, "a row of five columns: {row}");
    }
}
