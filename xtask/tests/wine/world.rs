//! A workspace for xtask.exe: the engine's own kernel and strata-device, and a lock whose dist has TheRock's layout with a clang that Wine can run.

use crate::built::programs;
use crate::cargo;
use crate::pip;
use crate::support::{Fault, Member, Run, Server, World, sha256, store, tar_gz, workspace_root};
use crate::wine::{command, compile, run, scratch, windows};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names of a dist whose content no build looks at.
const FILLED: [&str; 5] = [
    ".info/version",
    "bin/hipcc.exe",
    "include/hip/hip_runtime.h",
    "include/hip/hip_version.h",
    "lib/llvm/lib/clang/23/include/__clang_hip_runtime_wrapper.h",
];
const BITCODE: [&str; 15] = [
    "ocml",
    "ockl",
    "opencl",
    "oclc_daz_opt_off",
    "oclc_daz_opt_on",
    "oclc_finite_only_off",
    "oclc_finite_only_on",
    "oclc_unsafe_math_off",
    "oclc_unsafe_math_on",
    "oclc_correctly_rounded_sqrt_off",
    "oclc_correctly_rounded_sqrt_on",
    "oclc_wavefrontsize64_off",
    "oclc_wavefrontsize64_on",
    "oclc_abi_version_500",
    "oclc_abi_version_600",
];
/// Where an archive's top may be (facts/therock.md 3.1).
pub(crate) const LAYOUTS: [&str; 3] = ["", "./", WRAPPED];
pub(crate) const WRAPPED: &str = "therock-dist-windows-multiarch-10.0.0rc3/";

/// The folder of lite's LLVM.
fn llvm() -> PathBuf {
    let trees = std::fs::read_dir(store()).expect("store").flatten();
    let found = trees.map(|entry| entry.path().join("tree/usr/lib/llvm-22")).find(|path| path.is_dir());
    found.expect("the toolchain lite")
}

/// A program of lite's LLVM, with its libraries.
pub(crate) fn llvm_program(name: &str) -> Command {
    let root = llvm();
    let system = root.parent().expect("lib").join("x86_64-linux-gnu");
    let beside = root.ancestors().nth(3).expect("tree").join("lib/x86_64-linux-gnu");
    let mut command = Command::new(root.join("bin").join(name));
    let folders = [system, beside, root.join("lib")].map(|path| path.display().to_string());
    command.env("LD_LIBRARY_PATH", folders.join(":"));
    command
}

/// The folder of our amdhip64_7.dll, which computes on the CPU.
pub(crate) fn runtime() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = scratch().join("runtime");
        std::fs::create_dir_all(&folder).expect("folder");
        let source = include_str!("../../../crates/hip/tests/stub/amdhip64.c");
        compile(source, &["-shared", "-static", "-lpthread"], &folder.join("amdhip64_7.dll"));
        folder
    })
}

/// Every file of the dist: real programs, real (empty) bitcode, our amdhip64_7.dll.
fn members() -> &'static Vec<Member> {
    static MEMBERS: OnceLock<Vec<Member>> = OnceLock::new();
    MEMBERS.get_or_init(|| {
        let folder = scratch().join("dist");
        std::fs::create_dir_all(&folder).expect("folder");
        let zig = pip::unpacked("ziglang", |archive, folder| {
            let unpack = "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); [z.extract(n, sys.argv[2]) for n in z.namelist() if n == 'ziglang/zig.exe' or n.startswith('ziglang/lib/include/')]";
            run(Command::new("python3").args(["-c", unpack]).arg(archive).arg(folder));
        });
        let launcher = folder.join("launcher.exe");
        let path = windows(&zig.join("ziglang/zig.exe")).replace('\\', "\\\\");
        compile(include_str!("launcher.c"), &["-municode", &format!("-DZIG=L\"{path}\"")], &launcher);
        let runtime = runtime().join("amdhip64_7.dll");
        let hip_info = folder.join("hipInfo.exe");
        compile(include_str!("hip_info.c"), &[], &hip_info);
        let comgr = folder.join("amd_comgr.dll");
        compile("int amd_comgr_get_version(void) { return 0; }\n", &["-shared"], &comgr);
        let bitcode = folder.join("empty.bc");
        // Without module flags, as the real ones, which say nothing of code object versions and character sizes.
        let nothing = folder.join("empty.ll");
        let compile_nothing = ["-target", "amdgcn-amd-amdhsa", "-x", "c", "-emit-llvm", "-S", "/dev/null", "-o"];
        run(llvm_program("clang").args(compile_nothing).arg(&nothing));
        let module = std::fs::read_to_string(&nothing).expect("a module");
        let target: Vec<&str> = module.lines().filter(|line| line.starts_with("target ")).collect();
        std::fs::write(&nothing, target.join("\n") + "\n").expect("write");
        run(llvm_program("llvm-as").arg(&nothing).arg("-o").arg(&bitcode));
        let read = |path: &Path| std::fs::read(path).expect("a file");
        let mut members: Vec<Member> = FILLED.iter().map(|path| Member::file(path, "10.0.0\n")).collect();
        for name in ["clang", "clang++", "lld", "llvm-ar"] {
            members.push(Member::File(format!("lib/llvm/bin/{name}.exe"), read(&launcher)));
        }
        let isa = ["1100", "1201"].map(|isa| format!("oclc_isa_version_{isa}"));
        for name in BITCODE.iter().map(ToString::to_string).chain(isa) {
            members.push(Member::File(format!("lib/llvm/amdgcn/bitcode/{name}.bc"), read(&bitcode)));
        }
        members.push(Member::File("bin/amdhip64_7.dll".into(), read(&runtime)));
        members.push(Member::File("bin/hipInfo.exe".into(), read(&hip_info)));
        // The runtime loads it by name.
        members.push(Member::File("bin/amd_comgr.dll".into(), read(&comgr)));
        members
    })
}

