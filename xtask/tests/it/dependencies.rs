//! What cargo-deny and cargo-machete look for, as far as it can be known without them: licences, sources, crates that nobody uses.

use crate::support::workspace_root;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn metadata() -> Value {
    let output = Command::new("cargo")
        .args(["metadata", "--locked", "--format-version", "1"])
        .current_dir(workspace_root())
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Whether an SPDX expression can be met with what is allowed. No crate of ours nests parentheses.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ");
    let is_one = |name: &str| allowed.contains(&name.trim().trim_matches(['(', ')']));
    // `(A OR B) AND C`: every part has one that is allowed; `A AND B OR C`: one alternative has all.
    match expression.contains('(') {
        true => expression.split(" AND ").all(|part| part.split(" OR ").any(is_one)),
        false => expression.split(" OR ").any(|part| part.split(" AND ").all(is_one)),
    }
}

#[test]
fn licences_are_those_that_deny_toml_allows() {
    let settings = std::fs::read_to_string(workspace_root().join("deny.toml")).expect("deny.toml");
    let settings: toml::Table = settings.parse().expect("TOML");
    let list = |value: &toml::Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|v| v.as_str().map(str::to_owned)).collect()
    };
    let allowed = list(&settings["licenses"]["allow"]);
    let exceptions = settings["licenses"]["exceptions"].as_array().expect("exceptions");
    for package in metadata()["packages"].as_array().expect("packages") {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        let own = exceptions.iter().filter(|exception| exception["name"].as_str() == Some(name));
        let own: Vec<String> = own.flat_map(|exception| list(&exception["allow"])).collect();
        let allowed: Vec<&str> = allowed.iter().chain(&own).map(String::as_str).collect();
        assert!(is_allowed(licence, &allowed), "{name} has the licence `{licence}`");
    }
    assert!(is_allowed("(MIT OR X) AND ISC", &["MIT", "ISC"]) && !is_allowed("(MIT OR X) AND Y", &["MIT"]));
    assert!(is_allowed("X OR MIT", &["MIT"]) && !is_allowed("X AND MIT", &["MIT"]));
}

#[test]
fn every_crate_comes_from_the_registry_or_from_here() {
    let lock = std::fs::read_to_string(workspace_root().join("Cargo.lock")).expect("Cargo.lock");
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    assert!(sources.clone().count() > 100);
    for source in sources {
        assert!(source.starts_with("\"registry+"), "{source}");
    }
}

/// Named so that cargo builds them: libraries that tests load by their paths.
const LOADED: [&str; 2] = ["simulated_hip", "simulated_hipblaslt"];

#[test]
fn no_crate_is_named_that_nobody_uses() {
    let is_member = |package: &&Value| package["source"].is_null();
    for package in metadata()["packages"].as_array().expect("packages").iter().filter(is_member) {
        let folder = Path::new(text(package, "manifest_path")).parent().expect("a folder");
        let sources = sources_below(folder);
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["rename"].as_str().unwrap_or(text(dependency, "name")).replace('-', "_");
            let is_used = sources.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            let is_used = is_used || LOADED.contains(&name.as_str());
            assert!(is_used, "{}: nobody uses {name}", text(package, "name"));
        }
    }
}

/// The Rust sources of a package, one after another.
fn sources_below(folder: &Path) -> String {
    let mut sources = String::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        // The build's own folders lie beside the workspace's Cargo.toml, which is no package.
        if path.is_dir() && !path.ends_with("target") {
            sources += &sources_below(&path);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            sources += &std::fs::read_to_string(&path).unwrap_or_default();
        }
    }
    sources
}
