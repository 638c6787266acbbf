//! The main job on this very workspace: two builds in folders of different length, unpacked, checked, started.

use crate::support::{
    Released, TARGETS, release, release_name, released, schema_complaints, sha256, store, workspace_root,
};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;

/// Path and content of every member of a zip.
fn members(zip: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(zip)).expect("a zip");
    let mut members = BTreeMap::new();
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).expect("a member");
        let mut content = Vec::new();
        member.read_to_end(&mut content).expect("content");
        members.insert(member.name().expect("a name").into_owned(), content);
    }
    members
}

#[test]
fn two_folders_give_the_same_release() {
    let Released { first, second, .. } = released();
    for (target, flags) in TARGETS {
        let name = release_name(target);
        let zip = std::fs::read(first.root().join("dist").join(format!("{name}.zip"))).expect("the first");
        let other =
            std::fs::read(second.root().join("dist").join(format!("{name}.zip"))).expect("the second");
        let files = members(&zip);
        for (file, content) in &members(&other) {
            assert_eq!(sha256(content), sha256(&files[file]), "{file} of {target} depends on the folder");
        }
        assert!(zip == other, "the zips of {target} differ though their members are equal");

        let sums = std::fs::read_to_string(first.root().join("dist/SHA256SUMS")).expect("sums");
        assert!(sums.contains(&format!("{}  {name}.zip", sha256(&zip))));
        let objects: Vec<&String> = files.keys().filter(|file| file.ends_with(".co")).collect();
        assert!(objects.len() >= 3, "{objects:?}");
        for object in objects {
            assert_eq!(files[object][48], flags, "e_flags of {object}");
            assert!(object.starts_with(&format!("{name}/kernels/{target}/")), "{object}");
        }
        no_path_of_this_machine(&files, &[first.root(), second.root(), store(), &workspace_root()]);
    }
}

#[test]
fn the_second_release_compiles_nothing() {
    let first = &released().first;
    let again = release(first);
    for component in ["engine", "aiter-kernels"] {
        for (target, _) in TARGETS {
            let line = format!("current {component} {target}, nothing to do");
            assert!(again.stderr.contains(&line), "{line}\n{}", again.stderr);
        }
    }
}

#[test]
fn an_ide_gets_the_sources_of_both_components() {
    let commands =
        std::fs::read_to_string(released().first.path("compile_commands.json")).expect("for clangd");
    let commands: serde_json::Value = serde_json::from_str(&commands).expect("JSON");
    let files = commands.as_array().expect("commands").iter().filter_map(|command| command["file"].as_str());
    let files: Vec<&str> = files.collect();
    for source in ["engine/native/matrix.hip", "aiter-kernels/native/norm/norm.hip"] {
        assert!(files.iter().any(|file| file.ends_with(source)), "{source} is not among {files:?}");
    }
}

fn no_path_of_this_machine(files: &BTreeMap<String, Vec<u8>>, paths: &[&Path]) {
    let home = std::env::var("HOME").expect("HOME");
    let cargo = format!("{home}/.cargo");
    for (file, content) in files {
        let needles = paths.iter().map(|path| path.display().to_string()).chain([cargo.clone()]);
        for needle in needles {
            let found = content.windows(needle.len()).any(|window| window == needle.as_bytes());
            assert!(!found, "{file} holds the path {needle}");
        }
    }
}

#[test]
fn what_is_unpacked_is_verified_and_starts() {
    let Released { first, unpacked, .. } = released();
    for (target, folder) in unpacked {
        let summed =
            Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder).status();
        assert!(summed.expect("sha256sum").success());
        first.run(&["verify", &folder.display().to_string()]).exits(0);
        let zip = first.root().join("dist").join(format!("{}.zip", release_name(target)));
        first.run(&["verify", &zip.display().to_string()]).exits(0);

        assert_eq!(schema_complaints(folder), "");
        let sbom = std::fs::read_to_string(folder.join("sbom.cdx.json")).expect("the SBOM");
        for part in ["pkg:cargo/clap@", "pkg:generic/composable-kernel@", "pkg:generic/llvm@"] {
            assert!(sbom.contains(part), "{part}");
        }

        let licences = std::fs::read_to_string(folder.join("licenses/rust-crates.txt")).expect("licences");
        assert!(
            licences.contains("clap 4.") && licences.contains("Permission is hereby granted"),
            "{licences}"
        );

        let device = folder.join("strata-device");
        let output =
            Command::new(&device).arg("--selftest").env_clear().output().expect("strata-device starts");
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match output.status.code() {
            Some(0) => assert!(text.contains("strata-device selftest OK"), "{text}"),
            // No HIP runtime: the checks without a GPU have passed, and the rest is said to be skipped.
            Some(6) => assert!(text.contains("skipped"), "{text}"),
            _ => panic!("{text}"),
        }
    }
}

#[test]
fn one_changed_byte_is_named() {
    let Released { first, unpacked, .. } = released();
    let copy = first.path("target/changed");
    if copy.exists() {
        std::fs::remove_dir_all(&copy).expect("remove");
    }
    let copied = Command::new("cp").arg("-r").arg(&unpacked[0].1).arg(&copy).status();
    assert!(copied.expect("cp").success());
    let changed = copy.join("README.txt");
    let mut content = std::fs::read(&changed).expect("README.txt");
    content[0] ^= 1;
    std::fs::write(&changed, content).expect("write");
    let run = first.run(&["verify", "target/changed"]).exits(3);
    assert!(run.stderr.contains("changed  README.txt"), "{}", run.stderr);
}