fn package(host: &str, name: &str, provides: &str, url: &str, archive: &[u8], file: &str) -> String {
    format!(
        "[[package]]\nname = \"{name}\"\nversion = \"10.0.0\"\nhost = \"{host}\"\nlicense = \"MIT\"\nprovides = [{provides}]\n[[package.source]]\nchannel = \"url\"\n[[package.source.archive]]\nurl = \"{url}\"\nfile = \"{file}\"\nsize = {}\nsha256 = \"{}\"\n",
        archive.len(),
        sha256(archive)
    )
}

/// What a workspace's toolchain is made of.
pub(crate) const ALL: &[&str] = &["dist", "cmake", "ninja"];

/// A workspace whose lock has these packages for this host, the dist with its top at `prefix`, and the server of its archives.
pub(crate) fn world(host: &str, prefix: &str, packages: &[&str]) -> (World, Server) {
    let server = Server::start();
    let mut lock = format!(
        "version = 1\n[[toolchain]]\nname = \"t\"\nhost = \"{host}\"\nrocm = \"10.0.0\"\ntargets = [\"gfx1100\", \"gfx1201\"]\npackages = {packages:?}\n"
    );
    let dist = tar_gz(prefix, members());
    let url = server.offer("dist.tar.gz", &dist, Fault::None);
    lock += &package(host, "dist", "\"compiler\", \"hip\", \"device-libs\"", &url, &dist, "dist.tar.gz");
    for name in packages.iter().filter(|name| **name != "dist") {
        let path = pip::archive(name);
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("a wheel");
        let url = server.offer(&file, &bytes, Fault::None);
        lock += &package(host, name, &format!("\"{name}\""), &url, &bytes, &file);
    }
    let world = World::new();
    engine(&world, "[\"strata-device\"]");
    world.write("toolchains.lock", &lock);
    (world, server)
}

/// The engine as the one component, with its kernels: those of aiter-kernels take minutes.
pub(crate) fn engine(world: &World, binaries: &str) {
    let root = workspace_root();
    let native = std::fs::read_dir(root.join("engine/native")).expect("the kernels").flatten();
    let native = native.map(|file| format!("engine/native/{}", file.file_name().to_string_lossy()));
    for file in native.chain(["cmake/CodeObject.cmake".into(), "LICENSE".into()]) {
        world.write(&file, &std::fs::read_to_string(root.join(&file)).expect(&file));
    }
    world.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"engine\"]\n");
    world.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"engine\"\nversion = \"0.1.0\"\n");
    world.write(
        "engine/Cargo.toml",
        &format!("[package]\nname = \"engine\"\nversion = \"0.1.0\"\nedition = \"2024\"\nlicense = \"MIT\"\n\n[package.metadata.component]\ncmake = \"native\"\nkernels = [\"matrix\", \"rms_norm\", \"rows\", \"vector\"]\nbinaries = {binaries}\nruntime = [\"amdhip64_7.dll\"]\n"),
    );
    world.write("engine/src/lib.rs", "");
    world.write("engine/src/bin/strata-device.rs", "fn main() {}\n");
}

/// xtask.exe in `world`, ready to start.
pub(crate) fn xtask(world: &World, arguments: &[&str]) -> Command {
    let mut command = command(&programs().join("xtask.exe"));
    command.args(arguments).current_dir(world.root()).env("NO_COLOR", "1");
    command.env("STRATA_RETRY_SCALE", "0.001").env("SOURCE_DATE_EPOCH", "1700000000");
    command.env("CARGO", windows(&cargo::folder().join("cargo.exe")));
    // rustc.exe, as cargo.exe finds it.
    command.env("WINEPATH", windows(cargo::folder()));
    command
}

/// Runs xtask.exe to its end; the workspace's path is shown as [ROOT].
pub(crate) fn xtask_ends(world: &World, arguments: &[&str]) -> Run {
    let output = xtask(world, arguments).output().expect("Wine starts");
    let root = windows(world.root());
    let shown = |text: String| text.replace(&root, "[ROOT]").replace('\r', "");
    let run = world.ended(output);
    Run { code: run.code, stdout: shown(run.stdout), stderr: shown(run.stderr) }
}
