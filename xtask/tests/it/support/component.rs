//! A component of the test's own.

use super::{World, workspace_root};

/// Its kernel.
pub(crate) const KERNEL: &str = r#"extern "C" __attribute__((global)) void scale(float *data, float factor) {
  data[__builtin_amdgcn_workitem_id_x()] *= factor;
}
"#;

/// A workspace with one component `scale` of one kernel.
pub(crate) fn component_world() -> World {
    let world = World::new();
    let root = workspace_root();
    for file in ["toolchains.lock", "cmake/CodeObject.cmake"] {
        world.write(file, &std::fs::read_to_string(root.join(file)).expect(file));
    }
    world.write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"scale\"]\n");
    world.write(
        "scale/Cargo.toml",
        "[package]\nname = \"scale\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[package.metadata.component]\ncmake = \"native\"\nkernels = [\"scale\"]\n",
    );
    world.write("scale/src/lib.rs", "");
    world.write(
        "scale/native/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.24)\nproject(scale LANGUAGES CXX)\ninclude(../../cmake/CodeObject.cmake)\nadd_code_object(scale SOURCE scale.hip)\n",
    );
    world.write("scale/native/scale.hip", KERNEL);
    world
}
