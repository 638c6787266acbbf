//! Windows programs under Wine: the real xtask.exe, strata.exe, strata-device.exe and aiter_kernels.dll. Where there is no Wine, every check is counted as
//! ignored, with its reason.

mod built;
mod flow;
mod programs;
#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports)] // Several test binaries share it, and each uses its part.
mod support;
mod wine;
mod world;

use libtest_mimic::{Arguments, Trial};

type Check = (&'static str, fn());

const CHECKS: [Check; 5] = [
    ("programs_start_under_wine", programs::programs_start_under_wine),
    (
        "every_layout_is_installed_and_the_second_run_does_nothing",
        flow::every_layout_is_installed_and_the_second_run_does_nothing,
    ),
    ("doctor_finds_the_toolchain", flow::doctor_finds_the_toolchain),
    ("code_objects_are_those_of_linux", flow::code_objects_are_those_of_linux),
    ("a_second_build_starts_no_compiler", flow::a_second_build_starts_no_compiler),
];

fn main() {
    let missing = wine::missing().or_else(built::missing).or_else(world::missing);
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
