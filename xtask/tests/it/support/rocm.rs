//! A small workspace whose toolchain has ROCm libraries: real ELF files, real headers, everything else as small as it may be. Its artifacts are written as
//! a build leaves them, so that no compiler has to run.

use super::{BOOTSTRAP, Fault, Member, Run, Server, World, dist_members, lock_of, sha256, tar_gz};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const HOST: &str = "x86_64-unknown-linux-gnu";

/// Compiles one shared library, or a program when the source has a `main`.
fn cc(source: &str, arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("temp");
    let (from, to) = (folder.path().join("x.c"), folder.path().join("x"));
    std::fs::write(&from, source).expect("write");
    let built = Command::new("cc")
        .args(["-O1", "-Wl,--build-id=none"])
        .arg(&from)
        .args(arguments)
        .arg("-o")
        .arg(&to)
        .output();
    let built = built.expect("cc starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    std::fs::read(&to).expect("read")
}

/// A library with this soname that needs the libraries `needed`, which need not exist yet.
pub(crate) fn library(soname: &str, runpath: &str, needed: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("temp");
    let mut arguments = vec![
        "-shared".to_owned(),
        "-nostdlib".into(),
        format!("-Wl,-soname,{soname}"),
        "-Wl,--no-as-needed".into(),
    ];
    if !runpath.is_empty() {
        arguments.push(format!("-Wl,--enable-new-dtags,-rpath,{runpath}"));
    }
    for name in needed {
        let stub = folder.path().join(name);
        std::fs::write(&stub, cc("int stub;", &["-shared", "-nostdlib", &format!("-Wl,-soname,{name}")]))
            .expect("stub");
        arguments.push(stub.display().to_string());
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    cc("int own;", &arguments)
}

/// What strata-device does without a GPU.
pub(crate) fn program(runpath: &str, status: i32) -> Vec<u8> {
    let source = format!(
        "int puts(const char*); int main(void) {{ puts(\"strata-device selftest: skipped\"); return {status}; }}"
    );
    cc(&source, &[&format!("-Wl,--enable-new-dtags,-rpath,{runpath}")])
}

/// The good program.
pub(crate) fn device() -> &'static Vec<u8> {
    static DEVICE: OnceLock<Vec<u8>> = OnceLock::new();
    DEVICE.get_or_init(|| program("$ORIGIN/rocm/lib", 6))
}

/// The members of a dist with the runtime and rocBLAS for gfx1100 and gfx1201 (facts/strata.md 4.2 on Linux).
fn rocm_members() -> Vec<Member> {
    let mut members = dist_members();
    members.retain(|member| !matches!(member, Member::File(path, _) if path.ends_with("libamdhip64.so.7")));
    let mut add = |path: &str, content: Vec<u8>| members.push(Member::File(path.into(), content));
    let hip = library(
        "libamdhip64.so.7",
        "$ORIGIN:$ORIGIN/rocm_sysdeps/lib",
        &["libhsa-runtime64.so.1", "librocm_sysdeps_z.so.1"],
    );
    add("lib/libamdhip64.so.7.15", hip);
    add("lib/libhsa-runtime64.so.1", library("libhsa-runtime64.so.1", "", &[]));
    add("lib/rocm_sysdeps/lib/librocm_sysdeps_z.so.1", library("librocm_sysdeps_z.so.1", "", &[]));
    add("lib/libamd_comgr.so.3", library("libamd_comgr.so.3", "$ORIGIN", &[]));
    add("lib/librocblas.so.5", library("librocblas.so.5", "$ORIGIN", &["libamdhip64.so.7"]));
    for target in ["gfx1100", "gfx1201"] {
        add(&format!("lib/rocblas/library/TensileLibrary_{target}.co"), target.into());
        add(&format!(".kpack/blas_lib_{target}.kpack"), target.into());
    }
    // Nobody imports hipBLASLt: the engine loads it by name. Its kernels lie in a folder a target.
    add(
        "lib/libhipblaslt.so.1",
        library("libhipblaslt.so.1", "$ORIGIN", &["libamdhip64.so.7", "liborigami.so.1"]),
    );
    add("lib/liborigami.so.1", library("liborigami.so.1", "$ORIGIN", &[]));
    for target in ["gfx1100", "gfx1201"] {
        add(&format!("lib/hipblaslt/library/{target}/TensileLibrary_{target}.co"), target.into());
    }
    add("lib/hipblaslt/library/hipblasltExtOpLibrary.dat", b"all".to_vec());
    add("share/doc/rocblas/LICENSE.md", b"the licence of rocBLAS".to_vec());
    members.push(Member::Link("lib/libamdhip64.so.7".into(), "libamdhip64.so.7.15".into()));
    members
}

fn archive() -> &'static Vec<u8> {
    static ARCHIVE: OnceLock<Vec<u8>> = OnceLock::new();
    ARCHIVE.get_or_init(|| tar_gz("", &rocm_members()))
}

