//! The README that lies in every release.

use crate::lock::Host;
use gfx::Target;

/// What a user has to know before the first start.
pub(crate) fn readme(version: &str, target: Target, host: Host) -> String {
    let device = format!("strata-device{}", host.exe_suffix());
    let windows = match host {
        Host::Linux => "",
        Host::WindowsMsvc | Host::WindowsGnu => {
            "\nKeep the DLLs beside the programs: Windows looks there before System32, where a driver may have put others.\n"
        }
    };
    format!(
        "Strata {version} for {target}\n\n\
         {device} --list-devices   the GPUs that the HIP runtime sees\n\
         {device} --selftest       checks the code objects, the memory plan and, with a GPU, a kernel on it\n\n\
         It needs AMD's driver with its HIP runtime (libamdhip64.so.7, amdhip64_7.dll). Without one it says so and ends with code 6.\n\
         kernels/{target}/ must stay beside the program.\n{windows}\n\
         SHA256SUMS has the hash of every file, BUILD.json says what each was built from, licenses/ what else is in it.\n\
         To check the files on Linux: sha256sum --check SHA256SUMS\n"
    )
}
