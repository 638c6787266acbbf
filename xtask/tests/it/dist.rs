//! Releases of a small workspace with ROCm libraries: what is in them, and what stops them.

use crate::support::{
    HOST, artifact, device, dist, library, names, program, rocm_world, schema_complaints, sha256,
};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const BOTH: [&str; 2] = ["--targets", "gfx1100,gfx1201"];

fn unzip(zip: &Path, to: &Path) {
    let script = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";
    assert!(
        Command::new("python3").args(["-c", script]).arg(zip).arg(to).status().expect("python3").success()
    );
}

fn listed(folder: &Path) -> String {
    let output = Command::new("find").args([".", "-type", "f"]).current_dir(folder).output().expect("find");
    let text = String::from_utf8(output.stdout).expect("names");
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("reads")).expect("JSON")
}

#[test]
fn a_linux_release_with_rocm_is_whole_and_says_where_everything_is_from() {
    let world = rocm_world();
    let run = dist(&world, &[&BOTH[..], &["--tar", "-v"]].concat()).exits(0);
    assert!(
        run.stderr.contains("lib/rocblas/library: 1 files taken, 1 for other targets, 0 of"),
        "{}",
        run.stderr
    );
    let name = format!("strata-0.1.0-{HOST}-gfx1201");
    let out = world.path("unpacked");
    unzip(&world.path(&format!("dist/{name}.zip")), &out);
    let folder = out.join(&name);
    insta::assert_snapshot!(listed(&folder));

    // The soname is a file, not a link, with the content that the link led to.
    let hip = folder.join("rocm/lib/libamdhip64.so.7");
    assert!(std::fs::symlink_metadata(&hip).expect("there").is_file());
    let manifest = json(&folder.join("MANIFEST.json"));
    let files = manifest["files"].as_array().expect("files");
    let entry = files.iter().find(|file| file["path"] == "rocm/lib/libamdhip64.so.7").expect("listed");
    assert_eq!(entry["sha256"], sha256(&std::fs::read(&hip).expect("reads")));
    assert_eq!(entry["origin"], "dist 10.0.0");
    // Everything but the list itself and the sums is in it.
    assert_eq!(files.len() + 2, listed(&folder).lines().count());

    let notice = std::fs::read_to_string(folder.join("NOTICE.txt")).expect("NOTICE");
    for library in ["libamdhip64.so.7", "librocblas.so.5", "libamd_comgr.so.3", "librocm_sysdeps_z.so.1"] {
        assert!(
            notice.contains(&format!("/{library}\n  from     dist 10.0.0\n  licence  ")),
            "{library}:\n{notice}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(folder.join("licenses/dist/LICENSE.md")).expect("a licence"),
        "the licence of rocBLAS"
    );
    let readme = std::fs::read_to_string(folder.join("README.txt")).expect("README");
    assert!(readme.contains("ROCm's libraries are in this folder"), "{readme}");

    // Beside the zips: tar.zst with the same files, SBOMs, provenance, and the hashes of all of them.
    let beside = names(&world.path("dist"));
    for ending in [".zip", ".tar.zst", ".sbom.spdx.json", ".sbom.cdx.json"] {
        assert!(beside.contains(&format!("{name}{ending}")), "{beside:?}");
    }
    let summed = Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(world.path("dist"))
        .status();
    assert!(summed.expect("sha256sum").success());
    let provenance = json(&world.path("dist/provenance.intoto.json"));
    assert_eq!(provenance["_type"], "https://in-toto.io/Statement/v1");
    assert_eq!(provenance["predicateType"], "https://slsa.dev/provenance/v1");
    let zip = std::fs::read(world.path(&format!("dist/{name}.zip"))).expect("reads");
    let subjects = provenance["subject"].as_array().expect("subjects");
    assert_eq!(subjects.len(), 4, "two zips and two tar.zst");
    assert!(subjects.iter().any(|subject| subject["digest"]["sha256"] == sha256(&zip)));
    let inputs = provenance["predicate"]["buildDefinition"]["resolvedDependencies"].to_string();
    for input in ["toolchains.lock", "toolchain t", "dist 10.0.0", "engine: native sources"] {
        assert!(inputs.contains(input), "{input}: {inputs}");
    }
    for file in [format!("dist/{name}.zip"), format!("dist/{name}.tar.zst")] {
        world.run(&["verify", &file]).exits(0);
    }
    // The same again is the same to the last byte.
    dist(&world, &BOTH).exits(0);
    assert!(std::fs::read(world.path(&format!("dist/{name}.zip"))).expect("reads") == zip);
}

#[test]
fn sboms_fit_the_published_schemas_and_name_every_file_crate_and_package() {
    let world = rocm_world();
    // A crate with an old licence expression and a version that needs escaping.
    world.write("dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"1.0.0+z.1\"\nedition = \"2024\"\nlicense = \"MIT/Apache-2.0\"\n");
    world.write("dep/src/lib.rs", "");
    let toml = std::fs::read_to_string(world.path("engine/Cargo.toml")).expect("reads");
    world.write("engine/Cargo.toml", &format!("{toml}\n[dependencies]\ndep = {{ path = \"../dep\" }}\n"));
    world.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"dep\"\nversion = \"1.0.0+z.1\"\n\n[[package]]\nname = \"engine\"\nversion = \"0.1.0\"\ndependencies = [\n \"dep\",\n]\n",
    );
    dist(&world, &ONE).exits(0);
    let name = format!("strata-0.1.0-{HOST}-gfx1201");
    unzip(&world.path(&format!("dist/{name}.zip")), &world.path("unpacked"));
    let folder = world.path("unpacked").join(&name);
    assert_eq!(schema_complaints(&folder), "");
    let (spdx, cyclonedx) = (json(&folder.join("sbom.spdx.json")), json(&folder.join("sbom.cdx.json")));
    // Both are about the same content, and another content has another number.
    let number = cyclonedx["serialNumber"].as_str().expect("a number");
    assert_eq!(spdx["documentNamespace"], number);
    assert_eq!(spdx["creationInfo"]["created"], "2023-11-14T22:13:20Z");
    let hip = cyclonedx["components"].as_array().expect("components").iter();
    let hip = hip.filter(|component| component["name"] == "rocm/lib/libamdhip64.so.7").collect::<Vec<_>>();
    assert_eq!((hip.len(), &hip[0]["version"]), (1, &Value::from("10.0.0")));
    let (spdx, cyclonedx) = (spdx.to_string(), cyclonedx.to_string());
    for text in [
        "pkg:cargo/dep@1.0.0%2Bz.1",
        "MIT OR Apache-2.0",
        "pkg:generic/dist@10.0.0",
        "librocblas.so.5",
        "strata-device",
    ] {
        assert!(spdx.contains(text) && cyclonedx.contains(text), "{text}");
    }
    artifact(
        world.root(),
        "gfx1201",
        &[("strata-device", device(), true), ("more.txt", b"more", false)],
        |_| {},
    );
    dist(&world, &ONE).exits(0);
    let other = json(&world.path(&format!("dist/{name}.sbom.cdx.json")));
    assert_ne!(other["serialNumber"], number);

    // The check can fail.
    let broken = std::fs::read_to_string(folder.join("sbom.cdx.json"))
        .expect("reads")
        .replace("\"library\"", "\"dll\"");
    std::fs::write(folder.join("sbom.cdx.json"), broken).expect("write");
    assert!(schema_complaints(&folder).contains("'dll' is not one of"));
}

