//! GPUs of a Windows machine, as a hipInfo.exe of our own in the dist tells them.
//!
//! The registry's rows have no check here: Wine's desktop makes their class anew whenever it begins. Their rules are tables in `host::gpu::tests`.

use crate::flow::{bootstrapped, with};
use crate::world::xtask_ends;
use serde_json::Value;

fn gpus(doctor: &Value) -> Vec<String> {
    let gpu = |gpu: &Value| {
        let gib = gpu["vram_bytes"].as_u64().unwrap_or(0) as f64 / f64::from(1 << 30);
        let word = |name: &str| gpu[name].as_str().unwrap_or("-").to_owned();
        let number = gpu["number"].as_u64().map_or("-".to_owned(), |number| number.to_string());
        let kind = if gpu["integrated"] == true { "integrated" } else { "discrete" };
        [
            number,
            word("name"),
            word("target"),
            format!("{gib:.1}"),
            kind.to_owned(),
            word("driver"),
            word("source"),
        ]
        .join(" ")
    };
    doctor["gpus"].as_array().expect("a list").iter().map(gpu).collect()
}

pub(crate) fn hip_info_of_the_toolchain_tells_the_gpus() {
    let run = xtask_ends(bootstrapped(), &with(&["--format", "json", "doctor"]));
    let mut events = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = events.rfind(|event| event["event"] == "result");
    let doctor = found.unwrap_or_else(|| panic!("no result: {}{}", run.stdout, run.stderr))["result"].clone();
    assert_eq!(
        gpus(&doctor),
        [
            "0 AMD Radeon(TM) Graphics gfx1036 12.2 integrated - hipInfo",
            "1 AMD Radeon RX 9070 XT gfx1201 15.9 discrete - hipInfo",
        ]
    );
    let checks = doctor["checks"].as_array().expect("a list");
    let is_sdk =
        |check: &Value| check["what"].as_str().is_some_and(|what| what.contains("the store, dist 10.0.0"));
    assert!(checks.iter().any(is_sdk), "the dist is an SDK of the store: {checks:?}");
}
