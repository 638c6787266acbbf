//! A toolchain for MSVC gets Visual Studio's environment: from a vswhere or the installer's records, a tree and a vcvars64.bat of our own, by way of
//! Wine's cmd.exe.

use crate::flow::{bootstrapped, with};
use crate::wine::{compile, prefix, windows};
use crate::world::{ALL, WRAPPED, world, xtask};
use std::sync::OnceLock;

const MSVC: &str = "14.44.35207";
const SDK: &str = "10.0.26100.0";
const ROOT: &str = "Program Files/Microsoft Visual Studio/2022/BuildTools";
/// Where nothing but a record leads to, with what cmd.exe gives a meaning to; not `%`, on which that of Wine 8 stumbles when it expands `%~dp0`.
const OWN_PLACE: &str = "own place/Build & Tools (x86) ^ =!";
const KITS: &str = "Program Files (x86)/Windows Kits/10";

const VSWHERE: &str = r#"#include <stdio.h>
int main(void) {
  return puts("[{\"installationPath\": \"C:\\\\Program Files\\\\Microsoft Visual Studio\\\\2022\\\\BuildTools\", \"installationVersion\": \"17.14.1\", \"displayName\": \"Visual Studio Build Tools 2022\"}]") < 0;
}
"#;

fn write(path: &str, text: &str) {
    let path = prefix().join("drive_c").join(path);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    std::fs::write(path, text).expect("write");
}

/// An installation in the folder `root` of drive C, and the Windows SDK.
fn install(root: &str) {
    let tools = format!("{root}/VC/Tools/MSVC/{MSVC}");
    for file in ["bin/Hostx64/x64/cl.exe", "bin/Hostx64/x64/link.exe", "include/vector", "lib/x64/msvcrt.lib"]
    {
        write(&format!("{tools}/{file}"), "");
    }
    for file in [
        format!("Include/{SDK}/um/Windows.h"),
        format!("Include/{SDK}/ucrt/stdio.h"),
        format!("Lib/{SDK}/um/x64/kernel32.Lib"),
        format!("Lib/{SDK}/ucrt/x64/ucrt.lib"),
        format!("bin/{SDK}/x64/rc.exe"),
        format!("bin/{SDK}/x64/mt.exe"),
    ] {
        write(&format!("{KITS}/{file}"), "");
    }
    let kits = format!("C:\\{}", KITS.replace('/', "\\"));
    // As Microsoft's does it: from its own place, whatever that is called.
    let tools = format!("%~dp0..\\..\\Tools\\MSVC\\{MSVC}");
    write(&format!("{root}/VC/Auxiliary/Build/Microsoft.VCToolsVersion.default.txt"), MSVC);
    write(
        &format!("{root}/VC/Auxiliary/Build/vcvars64.bat"),
        &format!(
            "@echo off\r\nset \"INCLUDE={tools}\\include\"\r\nset \"LIB={tools}\\lib\\x64\"\r\nset \"PATH={tools}\\bin\\Hostx64\\x64;{kits}\\bin\\{SDK}\\x64;%PATH%\"\r\n"
        ),
    );
}

/// The environment that a build with a toolchain for MSVC gets, as xtask.exe keeps it. `arguments` are those of a build.
fn environment(arguments: &[&'static str]) -> serde_json::Value {
    let (world, _server) = world("x86_64-pc-windows-msvc", WRAPPED, ALL);
    let store = windows(&bootstrapped().path("store"));
    let run = xtask(&world, &with(arguments)).args(["--store", &store]).output();
    world.ended(run.expect("Wine starts")).exits(0);
    let kept = std::fs::read(world.path("target/xtask/developer-environment.json")).expect("kept");
    let kept: serde_json::Value = serde_json::from_slice(&kept).expect("JSON");
    let versions = kept["environment"]["versions"].as_str().expect("versions");
    assert_eq!(versions, format!("MSVC {MSVC}, Windows SDK {SDK}"));
    kept["environment"]["variables"].clone()
}

/// The environment of an installation that only the installer's record tells of: before there is a vswhere.
fn recorded() -> &'static serde_json::Value {
    static RECORDED: OnceLock<serde_json::Value> = OnceLock::new();
    RECORDED.get_or_init(|| {
        install(OWN_PLACE);
        let record = serde_json::json!({
            "installationPath": format!("C:\\{}", OWN_PLACE.replace('/', "\\")), "installationVersion": "17.12.35527.113",
            "product": {"id": "Microsoft.VisualStudio.Product.BuildTools"},
            "catalogInfo": {"productLineVersion": "2022", "productMilestoneIsPreRelease": "False"},
        });
        let place = "ProgramData/Microsoft/VisualStudio/Packages/_Instances/3f6a1b2c/state.json";
        write(place, &record.to_string());
        environment(&["build", "--targets", "gfx1100", "--dry-run"])
    })
}

pub(crate) fn the_installers_records_serve_without_vswhere() {
    let include = recorded()["INCLUDE"].as_str().expect("INCLUDE");
    assert!(include.contains(&OWN_PLACE.replace('/', "\\")), "{include}");
}

pub(crate) fn a_toolchain_for_msvc_gets_the_environment_of_visual_studio() {
    // Both are in one prefix: the newer one, which vswhere tells of, comes after the other check has its answer.
    recorded();
    install(ROOT);
    let installer = prefix().join("drive_c/Program Files (x86)/Microsoft Visual Studio/Installer");
    std::fs::create_dir_all(&installer).expect("folder");
    compile(VSWHERE, &[], &installer.join("vswhere.exe"));
    let variables = environment(&["build", "--targets", "gfx1100"]);
    let include = variables["INCLUDE"].as_str().expect("INCLUDE");
    assert!(include.contains("2022\\BuildTools"), "{include}");
}