#[test]
fn a_dry_run_lists_and_writes_nothing() {
    let world = rocm_world();
    let run = dist(&world, &["--targets", "gfx1201", "--dry-run"]).exits(0);
    assert!(run.stdout.starts_with(&format!("strata-0.1.0-{HOST}-gfx1201: 22 files, ")), "{}", run.stdout);
    assert!(
        run.stdout
            .lines()
            .any(|line| line.contains("rocm/lib/librocblas.so.5") && line.ends_with("dist 10.0.0"))
    );
    assert!(!world.path("dist").exists());
}

#[test]
fn one_release_for_several_targets() {
    let world = rocm_world();
    dist(&world, &[&BOTH[..], &["--bundle"]].concat()).exits(0);
    let name = format!("strata-0.1.0-{HOST}-bundle");
    assert!(names(&world.path("dist")).contains(&format!("{name}.zip")));
    unzip(&world.path(&format!("dist/{name}.zip")), &world.path("unpacked"));
    let files = listed(&world.path("unpacked").join(name));
    for target in ["gfx1100", "gfx1201"] {
        assert!(files.contains(&format!("./kernels/{target}/engine/k.co")), "{files}");
        assert!(files.contains(&format!("./rocm/lib/rocblas/library/TensileLibrary_{target}.co")), "{files}");
        let of_blas_lt = format!("./rocm/lib/hipblaslt/library/{target}/TensileLibrary_{target}.co");
        assert!(files.contains(&of_blas_lt), "{files}");
    }
}

