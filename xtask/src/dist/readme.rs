//! The README that lies in every release.

use super::Parts;
use super::runtime::Runtime;
use crate::lock::Host;

/// rocBLAS dies when its files lie deeper: 174 characters work, 175 do not (facts/strata.md 5, row 36).
const LONGEST_PATH: usize = 174;

/// What a user has to know before the first start.
///
/// `deepest` is the length of the longest path of rocBLAS's files in the release, 0 when it has none.
pub(super) fn text(parts: &Parts, runtime: &Runtime, deepest: usize) -> String {
    let targets: Vec<&str> = parts.targets.iter().map(|target| target.name()).collect();
    let (version, targets) = (parts.version, targets.join(", "));
    let suffix = parts.host.exe_suffix();
    let runtime = match (runtime.loaded.is_empty(), runtime.of_driver.is_empty()) {
        (false, _) => {
            "ROCm's libraries are in this folder; AMD's driver is all that has to be installed.".to_owned()
        }
        (_, false) => {
            format!("It needs AMD's driver with its HIP runtime ({}).", runtime.of_driver.join(", "))
        }
        _ => "It needs AMD's driver.".to_owned(),
    };
    let system = match parts.host {
        Host::Linux => LINUX.to_owned(),
        Host::WindowsMsvc | Host::WindowsGnu => windows(deepest),
    };
    format!(
        "Strata {version} for {targets}\n\n\
         strata-device{suffix} --list-devices          the GPUs that the HIP runtime sees\n\
         strata-device{suffix} --selftest              checks the code objects, the memory plan and, with a GPU, a kernel on it\n\
         strata{suffix} plan MODEL.gguf                what of a model goes to which card, and whether it fits\n\
         strata{suffix} generate MODEL.gguf --prompt X what the model says\n\
         strata{suffix} serve MODEL.gguf               OpenAI's API on http://127.0.0.1:8080/v1\n\
         strata-vision{suffix} --help                  the embedding of an image\n\n\
         {runtime} Without a runtime strata-device says so and ends with code 6.\n\
         Keep the folder as it is: kernels/ and rocm/ are found from the programs' own place.\n\n\
         {system}\n\
         What is in it\n\
         \x20 SHA256SUMS          the hash of every file (on Linux: sha256sum --check SHA256SUMS)\n\
         \x20 MANIFEST.json       every file with its size, hash and origin\n\
         \x20 BUILD.json          what each program and kernel was built from\n\
         \x20 sbom.spdx.json      all that is part of it, as SPDX 2.3\n\
         \x20 sbom.cdx.json       the same as CycloneDX 1.6\n\
         \x20 NOTICE.txt          where each library comes from, and its licence; licenses/ has the texts\n"
    )
}

const LINUX: &str = "\
Linux
  Unpack it anywhere; nothing is installed. The programs find rocm/lib through their own RUNPATH ($ORIGIN/rocm/lib), so no LD_LIBRARY_PATH is needed.
  Do not run patchelf or strip on the libraries below rocm/: their device code is split off and found by offset.
  The user has to be in the groups that own /dev/kfd and /dev/dri (often render and video).
";

fn windows(deepest: usize) -> String {
    let path = match deepest {
        0 => "Any folder will do; C:\\strata is a good place.".to_owned(),
        // The path of the folder and a backslash come before.
        deepest => format!(
            "The path of this folder may have at most {} characters: rocBLAS fails with 0xC0000005 when the path of one of its files is longer\n           than {LONGEST_PATH}. C:\\strata is a good place.",
            LONGEST_PATH.saturating_sub(deepest + 1)
        ),
    };
    format!(
        "\
Windows
  Path     {path}
  Blocked  The programs may be unsigned. Smart App Control blocks those (\"Part of this app has been blocked\", error 4551); the event log's
           entry 3077 names the file. It has no exception for one program: Smart App Control is on or off. A zip from a browser may be marked
           as well: choose Properties, Unblock before you unpack it.
  Driver   Install AMD's Adrenalin driver. A runtime of this folder that is older than the driver may find no GPU (\"no ROCm-capable
           device\"); update the driver or take a newer release.
  DLLs     amdhip64_7.dll, amd_comgr*.dll and rocm_kpack.dll, where they are part of this folder, must stay beside the programs, all of
           them: Windows looks there first, then in System32, where the driver has others of the same name, and a mixed set finds no GPU.
"
    )
}
