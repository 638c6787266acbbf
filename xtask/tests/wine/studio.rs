//! A toolchain for MSVC gets Visual Studio's environment: from a vswhere, a tree and a vcvars64.bat of our own, by way of Wine's cmd.exe.

use crate::flow::{bootstrapped, with};
use crate::wine::{compile, prefix, windows};
use crate::world::{ALL, WRAPPED, world, xtask};

const MSVC: &str = "14.44.35207";
const SDK: &str = "10.0.26100.0";
const ROOT: &str = "Program Files/Microsoft Visual Studio/2022/BuildTools";
const KITS: &str = "Program Files (x86)/Windows Kits/10";

const VSWHERE: &str = r#"#include <stdio.h>
int main(void) {
  return puts("[{\"installationPath\": \"C:\\\\Program Files\\\\Microsoft Visual Studio\\\\2022\\\\BuildTools\", \"installationVersion\": \"17.14.1\", \"displayName\": \"Visual Studio Build Tools 2022\"}]") < 0;
}
"#;

fn install() {
    let drive = prefix().join("drive_c");
    let write = |path: String, text: &str| {
        let path = drive.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
        std::fs::write(path, text).expect("write");
    };
    let tools = format!("{ROOT}/VC/Tools/MSVC/{MSVC}");
    for file in ["bin/Hostx64/x64/cl.exe", "bin/Hostx64/x64/link.exe", "include/vector", "lib/x64/msvcrt.lib"]
    {
        write(format!("{tools}/{file}"), "");
    }
    for file in [
        format!("Include/{SDK}/um/Windows.h"),
        format!("Include/{SDK}/ucrt/stdio.h"),
        format!("Lib/{SDK}/um/x64/kernel32.Lib"),
        format!("Lib/{SDK}/ucrt/x64/ucrt.lib"),
        format!("bin/{SDK}/x64/rc.exe"),
        format!("bin/{SDK}/x64/mt.exe"),
    ] {
        write(format!("{KITS}/{file}"), "");
    }
    let windows = |path: &str| format!("C:\\{}", path.replace('/', "\\"));
    let (tools, kits) = (windows(&tools), windows(KITS));
    write(format!("{ROOT}/VC/Auxiliary/Build/Microsoft.VCToolsVersion.default.txt"), MSVC);
    write(
        format!("{ROOT}/VC/Auxiliary/Build/vcvars64.bat"),
        &format!(
            "@echo off\r\nset \"INCLUDE={tools}\\include\"\r\nset \"LIB={tools}\\lib\\x64\"\r\nset \"PATH={tools}\\bin\\Hostx64\\x64;{kits}\\bin\\{SDK}\\x64;%PATH%\"\r\n"
        ),
    );
    let installer = drive.join("Program Files (x86)/Microsoft Visual Studio/Installer");
    std::fs::create_dir_all(&installer).expect("folder");
    compile(VSWHERE, &[], &installer.join("vswhere.exe"));
}

pub(crate) fn a_toolchain_for_msvc_gets_the_environment_of_visual_studio() {
    install();
    let (world, _server) = world("x86_64-pc-windows-msvc", WRAPPED, ALL);
    let store = windows(&bootstrapped().path("store"));
    let run = xtask(&world, &with(&["build", "--targets", "gfx1100"])).args(["--store", &store]).output();
    world.ended(run.expect("Wine starts")).exits(0);
    let kept = std::fs::read_to_string(world.path("target/xtask/developer-environment.json")).expect("kept");
    assert!(kept.contains(&format!("MSVC {MSVC}, Windows SDK {SDK}")), "{kept}");
}
