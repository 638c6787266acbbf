//! Asking the runtime and the files.

use super::{Memory, Mode, Report, Request, RuntimeReport, SCHEMA};
use crate::catalogue::{Catalogue, Error};
use crate::device::DeviceReport;
use crate::plan::{CONTEXT, Plan, SHAPE};
use crate::selftest::{self, Check};
use gfx::Target;
use hip::{MemoryInfo, Runtime};
use std::path::Path;

const LOADED: &str = "loaded runtime";
const DEVICE: &str = "device";
const PLAN: &str = "plan against free memory";

/// Finds out what is asked. It never fails: what cannot be found out is part of the report.
pub fn gather(request: &Request) -> Report {
    let catalogue = Catalogue::read(&request.kernels);
    let compiled_for = catalogue.as_ref().map(Catalogue::targets).unwrap_or_default();
    let machine = Machine::ask(&compiled_for);
    let mut report = Report {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        mode: request.mode,
        runtime: machine.report,
        libraries: Vec::new(),
        compiled_for: compiled_for.iter().map(|target| target.name()).collect(),
        devices: machine.devices,
        memory: None,
        plan: None,
        checks: Vec::new(),
        exit_code: 0,
    };
    if request.mode == Mode::Selftest {
        report.checks.extend(selftest::offline_checks(catalogue.as_ref()));
    }
    if let Some(folder) = &request.expect_loaded {
        report.checks.push(check_loaded(&report.runtime, folder));
    }
    if request.mode != Mode::ListDevices {
        match (&machine.runtime, report.devices.first().cloned()) {
            (Some(runtime), Some(device)) => use_device(runtime, &device, catalogue.as_ref(), &mut report),
            (None, _) => skip_device(&mut report, "there is no HIP runtime"),
            (_, None) => skip_device(&mut report, "the HIP runtime lists no GPU"),
        }
    }
    // Last: a library may load others when it is used.
    report.libraries = hip::loaded_libraries();
    report.exit_code = exit_code(&report);
    report
}

/// What the runtime says before anything is made on a device.
struct Machine {
    runtime: Option<Runtime>,
    report: RuntimeReport,
    devices: Vec<DeviceReport>,
}

impl Machine {
    fn ask(compiled_for: &[Target]) -> Self {
        let missing = |reason: String| Self {
            runtime: None,
            report: RuntimeReport::Missing { reason },
            devices: Vec::new(),
        };
        let runtime = match Runtime::load() {
            Ok(runtime) => runtime,
            Err(error) => return missing(error.to_string()),
        };
        let count = match runtime.device_count() {
            Ok(count) => count,
            Err(error) => return missing(format!("the HIP runtime finds no driver: {error}")),
        };
        let describe = |number| match runtime.device(number) {
            Ok(device) => DeviceReport::new(device, compiled_for),
            Err(_) => DeviceReport::undescribed(number),
        };
        let devices = (0..count).map(describe).collect();
        let report = RuntimeReport::Loaded {
            path: runtime.path(),
            driver_version: runtime.driver_version().ok(),
            runtime_version: runtime.runtime_version().ok(),
        };
        Self { runtime: Some(runtime), report, devices }
    }
}

fn check_loaded(runtime: &RuntimeReport, folder: &Path) -> Check {
    let RuntimeReport::Loaded { path, .. } = runtime else {
        return Check::skipped(LOADED, "there is no HIP runtime");
    };
    // Links and `..` are no difference.
    let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let result = match path {
        None => Err("the system does not say where the HIP runtime was loaded from".into()),
        Some(path) if canonical(path).starts_with(canonical(folder)) => Ok(path.display().to_string()),
        Some(path) => Err(format!("`{}` does not lie in `{}`", path.display(), folder.display())),
    };
    Check::of(LOADED, result)
}

fn use_device(
    runtime: &Runtime,
    device: &DeviceReport,
    catalogue: Result<&Catalogue, &Error>,
    report: &mut Report,
) {
    let (catalogue, card) = match (device.cannot_run.as_deref(), catalogue, device.target()) {
        (None, Ok(catalogue), Some(card)) => (catalogue, card),
        (reason, _, _) => {
            let name =
                device.description.as_ref().map_or("device 0", |description| description.name.as_str());
            let reason = reason.unwrap_or("there are no code objects");
            let advice = "install the release for it, or name another card in HIP_VISIBLE_DEVICES";
            report.checks.push(Check::of(DEVICE, Err(format!("{name}: {reason}; {advice}"))));
            skip_rest(report, "the device cannot be used");
            return;
        }
    };
    let memory = match runtime.set_device(device.number).and_then(|()| runtime.memory_info()) {
        Ok(memory) => memory,
        Err(error) => {
            report.checks.push(Check::of(DEVICE, Err(error.to_string())));
            skip_rest(report, "the device cannot be used");
            return;
        }
    };
    report.checks.push(Check::of(DEVICE, Ok(format!("{card} can be used"))));
    report.memory = Some(Memory { total: memory.total, free: memory.free });
    let plan = Plan::new(CONTEXT, SHAPE);
    report.plan = plan.ok();
    report.checks.push(Check::of(PLAN, judge_plan(plan.map_err(|error| error.to_string()), memory)));
    if report.mode == Mode::Selftest {
        report.checks.extend(selftest::device_checks(runtime, memory, catalogue, card));
    }
}

fn judge_plan(plan: Result<Plan, String>, memory: MemoryInfo) -> Result<String, String> {
    let plan = plan?;
    let sizes = format!("{} bytes planned, {} free", plan.total, memory.free);
    if plan.fits(memory.free) { Ok(sizes) } else { Err(format!("does not fit: {sizes}")) }
}

fn skip_device(report: &mut Report, reason: &str) {
    report.checks.push(Check::skipped(DEVICE, reason));
    skip_rest(report, reason);
}

fn skip_rest(report: &mut Report, reason: &str) {
    report.checks.push(Check::skipped(PLAN, reason));
    if report.mode == Mode::Selftest {
        report.checks.extend(selftest::DEVICE_CHECKS.map(|name| Check::skipped(name, reason)));
    }
}

/// 1 when a check failed, 6 when there was nothing to check it on: no runtime, no GPU, or one that this release is not for. A list without a device
/// is a list all the same.
fn exit_code(report: &Report) -> u8 {
    let is_for_others = report.devices.first().is_some_and(|device| device.cannot_run.is_some());
    let is_without_runtime = matches!(report.runtime, RuntimeReport::Missing { .. });
    let is_without_gpu = report.mode != Mode::ListDevices && report.devices.is_empty();
    if report.checks.iter().any(|check| check.is_failed() && !(is_for_others && check.name == DEVICE)) {
        1
    } else if is_without_runtime || is_without_gpu || is_for_others && report.mode != Mode::ListDevices {
        6
    } else {
        0
    }
}
