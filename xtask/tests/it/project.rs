//! `build --from DIR`: a CMake project of C, C++ and HIP, built by the same rules as the workspace's own components.

use crate::support::{Run, World, component_world, store};
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

/// Writes the project below the world.
fn project(world: &World, folder: &str) -> PathBuf {
    let files = [
        ("component.toml", "name = \"trio\"\nversion = \"1.2.3\"\n"),
        ("CMakeLists.txt", CMAKE),
        ("answer.c", C),
        ("main.cpp", CXX),
        ("scale.hip", HIP),
    ];
    files.iter().for_each(|(name, text)| world.write(&format!("{folder}/{name}"), text));
    world.path(folder)
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

    hint: write one beside the project's CMakeLists.txt: name = "…" and version = "…" are enough (docs/architecture.md, "Projects of others")
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
