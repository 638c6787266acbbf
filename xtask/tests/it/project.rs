//! `build --from`: a CMake project of C, C++ and HIP, in a folder or of a source package, built by the same rules as the workspace's own components.

use crate::support::{Fault, Member, Run, Server, World, component_world, sha256, store, tar_gz};
use std::path::{Path, PathBuf};

const CMAKE: &str = r#"cmake_minimum_required(VERSION 3.24)
project(trio LANGUAGES C CXX HIP)
add_executable(trio main.cpp answer.c scale.hip)
target_link_libraries(trio PRIVATE hip-lang::amdhip64)
install(TARGETS trio)
"#;
const C: &str = "#ifdef POISON\n#error a flag of the environment\n#endif\nint answer(void) { return 42; }\n";
const CXX: &str = r#"#include <hip/hip_runtime_api.h>
extern "C" int answer(void);
int scale(float *data, float factor);
int main() {
  int count = 0;
  if (hipGetDeviceCount(&count) != hipSuccess) return 1;
  return answer() == 42 ? scale(nullptr, 2.0f) : 2;
}
"#;
const HIP: &str = r#"#include <hip/hip_runtime.h>
__global__ void scale_kernel(float *data, float factor) { data[__builtin_amdgcn_workitem_id_x()] *= factor; }
int scale(float *data, float factor) {
  scale_kernel<<<1, 64>>>(data, factor);
  return hipGetLastError();
}
"#;

const DESCRIPTION: &str = "name = \"trio\"\nversion = \"1.2.3\"\n";
const SOURCES: [(&str, &str); 4] =
    [("CMakeLists.txt", CMAKE), ("answer.c", C), ("main.cpp", CXX), ("scale.hip", HIP)];

/// Writes the project below the world.
fn project(world: &World, folder: &str) -> PathBuf {
    SOURCES.iter().for_each(|(name, text)| world.write(&format!("{folder}/{name}"), text));
    world.write(&format!("{folder}/component.toml"), DESCRIPTION);
    world.path(folder)
}

/// A world whose toolchain `lite` has one package more: `trio-source`, the project as somebody's archive without a description.
fn world_with_source() -> (World, Server) {
    let (world, server) = (component_world(), Server::start());
    let members = SOURCES.map(|(name, text)| Member::file(name, text));
    let archive = tar_gz("trio-1.2.3/src/", &members);
    let url = server.offer("trio-1.2.3.tar.gz", &archive, Fault::None);
    let lock = std::fs::read_to_string(world.path("toolchains.lock")).expect("lock");
    let with_source = lock.replace(
        "\"ninja\", \"composable-kernel\"]\n\n# AMD",
        "\"ninja\", \"composable-kernel\", \"trio-source\"]\n\n# AMD",
    );
    assert_ne!(lock, with_source, "the packages of lite");
    world.write("toolchains.lock", &format!(
        "{with_source}\n[[package]]\nname = \"trio-source\"\nversion = \"1.2.3\"\nlicense = \"MIT\"\nprovides = []\n\n[[package.source]]\nchannel = \"url\"\n\n[[package.source.archive]]\nurl = \"{url}\"\nfile = \"trio-1.2.3.tar.gz\"\nsize = {}\nsha256 = \"{}\"\n",
        archive.len(),
        sha256(&archive)
    ));
    // A store of its own, in which the packages of lite are those of the tests.
    std::fs::create_dir_all(world.path("store")).expect("folder");
    for entry in std::fs::read_dir(store()).expect("store").flatten() {
        if entry.file_name().len() == 16 {
            let to = world.path("store").join(entry.file_name());
            std::os::unix::fs::symlink(std::path::absolute(entry.path()).expect("path"), to).expect("link");
        }
    }
    (world, server)
}

fn build(world: &World, folder: &Path, targets: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = world.command(&["build", "--toolchain", "lite", "--targets", targets, "--from"]);
    command.arg(folder).arg("--store").arg(store());
    command.envs(variables.iter().copied());
    world.ended(command.output().expect("xtask starts"))
}

fn artifact(world: &World, target: &str) -> PathBuf {
    world.path(&format!("artifacts/1.2.3/x86_64-unknown-linux-gnu/trio/{target}"))
}

/// What would change a build if it got through.
const POISON: [(&str, &str); 8] = [
    ("HIP_PATH", "/nowhere/hip"),
    ("ROCM_PATH", "/nowhere/rocm"),
    ("HIP_DEVICE_LIB_PATH", "/nowhere/libs"),
    ("CFLAGS", "-DPOISON"),
    ("CXXFLAGS", "-DPOISON --no-such-option"),
    ("HIPFLAGS", "--no-such-option"),
    ("HIPCXX", "/nowhere/hipcc"),
    ("LDFLAGS", "--no-such-option"),
];

