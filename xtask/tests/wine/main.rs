//! Windows programs under Wine: the real xtask.exe, strata.exe, strata-device.exe and aiter_kernels.dll. Where there is no Wine, every check is counted as
//! ignored, with its reason.

mod built;
mod cargo;
mod flow;
mod gpu;
#[path = "../../../engine/tests/it/support/mod.rs"]
#[allow(dead_code, unused_imports)] // They share it with the engine's tests.
mod models;
mod pip;
mod places;
mod process;
mod programs;
mod release;
mod studio;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports)] // Several test binaries share it, and each uses its part.
mod support;
mod wheel;
mod wine;
mod world;

use libtest_mimic::{Arguments, Trial};

type Check = (&'static str, fn());

const CHECKS: [Check; 19] = [
    ("programs_start_under_wine", programs::programs_start_under_wine),
    (
        "every_layout_is_installed_and_the_second_run_does_nothing",
        flow::every_layout_is_installed_and_the_second_run_does_nothing,
    ),
    ("doctor_finds_the_toolchain", flow::doctor_finds_the_toolchain),
    (
        "a_toolchain_for_msvc_gets_the_environment_of_visual_studio",
        studio::a_toolchain_for_msvc_gets_the_environment_of_visual_studio,
    ),
    ("the_installers_records_serve_without_vswhere", studio::the_installers_records_serve_without_vswhere),
    ("hip_info_of_the_toolchain_tells_the_gpus", gpu::hip_info_of_the_toolchain_tells_the_gpus),
    ("code_objects_are_those_of_linux", flow::code_objects_are_those_of_linux),
    ("a_second_build_starts_no_compiler", flow::a_second_build_starts_no_compiler),
    (
        "any_folder_and_a_path_of_9000_characters_give_the_same_kernels",
        places::any_folder_and_a_path_of_9000_characters_give_the_same_kernels,
    ),
    ("children_die_with_a_killed_xtask", process::children_die_with_a_killed_xtask),
    ("an_interrupt_ends_a_build_in_order", process::an_interrupt_ends_a_build_in_order),
    ("read_only_trees_are_removed", process::read_only_trees_are_removed),
    (
        "a_place_that_is_too_deep_is_refused_before_anything_is_unpacked",
        process::a_place_that_is_too_deep_is_refused_before_anything_is_unpacked,
    ),
    (
        "the_release_is_verified_and_its_self_test_passes",
        flow::the_release_is_verified_and_its_self_test_passes,
    ),
    ("a_whole_windows_release_is_packed_on_linux", release::a_whole_windows_release_is_packed_on_linux),
    ("the_self_test_of_the_windows_release_runs", release::the_self_test_of_the_windows_release_runs),
    (
        "a_model_generates_the_text_that_it_does_on_linux",
        release::a_model_generates_the_text_that_it_does_on_linux,
    ),
    ("a_c_program_calls_the_library_of_the_release", release::a_c_program_calls_the_library_of_the_release),
    ("python_for_windows_calls_the_wheel", wheel::python_for_windows_calls_the_wheel),
];

fn main() {
    let missing = wine::missing().or_else(built::missing).or_else(pip::missing);
    if let Some(reason) = &missing {
        eprintln!("skipped: {} checks under Wine: {reason}", CHECKS.len());
    }
    let trial = |(name, check): Check| {
        let run = move || {
            check();
            Ok(())
        };
        Trial::test(name, run).with_ignored_flag(missing.is_some())
    };
    libtest_mimic::run(&Arguments::from_args(), CHECKS.map(trial).into()).exit();
}
