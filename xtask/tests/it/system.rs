//! `--toolchain system`: an SDK of the machine, here one that is put together from the pinned compiler.

use crate::support::{Run, World, component_world, store, workspace_root};
use std::path::Path;
use std::process::Command;

/// What clang wants to find beside each other, whatever it is asked for.
fn device_libs() -> Vec<String> {
    let switches = ["daz_opt", "unsafe_math", "finite_only", "correctly_rounded_sqrt", "wavefrontsize64"];
    let both = switches.iter().flat_map(|name| [format!("oclc_{name}_on"), format!("oclc_{name}_off")]);
    let others = [
        "ocml",
        "ockl",
        "hip",
        "opencl",
        "oclc_abi_version_500",
        "oclc_abi_version_600",
        "oclc_isa_version_1100",
    ];
    others.map(str::to_owned).into_iter().chain(both).collect()
}

/// The tree of a package in the test's store that has this file.
fn tree_with(file: &str) -> std::path::PathBuf {
    let entries = std::fs::read_dir(store()).expect("store").flatten().map(|entry| entry.path().join("tree"));
    entries
        .into_iter()
        .find(|tree| tree.join(file).exists())
        .unwrap_or_else(|| panic!("no {file} in the store"))
}

/// An SDK with TheRock's layout whose programs start those of the toolchain `lite`.
fn sdk(root: &Path) {
    let llvm = tree_with("usr/lib/llvm-22/bin/clang");
    let hip = tree_with("usr/include/hip/hip_runtime.h");
    let bin = root.join("lib/llvm/bin");
    std::fs::create_dir_all(&bin).expect("folder");
    let libraries = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/llvm-22/lib"]
        .map(|folder| llvm.join(folder).display().to_string());
    for (name, program) in [("clang", "clang"), ("clang++", "clang++"), ("lld", "lld"), ("ld.lld", "ld.lld")]
    {
        let program = llvm.join("usr/lib/llvm-22/bin").join(program);
        let script =
            format!("#!/bin/sh\nLD_LIBRARY_PATH={} exec {} \"$@\"\n", libraries.join(":"), program.display());
        std::fs::write(bin.join(name), script).expect("write");
        let status = Command::new("chmod").arg("+x").arg(bin.join(name)).status().expect("chmod");
        assert!(status.success());
    }
    let link = |from: &Path, to: &str| {
        let to = root.join(to);
        std::fs::create_dir_all(to.parent().expect("parent")).expect("folder");
        std::os::unix::fs::symlink(from, to).expect("link");
    };
    link(&llvm.join("usr/lib/llvm-22/lib/clang"), "lib/llvm/lib/clang");
    link(&hip.join("usr/include/hip"), "include/hip");
    let bitcode = root.join("lib/llvm/amdgcn/bitcode");
    std::fs::create_dir_all(&bitcode).expect("folder");
    for name in device_libs() {
        let output = Command::new(bin.join("clang"))
            .args(["-x", "c", "/dev/null", "-c", "-emit-llvm", "--target=amdgcn-amd-amdhsa", "-nogpulib"])
            // As AMD's: they go with code objects of any version.
            .args(["-Xclang", "-mcode-object-version=none", "-o"])
            .arg(bitcode.join(format!("{name}.bc")))
            .output()
            .expect("clang");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    std::fs::create_dir_all(root.join(".info")).expect("folder");
    std::fs::write(root.join(".info/version"), "7.99.0\n").expect("write");
}

fn run(world: &World, arguments: &[&str], root: &Path) -> Run {
    let mut command = world.command(arguments);
    command.args(["--toolchain", "system", "--store"]).arg(store()).env("STRATA_HIP_ROOT", root);
    world.ended(command.output().expect("xtask starts"))
}

#[test]
fn an_sdk_of_the_machine_builds_and_makes_no_release() {
    let world = component_world();
    let root = world.path("sdk");
    sdk(&root);
    world.write("LICENSE", "MIT");
    let built = run(&world, &["build", "--targets", "gfx1100"], &root).exits(0);
    assert!(built.stderr.contains("7.99.0 at `[ROOT]/sdk` is not pinned"), "{}", built.stderr);
    let manifest = std::fs::read_to_string(
        world.path("artifacts/0.1.0/x86_64-unknown-linux-gnu/scale/gfx1100/BUILD.json"),
    );
    let manifest: serde_json::Value = serde_json::from_str(&manifest.expect("BUILD.json")).expect("JSON");
    let toolchain = &manifest["toolchain"];
    assert_eq!(
        (&toolchain["name"], &toolchain["pinned"], &toolchain["rocm"]),
        (&"system".into(), &false.into(), &"7.99.0".into())
    );
    let packages: Vec<&str> = toolchain["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .filter_map(|p| p["name"].as_str())
        .collect();
    assert_eq!(packages, ["cmake", "ninja", "composable-kernel"], "the rest is pinned");

    let again = run(&world, &["build", "--targets", "gfx1100"], &root).exits(0);
    assert!(again.stderr.contains("nothing to do"), "{}", again.stderr);
    // Updated in place, where nothing of its older files is newer: what was compiled with the old one is not taken for the new one's.
    std::fs::write(root.join("lib/llvm/amdgcn/bitcode/oclc_isa_version_1101.bc"), "x").expect("write");
    let work = "target/xtask/x86_64-unknown-linux-gnu/scale/gfx1100";
    let old = ["cmake", "hip-lang"].map(|folder| format!("{work}/{folder}/of-the-old-one"));
    old.iter().for_each(|file| world.write(file, ""));
    let changed = run(&world, &["build", "--targets", "gfx1100"], &root).exits(0);
    assert!(changed.stderr.contains("toolchain"), "another SDK is another input: {}", changed.stderr);

    old.iter().for_each(|file| assert!(!world.path(file).exists(), "{file}"));

    let refused = [
        run(&world, &["dist", "--targets", "gfx1100"], &root).exits(6),
        run(&world, &["release", "--targets", "gfx1100"], &root).exits(6),
        world
            .run(&[
                "dist",
                "--targets",
                "gfx1100",
                "--toolchain",
                "lite",
                "--store",
                store().to_str().expect("text"),
            ])
            .exits(6),
    ];
    insta::assert_snapshot!(refused.map(|run| run.stderr).join("\n"));
}

#[test]
fn without_an_sdk_every_candidate_is_named() {
    let world = World::with_lock(
        &std::fs::read_to_string(workspace_root().join("toolchains.lock")).expect("the lock"),
    );
    std::fs::create_dir_all(world.path("half/include/hip")).expect("folder");
    std::fs::write(world.path("half/include/hip/hip_runtime.h"), "").expect("write");
    let mut command = world.command(&["build", "--toolchain", "system", "--targets", "gfx1100", "--store"]);
    command
        .arg(store())
        .env("STRATA_HIP_ROOT", world.path("half"))
        .env("HIP_PATH", world.path("space"))
        .env_remove("ROCM_PATH");
    let run = world.ended(command.output().expect("xtask starts")).exits(6);
    insta::assert_snapshot!(run.stderr);
}
