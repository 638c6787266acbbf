//! Each program starts, and the library loads.

use crate::built::programs;
use crate::wine::{command, compile, scratch, text};

const LOADS: &str = r#"#include <stdio.h>
#include <windows.h>
int main(int count, char **words) {
  HMODULE library = LoadLibraryA(words[count - 1]);
  const char *(*version)(void) = library ? (const char *(*)(void))(void (*)(void))GetProcAddress(library, "aiter_version") : NULL;
  return version ? puts(version()) < 0 : 1;
}
"#;

pub(crate) fn programs_start_under_wine() {
    for (program, argument, expected) in [
        ("xtask.exe", "--version", "cargo xtask "),
        ("strata.exe", "--version", "strata "),
        ("strata-device.exe", "--version", "strata-device "),
    ] {
        let output = command(&programs().join(program)).arg(argument).output().expect("Wine starts");
        let said = text(&output);
        assert!(output.status.success() && said.starts_with(expected), "{program}: {said}");
    }
    let loader = scratch().join("loads.exe");
    compile(LOADS, &[], &loader);
    let output = command(&loader).arg(programs().join("aiter_kernels.dll")).output().expect("Wine starts");
    assert!(output.status.success(), "{}", text(&output));
}