/// Spoils a good workspace, and wants this exit code, words of the message, and no zip.
#[track_caller]
fn stops(arguments: &[&str], code: i32, words: &[&str], spoil: impl FnOnce(&Path)) {
    let world = rocm_world();
    spoil(world.root());
    let run = dist(&world, arguments).exits(code);
    for word in words {
        assert!(run.stderr.contains(word), "expected `{word}` in\n{}", run.stderr);
    }
    assert_eq!(names(&world.path("dist")), Vec::<String>::new(), "something was left");
}

const ONE: [&str; 2] = ["--targets", "gfx1201"];

#[test]
fn a_kernel_library_that_is_missing_for_a_target() {
    // The lock knows both targets; a dist whose rocBLAS has no file for one is found out.
    stops(
        &ONE,
        1,
        &[
            "rocBLAS has no kernels for gfx1201 in `lib/rocblas/library`, only for gfx1100",
            "hint: no zip was written",
        ],
        |root| {
            let entry =
                names(&root.join("store")).into_iter().find(|name| name.len() == 16).expect("an entry");
            let manifest = root.join("store").join(entry).join("manifest.json");
            let mut value = json(&manifest);
            let entries = value["entries"].as_array_mut().expect("entries");
            entries.retain(|entry| entry["path"] != "lib/rocblas/library/TensileLibrary_gfx1201.co");
            let _ = std::fs::remove_file(&manifest);
            std::fs::write(&manifest, value.to_string()).expect("write");
        },
    );
}

#[test]
fn an_artifact_that_changed_since_its_build_json() {
    stops(&ONE, 3, &["strata-device` is not what BUILD.json says: expected"], |root| {
        let path = root.join(format!("artifacts/0.1.0/{HOST}/engine/gfx1201/strata-device"));
        let mut bytes = std::fs::read(&path).expect("reads");
        bytes[100] ^= 1;
        std::fs::write(&path, bytes).expect("write");
    });
}

#[test]
fn artifacts_of_different_versions_locks_sources_or_compilers() {
    type Spoil = fn(&mut Value);
    let spoilt: [(&str, Spoil); 5] = [
        ("version", |manifest| manifest["version"] = "0.2.0".into()),
        ("lock", |manifest| manifest["lock"] = sha256(b"other").into()),
        ("sources", |manifest| manifest["inputs"]["native sources"] = sha256(b"other").into()),
        ("compiler", |manifest| manifest["compiler"] = "clang 24".into()),
        ("toolchain", |manifest| manifest["toolchain"]["digest"] = sha256(b"other").into()),
    ];
    for (what, spoil) in spoilt {
        let words = format!(
            "engine for gfx1100 ({HOST}) and engine for gfx1201 ({HOST}) were not built with the same {what}"
        );
        stops(&[&BOTH[..], &["--bundle"]].concat(), 3, &[&words], |root| {
            artifact(root, "gfx1201", &[("strata-device", device(), true)], spoil);
        });
    }
}

#[test]
fn a_library_that_imports_something_new() {
    let words = [
        "`libbrandnew.so.1` is missing: libown.so -> libbrandnew.so.1",
        "looked for in: outputs `.`",
        "provided by: unknown",
        "no zip was written",
    ];
    stops(&ONE, 1, &words, |root| {
        let new = library("libown.so", "$ORIGIN", &["libbrandnew.so.1", "libc.so.6"]);
        artifact(root, "gfx1201", &[("strata-device", device(), true), ("libown.so", &new, false)], |_| {});
    });
}

#[test]
fn a_program_that_would_not_find_its_runtime_in_the_release() {
    // The release is whole, and the program looks elsewhere: found when it is checked unpacked.
    stops(
        &ONE,
        1,
        &[
            "`libamdhip64.so.7` is missing: strata-device -> libamdhip64.so.7 (loaded at run time)",
            "release `lib`",
        ],
        |root| {
            let lost = program("$ORIGIN/lib", 6);
            artifact(root, "gfx1201", &[("strata-device", &lost, true)], |_| {});
        },
    );
}

#[test]
fn a_program_that_does_not_start() {
    stops(&ONE, 1, &["`strata-device --selftest` of the unpacked release failed (exit status: 3)"], |root| {
        let broken = program("$ORIGIN/rocm/lib", 3);
        artifact(root, "gfx1201", &[("strata-device", &broken, true)], |_| {});
    });
}