#[test]
fn a_project_of_c_cxx_and_hip_is_built_by_one_clang_whatever_the_environment_says() {
    let world = component_world();
    let folder = project(&world, "other project");
    build(&world, &folder, "gfx1100,gfx1201", &POISON).exits(0);
    for target in ["gfx1100", "gfx1201"] {
        let program = std::fs::read(artifact(&world, target).join("bin/trio")).expect("the program");
        let holds = |text: &str| program.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(holds(&format!("amdgcn-amd-amdhsa--{target}")), "code for {target}");
        assert!(holds("libamdhip64.so.5"), "linked against the headers' runtime");
        assert!(!holds(&world.root().display().to_string()), "a path of this machine");
        let log = world.path(&format!(
            "target/xtask/x86_64-unknown-linux-gnu/trio/{target}/cmake/compile_commands.json"
        ));
        let commands: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(log).expect("commands")).expect("JSON");
        let compilers: Vec<&str> = commands
            .as_array()
            .expect("commands")
            .iter()
            .map(|command| command["command"].as_str().expect("text"))
            .map(|command| command.split(' ').next().expect("a program"))
            .collect();
        assert_eq!(compilers.len(), 3, "C, C++ and HIP");
        let store = std::fs::canonicalize(store()).expect("store").display().to_string();
        let is_ours = |path: &&str| path.starts_with(&store) && path.contains("/llvm-22/bin/clang");
        assert!(compilers.iter().all(is_ours), "{compilers:?}");
        world.run(&["verify", &artifact(&world, target).display().to_string()]).exits(0);
    }
    let second = build(&world, &folder, "gfx1100,gfx1201", &[]).exits(0);
    assert_eq!(second.stdout, "2 artifacts, 0 built\n", "the environment is no input");

    let before = std::fs::read(artifact(&world, "gfx1201").join("bin/trio")).expect("the program");
    let elsewhere = World::new();
    ["toolchains.lock", "cmake/CodeObject.cmake", "Cargo.toml"].iter().for_each(|file| {
        elsewhere.write(file, &std::fs::read_to_string(world.path(file)).expect("file"));
    });
    let moved = project(&elsewhere, "p");
    build(&elsewhere, &moved, "gfx1201", &[]).exits(0);
    let after = std::fs::read(artifact(&elsewhere, "gfx1201").join("bin/trio")).expect("the program");
    assert!(before == after, "the same bytes from another folder");
}

#[test]
fn a_project_without_code_for_the_target_and_a_folder_without_project_are_refused() {
    let world = component_world();
    let run = build(&world, &world.path("scale"), "gfx1100", &[]).exits(2);
    insta::assert_snapshot!(run.stderr, @r#"
    error[B12]: --from `[ROOT]/scale`: there is no component.toml

    hint: write it: name = "…" and version = "…" are enough (docs/architecture.md, "Projects of others")
    "#);
    let folder = project(&world, "p");
    world.write(
        "p/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.24)\nproject(p LANGUAGES C)\nadd_library(answer STATIC answer.c)\ninstall(TARGETS answer)\n",
    );
    let run = build(&world, &folder, "gfx1100", &[]).exits(1);
    assert!(
        run.stderr.contains("trio for gfx1100: the project: installs no file with code for gfx1100"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_project_is_built_for_this_machine_only() {
    let world = component_world();
    let folder = project(&world, "p").display().to_string();
    let arguments = ["build", "--toolchain", "lite", "--targets", "gfx1201", "--from", &folder];
    for dry_run in [&[][..], &["--dry-run"]] {
        let other = [&arguments[..], &["--host", "x86_64-pc-windows-gnu"], dry_run].concat();
        let mut command = world.command(&other);
        let run = world.ended(command.arg("--store").arg(store()).output().expect("xtask starts")).exits(2);
        let words = "--from builds programs for x86_64-unknown-linux-gnu, not for x86_64-pc-windows-gnu";
        assert!(run.stderr.contains(words), "{}", run.stderr);
    }
    assert!(!world.path("artifacts").exists(), "nothing is published");
}

#[test]
fn a_source_package_of_the_lock_is_built_by_its_name() {
    let (world, _server) = world_with_source();
    let build =
        |name: &str| world.run(&["build", "--toolchain", "lite", "--targets", "gfx1201", "--from", name]);
    let missing = build("trio-source").exits(6);
    world.run(&["bootstrap", "--toolchain", "lite"]).exits(0);
    let undescribed = build("trio-source").exits(2);
    let misspelled = build("trio-sorce").exits(2);
    let without_project = build("composable-kernel").exits(2);
    let key = |text: &str| {
        let at = text.find("/store/").map(|at| at + "/store/".len());
        at.map_or(text.to_owned(), |at| text.replace(&text[at..at + 16], "[KEY]"))
    };
    let refused = [missing, undescribed, misspelled, without_project].map(|run| key(&run.stderr));
    insta::assert_snapshot!(refused.join("\n"));

    world.write("projects/trio-source.toml", DESCRIPTION);
    build("trio-source").exits(0);
    let program = std::fs::read(artifact(&world, "gfx1201").join("bin/trio")).expect("the program");
    let again = build("trio-source").exits(0);
    assert_eq!(again.stdout, "1 artifact, 0 built\n");

    let folder = project(&world, "unpacked");
    std::fs::remove_dir_all(artifact(&world, "gfx1201")).expect("remove");
    build(&folder.display().to_string()).exits(0);
    let from_folder = std::fs::read(artifact(&world, "gfx1201").join("bin/trio")).expect("the program");
    assert!(program == from_folder, "the same bytes as from a folder");
}

#[test]
fn a_project_may_write_into_its_own_folder() {
    let world = component_world();
    let folder = project(&world, "p");
    let generate = "file(WRITE ${CMAKE_SOURCE_DIR}/answer.h \"#define ANSWER 42\\n\")\n";
    world.write("p/CMakeLists.txt", &format!("{CMAKE}{generate}"));
    world.write("p/answer.c", "#include \"answer.h\"\nint answer(void) { return ANSWER; }\n");
    build(&world, &folder, "gfx1201", &[]).exits(0);
    // What was written is a source from then on.
    let built = |expected: &str| {
        let run = build(&world, &folder, "gfx1201", &[]).exits(0);
        assert_eq!(run.stdout, expected, "{}", run.stderr);
    };
    built("1 artifact, 1 built\n");
    built("1 artifact, 0 built\n");
}
