//! GPUs, their drivers, and the runtime that a program would load.

use super::Check;
use crate::host::Gpu;
use crate::host::machine::Machine;
use crate::lock::{Host, compare_versions};
use crate::ui::human_bytes;
use gfx::Target;

const ADRENALIN: &str = "install the newest driver of AMD Software: Adrenalin Edition";

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let mut checks = gpus(machine);
    checks.extend(runtime(machine));
    checks
}

fn gpus(machine: &Machine) -> Vec<Check> {
    let detection = &machine.gpus;
    let mut checks: Vec<Check> = detection.gpus.iter().map(|gpu| of_gpu(machine, gpu)).collect();
    let mend = match machine.host {
        Host::Linux => "cargo xtask build --targets LIST",
        Host::WindowsMsvc | Host::WindowsGnu => ADRENALIN,
    };
    checks.extend(detection.remarks.iter().map(|remark| Check::warning("gpu", remark.clone(), mend)));
    if detection.gpus.is_empty() {
        checks.push(Check::ok("gpu", "no AMD GPU: kernels can be built here and not run"));
        return checks;
    }
    checks.push(native(machine));
    checks
}

fn of_gpu(machine: &Machine, gpu: &Gpu) -> Check {
    let number = gpu.number.map_or("GPU".to_owned(), |number| format!("GPU {number}"));
    let mut facts = vec![format!("{number}: {}", gpu.label())];
    facts.extend(gpu.is_integrated.then(|| "integrated".to_owned()));
    facts.extend(gpu.vram.map(human_bytes));
    facts.extend(
        gpu.driver.as_ref().or(machine.kernel_driver.as_ref()).map(|driver| format!("driver {driver}")),
    );
    match (gpu.refusal(), gpu.target) {
        (None, Some(target)) => Check::ok("gpu", format!("{}: {}", facts.join(", "), target.tier())),
        (refusal, _) => {
            let why = refusal.unwrap_or_default();
            Check::ok("gpu", format!("{}: not used, {why}", facts.join(", ")))
        }
    }
}

/// What `--targets native` stands for, and whether the chosen toolchain can build it.
fn native(machine: &Machine) -> Check {
    let targets = machine.gpus.native_targets();
    let names = |targets: &[Target]| targets.iter().map(|target| target.name()).collect::<Vec<_>>().join(",");
    if targets.is_empty() {
        return Check::warning(
            "gpu",
            "--targets native: none of this machine's GPUs is a target",
            "cargo xtask build --targets LIST",
        );
    }
    let (built, rest): (Vec<Target>, Vec<Target>) =
        targets.iter().copied().partition(|target| machine.targets.contains(target));
    match (built.is_empty(), rest.is_empty()) {
        (_, true) => Check::ok("gpu", format!("--targets native is {}", names(&targets))),
        (false, false) => Check::warning(
            "gpu",
            format!(
                "--targets native is {}; toolchain {} does not build {}",
                names(&targets),
                machine.chosen,
                names(&rest)
            ),
            format!("cargo xtask build --targets {}", names(&built)),
        ),
        (true, false) => Check::warning(
            "gpu",
            format!(
                "--targets native is {}, which toolchain {} does not build",
                names(&targets),
                machine.chosen
            ),
            "cargo xtask lock show",
        ),
    }
}

fn runtime(machine: &Machine) -> Vec<Check> {
    let topic = "runtime";
    let Some(first) = machine.runtimes.first() else {
        let what = "no HIP runtime that a program would load";
        return vec![match machine.gpus.gpus.is_empty() {
            true => Check::ok(topic, format!("{what}; without an AMD GPU none is needed")),
            false => Check::warning(
                topic,
                what,
                match machine.host {
                    Host::Linux => {
                        "install AMD's HIP runtime, e.g. apt-get install libamdhip64-7, or use a release that brings one"
                    }
                    Host::WindowsMsvc | Host::WindowsGnu => ADRENALIN,
                },
            ),
        }];
    };
    let version = first.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let label = format!("HIP runtime{version} at `{}` ({})", first.path.display(), first.found_by);
    let mut checks = vec![match (&first.version, &machine.own_runtime) {
        (Some(found), Some(own)) if compare_versions(found, own).is_lt() => Check::warning(
            topic,
            format!(
                "{label} is older than the toolchain's {own}: a release finds its own, programs beside it do not"
            ),
            match machine.host {
                Host::Linux => "update AMD's driver and runtime",
                Host::WindowsMsvc | Host::WindowsGnu => ADRENALIN,
            },
        ),
        _ => Check::ok(topic, format!("{label}: a program without its own loads this one")),
    }];
    checks.extend(machine.runtimes.iter().skip(1).map(|other| {
        let version = other.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let place = format!("`{}` ({})", other.path.display(), other.found_by);
        Check::ok(topic, format!("HIP runtime{version} at {place}: hidden by the first"))
    }));
    checks
}
