//! The report as text: stdout carries data, stderr carries talk.

use super::{Mode, Report, RuntimeReport};
use crate::device::DeviceReport;
use crate::selftest::{Check, Outcome};
use std::fmt::Write;

/// What goes to stdout, and what goes to stderr. Lines and their words are a contract with scripts (facts/strata.md 1.5).
pub fn human(report: &Report) -> (String, String) {
    let out = match report.mode {
        Mode::ListDevices => list(report),
        Mode::Device => device(report),
        Mode::Selftest => device(report) + &selftest(report),
    };
    (out, talk(report))
}

fn list(report: &Report) -> String {
    if report.devices.is_empty() {
        return "(no GPU device)\n".into();
    }
    report.devices.iter().map(list_one).collect()
}

fn list_one(device: &DeviceReport) -> String {
    let Some(described) = &device.description else {
        return format!("device {}: (the runtime cannot describe it)\n", device.number);
    };
    let mut text = format!("device {}: {}\n", device.number, described.name);
    let gib = gib(described.total_memory);
    line(&mut text, format_args!("  arch {}, {gib:.1} GiB, wave{}", described.arch, described.wave_size));
    if let Some(reason) = &device.cannot_run {
        line(&mut text, format_args!("  cannot run: {reason}"));
    }
    text
}

/// The first device and its plan; nothing where there is none.
fn device(report: &Report) -> String {
    let mut text = String::new();
    let (Some(device), RuntimeReport::Loaded { path, driver_version, runtime_version }) =
        (report.devices.first().and_then(|device| device.description.as_ref()), &report.runtime)
    else {
        return text;
    };
    line(&mut text, format_args!("{}", device.name));
    let compiled_for = report.compiled_for.join(",");
    line(
        &mut text,
        format_args!("HIP arch {} wave{} (compiled for {compiled_for})", device.arch, device.wave_size),
    );
    line(&mut text, format_args!("multiprocessors {}", device.multiprocessors));
    if let Some(memory) = report.memory {
        let (total, free) = (gib(memory.total), gib(memory.free));
        let bytes = format_args!("({} / {} bytes)", memory.total, memory.free);
        line(&mut text, format_args!("VRAM total / free {total:.2} GiB / {free:.2} GiB {bytes}"));
    }
    let version = |version: &Option<i32>| version.map_or("unknown".to_owned(), |version| version.to_string());
    line(
        &mut text,
        format_args!("driver / runtime {} / {}", version(driver_version), version(runtime_version)),
    );
    if let Some(path) = path {
        line(&mut text, format_args!("HIP runtime {}", path.display()));
    }
    for path in &report.libraries {
        line(&mut text, format_args!("  loaded {}", path.display()));
    }
    if let (Some(plan), Some(memory)) = (report.plan, report.memory) {
        line(&mut text, format_args!("memory plan for a {}-cell context, without weights", plan.context));
        for (name, bytes) in [
            ("KV cache", plan.kv_cache),
            ("arena", plan.arena),
            ("reserve", plan.reserve),
            ("plan + KV", plan.total),
        ] {
            line(&mut text, format_args!("  {name:<10}{:>6.2} GiB", gib(bytes)));
        }
        line(&mut text, format_args!("card free   {:>6.2} GiB", gib(memory.free)));
        let verdict = if plan.fits(memory.free) { "FITS" } else { "*** DOES NOT FIT ***" };
        line(&mut text, format_args!("plan + KV vs free   {verdict}"));
    }
    text
}

/// A line for each check, one for all that were skipped for the same reason, and the verdict only where every check passed.
fn selftest(report: &Report) -> String {
    let mut text = String::new();
    if let RuntimeReport::Missing { reason } = &report.runtime {
        line(&mut text, format_args!("no GPU is used: {reason}"));
    } else if report.devices.is_empty() {
        line(&mut text, format_args!("no GPU is used: the HIP runtime was loaded and lists no device"));
    }
    for check in &report.checks {
        match &check.outcome {
            Outcome::Passed(detail) => line(&mut text, format_args!("checked  {}: {detail}", check.name)),
            Outcome::Failed(reason) => line(&mut text, format_args!("FAILED   {}: {reason}", check.name)),
            Outcome::Skipped(_) => {}
        }
    }
    for (reason, names) in skipped(&report.checks) {
        line(&mut text, format_args!("skipped  {}: {reason}", names.join(", ")));
    }
    if report.checks.iter().all(|check| matches!(check.outcome, Outcome::Passed(_))) {
        line(&mut text, format_args!("strata-device selftest OK"));
    }
    text
}

/// The names of skipped checks by reason, in their order.
fn skipped(checks: &[Check]) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for check in checks {
        let Outcome::Skipped(reason) = &check.outcome else { continue };
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(check.name),
            None => groups.push((reason, vec![check.name])),
        }
    }
    groups
}

/// What went wrong.
fn talk(report: &Report) -> String {
    let mut text = String::new();
    for check in &report.checks {
        if let Outcome::Failed(reason) = &check.outcome {
            line(&mut text, format_args!("strata-device: {}: {reason}", check.name));
        }
    }
    match (&report.runtime, report.mode) {
        // The self-test has said it among its lines.
        (_, Mode::Selftest) => {}
        (RuntimeReport::Missing { reason }, _) => {
            line(&mut text, format_args!("strata-device: {reason}"));
        }
        (RuntimeReport::Loaded { .. }, Mode::Device) if report.devices.is_empty() => {
            line(&mut text, format_args!("strata-device: the HIP runtime was loaded and lists no device"));
        }
        _ => {}
    }
    text
}

fn line(text: &mut String, content: std::fmt::Arguments) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{content}");
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}