#[test]
fn a_name_over_255_bytes() {
    let long = format!("{}.txt", "ü".repeat(130));
    stops(&ONE, 1, &[&format!("`{long}` has a name of more than 255 bytes")], |root| {
        artifact(root, "gfx1201", &[("strata-device", device(), true), (&long, b"", false)], |_| {});
    });
}

#[test]
fn what_was_built_elsewhere_is_merged_when_it_agrees() {
    let (world, other) = (rocm_world(), tempfile::tempdir().expect("temp"));
    // One target here, one from another machine: artifacts as a CI service hands them over.
    std::fs::remove_dir_all(world.path(&format!("artifacts/0.1.0/{HOST}/engine/gfx1201"))).expect("remove");
    artifact(other.path(), "gfx1201", &[("strata-device", device(), true)], |_| {});
    let (own, from) = (world.path("artifacts").display().to_string(), other.path().display().to_string());
    dist(&world, &["--merge", &own, &from]).exits(0);
    let zips: Vec<String> =
        names(&world.path("dist")).into_iter().filter(|name| name.ends_with(".zip")).collect();
    assert_eq!(zips, ["gfx1100", "gfx1201"].map(|target| format!("strata-0.1.0-{HOST}-{target}.zip")));

    // A zip that was packed elsewhere is taken over as it is.
    let zip = std::fs::read(world.path("dist").join(&zips[0])).expect("reads");
    let packed = other.path().join("packed");
    std::fs::create_dir(&packed).expect("folder");
    std::fs::write(packed.join(&zips[0]), &zip).expect("write");
    std::fs::remove_dir_all(world.path("dist")).expect("remove");
    dist(&world, &["--merge", &packed.display().to_string()]).exits(0);
    assert!(std::fs::read(world.path("dist").join(&zips[0])).expect("named") == zip);
    assert_eq!(
        json(&world.path("dist/provenance.intoto.json"))["subject"][0]["digest"]["sha256"],
        sha256(&zip)
    );

    // What does not agree, was changed on the way, or is nothing, is refused by name.
    std::fs::remove_dir_all(world.path("dist")).expect("remove");
    let refused = |code: i32, words: &str| {
        let run = dist(&world, &["--merge", &own, &from]).exits(code);
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert_eq!(names(&world.path("dist")), Vec::<String>::new());
    };
    std::fs::remove_dir_all(&packed).expect("remove");
    artifact(other.path(), "gfx1201", &[("strata-device", device(), true)], |m| {
        m["lock"] = sha256(b"other").into();
    });
    refused(3, "were not built with the same lock");
    let kernel =
        other.path().join(format!("artifacts/0.1.0/{HOST}/engine/gfx1201/kernels/gfx1201/engine/k.co"));
    std::fs::write(kernel, b"GFX1201").expect("write");
    refused(3, "changed  kernels/gfx1201/engine/k.co");
    std::fs::remove_dir_all(other.path().join("artifacts")).expect("remove");
    let windows = |m: &mut Value| m["host"] = "x86_64-pc-windows-msvc".into();
    artifact(other.path(), "gfx1201", &[("strata-device.exe", b"MZ", true)], windows);
    refused(2, "is for x86_64-pc-windows-msvc, whose releases are packed there");
    std::fs::remove_dir_all(other.path().join("artifacts")).expect("remove");
    refused(2, "holds neither artifacts (BUILD.json) nor releases");
}

