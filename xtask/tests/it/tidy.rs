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
        let is_source = [".rs", ".hip", ".h", ".py", ".cmake"].iter().any(|ending| name.ends_with(ending));
        let lines = if is_source { text(&name).lines().count() } else { 0 };
        assert!(lines <= 600, "{name} has {lines} lines: one idea a file");
    }
}

#[test]
fn no_module_imports_a_command() {
    for name in project_files() {
        let is_module = name.starts_with("xtask/src/")
            && !name.starts_with("xtask/src/commands/")
            // Exit codes are given to the errors of commands too, and the command line names its commands.
            && !["xtask/src/main.rs", "xtask/src/cli.rs", "xtask/src/ui/failure.rs"].contains(&name.as_str());
        assert!(!is_module || !text(&name).contains("crate::commands"), "{name} imports a command");
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
    for page in ["docs/verification.md", "docs/troubleshooting.md"] {
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
        }
    }
}
