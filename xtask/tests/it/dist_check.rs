//! `dist --check` with a real compiler on a small component: two builds in folders of different length, by different users, and so on.

use crate::support::{World, component_world, names, store, workspace_root};

/// A component of one kernel; `more` goes into its CMakeLists.txt.
fn world(more: &str) -> World {
    let world = component_world();
    world.write("LICENSE", &std::fs::read_to_string(workspace_root().join("LICENSE")).expect("LICENSE"));
    world.write(
        "scale/native/CMakeLists.txt",
        &format!("cmake_minimum_required(VERSION 3.24)\nproject(scale LANGUAGES CXX)\ninclude(../../cmake/CodeObject.cmake)\nset(place \"somewhere\")\n{more}\nadd_code_object(scale SOURCE scale.hip DEFINITIONS \"PLACE=\\\"${{place}}\\\"\")\n"),
    );
    world.write(
        "scale/native/scale.hip",
        "__attribute__((device, used)) const char place[] = PLACE;\nextern \"C\" __attribute__((global)) void scale(float *data, float factor) {\n  data[__builtin_amdgcn_workitem_id_x()] *= factor;\n}\n",
    );
    world
}

fn check(world: &World) -> crate::support::Run {
    let output = world
        .command(&["dist", "--check", "--toolchain", "lite", "--targets", "gfx1201", "--store"])
        .arg(store())
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .output();
    world.ended(output.expect("xtask starts"))
}

#[test]
fn two_builds_that_differ_in_all_that_must_not_matter_are_the_same() {
    let world = world("");
    let run = check(&world).exits(0);
    assert!(run.stdout.starts_with("the same to the last byte: 1 archives with "), "{}", run.stdout);
    assert!(
        run.stdout.contains("varied: folder, user, home, time zone, locale, umask, cores"),
        "{}",
        run.stdout
    );
    assert!(names(&world.path("dist")).is_empty(), "a check makes no release");
}

#[test]
fn a_difference_is_said_with_file_section_and_bytes() {
    // As a careless project would do it: the build folder's path in a string.
    let run = check(&world("set(place \"${CMAKE_CURRENT_BINARY_DIR}\")")).exits(3);
    let zip = "strata-0.1.0-x86_64-unknown-linux-gnu-gfx1201.zip: ";
    let kernel = "kernels/gfx1201/scale/scale.co";
    let lines = run.stderr.lines().map(str::trim).collect::<Vec<_>>();
    let differs = format!("{zip}{kernel}: first differs at byte ");
    let line =
        lines.iter().position(|line| line.starts_with(&differs)).unwrap_or_else(|| panic!("{}", run.stderr));
    assert!(lines[line].contains(", section "), "{}", lines[line]);
    assert!(
        lines[line + 1].starts_with("first   ") && lines[line + 2].starts_with("second  "),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains(&format!("{zip}{kernel}: holds the path of its workspace `")),
        "{}",
        run.stderr
    );
}
