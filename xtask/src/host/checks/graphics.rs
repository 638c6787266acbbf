//! GPUs, their drivers, and the runtime that a program would load.

use super::Check;
use crate::host::Gpu;
use crate::host::machine::{Machine, Runtime};
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
        Host::Linux => "sudo usermod -aG render,video $USER",
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
    let newest_driver = match machine.host {
        Host::Linux => "update AMD's driver and runtime",
        Host::WindowsMsvc | Host::WindowsGnu => ADRENALIN,
    };
    let Some(first) = machine.runtimes.first() else {
        let what = "no HIP runtime that a program would load";
        return vec![match machine.gpus.gpus.is_empty() {
            true => Check::ok(topic, format!("{what}; without an AMD GPU none is needed")),
            false => Check::warning(topic, what, newest_driver),
        }];
    };
    let mut checks = Vec::new();
    let mut loaded: Vec<&Runtime> = Vec::new();
    for runtime in &machine.runtimes {
        let label = label(runtime);
        let is_hidden = loaded.iter().any(|known| known.library == runtime.library);
        let is_older =
            |own: &String| runtime.version.as_ref().is_some_and(|found| compare_versions(found, own).is_lt());
        checks.push(match machine.own_runtime.as_ref().filter(|own| runtime.library == first.library && is_older(own)) {
            _ if is_hidden => Check::ok(topic, format!("{label}: hidden by the first of this name")),
            Some(own) => Check::warning(
                topic,
                format!("{label} is older than the toolchain's {own}: a release finds its own, programs beside it do not"),
                newest_driver,
            ),
            None => Check::ok(topic, format!("{label}: a program without its own loads this one")),
        });
        if !is_hidden {
            loaded.push(runtime);
        }
    }
    // A runtime with another's compiler finds no device (lemonade#3462).
    if let Some(other) = loaded.iter().find(|other| other.path.parent() != first.path.parent()) {
        let what = format!(
            "{} and {} are of two installations: programs may find no GPU",
            place(first),
            place(other)
        );
        checks.push(Check::warning(topic, what, newest_driver));
    }
    checks
}

fn label(runtime: &Runtime) -> String {
    let version = runtime.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    format!("{}{version} at {} ({})", runtime.library, place(runtime), runtime.found_by)
}

fn place(runtime: &Runtime) -> String {
    format!("`{}`", runtime.path.display())
}
