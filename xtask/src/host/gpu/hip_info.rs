//! What `hipInfo.exe` prints (facts/strata.md 2.1): blocks of `key: value`, indented or not, one for each device.

use std::collections::BTreeMap;

/// What one run of hipInfo tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Report {
    /// In the order of the text.
    pub(super) devices: Vec<Device>,
    /// Why there are none, in the runtime's words.
    pub(super) failure: Option<String>,
}

/// One device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Device {
    /// As it is printed: the order of the blocks is not the numbering.
    pub(super) number: u32,
    /// `None` where it is blank.
    pub(super) name: Option<String>,
    /// Without features, e.g. `gfx1030`.
    pub(super) arch: Option<String>,
    /// In bytes, as precise as two decimals of a GB are.
    pub(super) memory: Option<u64>,
    /// `isIntegrated`.
    pub(super) is_integrated: Option<bool>,
}

/// Words of a runtime that finds no device (ZLUDA#659 and hipInfo's own).
const FAILURES: [&str; 4] = ["no devices found", "no rocm-capable device", "hip api error", "hiperror"];

/// Takes both streams of hipInfo, in any order.
pub(super) fn parse(text: &str) -> Report {
    let mut devices: Vec<Device> = Vec::new();
    let mut block: Option<(u32, BTreeMap<&str, &str>)> = None;
    let mut failure = None;
    for line in text.lines().map(str::trim) {
        if let Some(number) = device_number(line) {
            devices.extend(block.replace((number, BTreeMap::new())).map(device));
        } else if let (Some((_, values)), Some((key, value))) = (&mut block, line.split_once(':')) {
            values.entry(key.trim()).or_insert(value.trim());
        }
        let words = line.to_lowercase();
        if failure.is_none() && FAILURES.iter().any(|known| words.contains(known)) {
            failure = Some(line.to_owned());
        }
    }
    devices.extend(block.map(device));
    match devices.is_empty() {
        true => Report { devices, failure: failure.or_else(|| Some("it names no device".to_owned())) },
        false => Report { devices, failure: None },
    }
}

/// `device#      1`, the only line of a block without a colon; lists of peers have `device#1` and more beside it.
fn device_number(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("device#")?;
    rest.strip_prefix(':').unwrap_or(rest).trim().parse().ok()
}

fn device((number, values): (u32, BTreeMap<&str, &str>)) -> Device {
    let text = |key: &str| values.get(key).copied().filter(|value| !value.is_empty());
    let named = text("gcnArchName").and_then(|value| value.split(':').next()).map(str::trim);
    // Very old builds print only a number.
    let numbered = text("gcnArch").filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
    // One of both has been seen to be wrong by a factor of 100, the other not at the same time (legacy-rocm-build#5105).
    let memory = ["totalGlobalMem", "memInfo.total"].into_iter().filter_map(|key| bytes(text(key)?)).max();
    Device {
        number,
        name: text("Name").map(str::to_owned),
        arch: named.map(str::to_lowercase).or(numbered.map(|number| format!("gfx{number}"))),
        memory: memory.filter(|bytes| *bytes > 0),
        is_integrated: text("isIntegrated").and_then(|value| match value {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }),
    }
}

/// `15.92 GB`, in powers of two.
fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = text.split_once(' ')?;
    let unit = match unit.split_whitespace().next()? {
        "KB" => 1u64 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    let number: f64 = number.parse().ok().filter(|number: &f64| *number >= 0.0 && *number < 1e6)?;
    Some((number * unit as f64) as u64)
}