#[test]
fn an_artifact_from_elsewhere_decides_no_place_outside_the_artifacts() {
    let (world, other) = (rocm_world(), tempfile::tempdir().expect("temp"));
    let outside = world.path("x");
    // What would be replaced if the words of the BUILD.json were believed.
    let victims = [
        format!("x/{HOST}/engine/gfx1201/keep"),
        "artifacts/0.1.0/x/gfx1201/keep".into(),
        format!("artifacts/0.1.0/{HOST}/x/keep"),
    ];
    victims.iter().for_each(|victim| world.write(victim, "kept"));
    for (field, value) in [
        ("version", outside.display().to_string()),
        ("version", "../x".into()),
        ("version", "0.1.1".into()),
        ("host", "../../x".into()),
        ("component", "../x".into()),
        ("component", "another".into()),
        ("target", "../x".into()),
        ("target", "gfx1".into()),
    ] {
        let _ = std::fs::remove_dir_all(other.path().join("artifacts"));
        artifact(other.path(), "gfx1201", &[("strata-device", device(), true)], |m| {
            m[field] = value.clone().into();
        });
        let files = || {
            listed(world.root())
                .lines()
                .filter(|l| !l.starts_with("./target/"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let before = files();
        let run = dist(&world, &["--merge", &other.path().display().to_string()]).exits(3);
        let words =
            format!("is of the {field} `{}`", value.replace(&world.root().display().to_string(), "[ROOT]"));
        assert!(run.stderr.contains(&words), "{}", run.stderr);
        assert_eq!(files(), before, "nothing is touched");
    }
}

#[test]
fn a_git_that_does_not_answer_and_a_time_that_is_none_stop_a_release() {
    use std::os::unix::fs::PermissionsExt;
    let world = rocm_world();
    world.write("bin/git", "#!/bin/sh\necho \"fatal: detected dubious ownership\" >&2\nexit 128\n");
    std::fs::set_permissions(world.path("bin/git"), std::fs::Permissions::from_mode(0o755)).expect("chmod");
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").expect("PATH"));
    let run = |epoch: &str| {
        let mut command = world.command(&["dist", "--toolchain", "t", "--targets", "gfx1201"]);
        world.ended(command.env("PATH", &path).env("SOURCE_DATE_EPOCH", epoch).output().expect("xtask"))
    };
    let refused = run("yesterday").exits(2);
    assert!(refused.stderr.contains("SOURCE_DATE_EPOCH=`yesterday` is no time"), "{}", refused.stderr);
    // Without a repository there is nothing to ask about, and without a commit nothing to say.
    run("").exits(0);
    std::fs::remove_dir_all(world.path("dist")).expect("remove");
    world.write(".git/HEAD", "");
    let refused = run("").exits(6);
    assert!(refused.stderr.contains("fatal: detected dubious ownership"), "{}", refused.stderr);
    let hint = "git config --global --add safe.directory \"[ROOT]\"";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    assert!(!world.path("dist").exists(), "before anything is packed");
    run("1700000000").exits(6);
    assert!(!world.path("dist").exists(), "whoever says the time");
    world.write("bin/git", "#!/bin/sh\necho \"fatal: not a git repository\" >&2\nexit 128\n");
    let refused = run("").exits(6);
    assert!(refused.stderr.contains("hint: see what git says of the folder: git -C \"[ROOT]\" status"));
    world.write("bin/git", "#!/bin/sh\n[ $1 = status ]\n");
    run("").exits(0);
    let provenance = std::fs::read_to_string(world.path("dist/provenance.intoto.json")).expect("provenance");
    assert!(!provenance.contains("gitCommit"), "no commit: {provenance}");
}

#[test]
fn provenance_is_about_wheels_too() {
    let world = rocm_world();
    let files = [("strata-device", &device()[..], true), ("python/engine/__init__.py", b"x = 1\n", false)];
    artifact(world.root(), "gfx1201", &files, |_| {});
    dist(&world, &ONE).exits(0);
    let wheel = names(&world.path("dist")).into_iter().find(|name| name.ends_with(".whl")).expect("a wheel");
    let bytes = std::fs::read(world.path("dist").join(&wheel)).expect("reads");
    let provenance = json(&world.path("dist/provenance.intoto.json"));
    let mut subjects = provenance["subject"].as_array().expect("subjects").iter();
    let subject = subjects.find(|subject| subject["name"] == wheel.as_str()).expect("the wheel");
    assert_eq!(subject["digest"]["sha256"], sha256(&bytes));
}

#[test]
fn the_matrix_for_a_ci_service() {
    let world = rocm_world();
    let run = world.run(&["build", "--toolchain", "t", "--targets", "all", "--plan", "json"]).exits(0);
    assert_eq!(run.stdout.lines().count(), 1);
    let matrix: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(matrix["include"][1]["target"], "gfx1201");
    assert_eq!(matrix["include"][1]["components"][0], "engine");
    assert_eq!(matrix["include"].as_array().expect("entries").len(), 2);
}

#[test]
fn the_release_workflow_pins_its_actions_and_gives_secrets_to_the_merge_alone() {
    let path = crate::support::workspace_root().join(".github/workflows/release.yml");
    let text = std::fs::read_to_string(path).expect("the workflow");
    for line in text.lines().filter(|line| line.contains("uses: ")) {
        let pin = line.split_once('@').expect("a pin").1.split(' ').next().expect("a commit");
        assert!(pin.len() == 40 && pin.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
    }
    let (before, merge) = text.split_once("\n  merge:\n").expect("a merge job");
    assert!(!before.contains("secrets.") && !before.contains(": write"), "a build job may too much");
    assert!(merge.contains("secrets.STRATA_MINISIGN_KEY") && merge.contains("attest-build-provenance@"));
}