/// One output of a component.
pub(crate) type Output<'a> = (&'a str, &'a [u8], bool);

/// The workspace, bootstrapped, with good artifacts for both targets.
pub(crate) fn rocm_world() -> World {
    let server = Server::start();
    let world = World::with_lock(&lock_of(&server, archive(), Fault::None));
    world.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"engine\"]\n");
    world.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"engine\"\nversion = \"0.1.0\"\n");
    world.write(
        "engine/Cargo.toml",
        "[package]\nname = \"engine\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlicense = \"MIT\"\n\n[package.metadata.component]\ncmake = \"native\"\nkernels = [\"k\"]\nbinaries = [\"strata-device\"]\nruntime = [\"amdhip64_7.dll\", \"libamdhip64.so.7\", \"librocblas.so.5\"]\noptional = [\"libhipblaslt.dll\", \"libhipblaslt.so.1\"]\n",
    );
    world.write("engine/src/lib.rs", "");
    world.write("engine/native/CMakeLists.txt", "");
    world.write("LICENSE", "MIT\n");
    world.run(&BOOTSTRAP).exits(0);
    for target in ["gfx1100", "gfx1201"] {
        artifact(world.root(), target, &[("strata-device", device(), true)], |_| {});
    }
    world
}

/// Writes an artifact folder of the component `engine` in `root`; `change` may spoil its BUILD.json.
pub(crate) fn artifact(root: &Path, target: &str, outputs: &[Output], change: impl FnOnce(&mut Value)) {
    let folder = root.join(format!("artifacts/0.1.0/{HOST}/engine/{target}"));
    let kernel = format!("kernels/{target}/engine/k.co");
    let outputs: Vec<Value> = [(kernel.as_str(), target.as_bytes(), false)]
        .iter()
        .chain(outputs)
        .map(|(path, bytes, executable)| {
            let full = folder.join(path);
            // A name that this file system does not take stays in BUILD.json alone.
            if std::fs::create_dir_all(full.parent().expect("parent")).is_ok() {
                let _ = std::fs::write(&full, bytes);
            }
            json!({"path": path, "size": bytes.len(), "sha256": sha256(bytes), "executable": executable})
        })
        .collect();
    let digest = sha256(b"");
    let package = json!({"name": "dist", "version": "10.0.0", "key": sha256(archive())});
    let mut manifest = json!({
        "schema": 1, "component": "engine", "version": "0.1.0", "target": target, "host": HOST,
        "toolchain": {"name": "t", "rocm": "10.0.0", "digest": digest, "packages": [package]},
        "lock": digest, "compiler": "clang 23", "rustc": "rustc 1.95", "settings": {},
        "inputs": {"native sources": digest, "Rust sources": digest}, "key": digest,
        "outputs": outputs, "code_objects": [],
    });
    change(&mut manifest);
    std::fs::write(folder.join("BUILD.json"), manifest.to_string()).expect("write");
}

/// `xtask dist` with the toolchain `t`.
pub(crate) fn dist(world: &World, arguments: &[&str]) -> Run {
    let output = world
        .command(&[&["dist", "--toolchain", "t"], arguments].concat())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output()
        .expect("xtask starts");
    world.ended(output)
}

/// What lies in a folder, without folders.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
