//! GPUs of a Windows machine: rows of the registry, and a hipInfo.exe of our own in the dist.

use crate::built::HOST;
use crate::flow::{bootstrapped, with};
use crate::support::World;
use crate::wine::{command, scratch, text, windows};
use crate::world::{WRAPPED, world, xtask_ends};
use serde_json::Value;
use std::path::Path;
use std::sync::Once;

const CLASS: &str =
    r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}";

/// As drivers write them: memory as a number and as bytes, a card of another maker, rows without sense, and subkeys that are no adapters.
const ROWS: [(&str, &str); 6] = [
    (
        "0021",
        r#""DriverDesc"="AMD Radeon RX 9070 XT"
"DriverVersion"="32.0.31021.5001"
"MatchingDeviceId"="PCI\\VEN_1002&DEV_7550&REV_C0"
"HardwareInformation.qwMemorySize"=hex(b):00,00,00,00,04,00,00,00"#,
    ),
    (
        "0022",
        r#""DriverDesc"="AMD Radeon(TM) Graphics"
"DriverVersion"="32.0.31021.5001"
"MatchingDeviceId"="pci\\ven_1002&dev_13c0"
"HardwareInformation.qwMemorySize"=hex:00,00,00,20,00,00,00,00"#,
    ),
    (
        "0023",
        r#""DriverDesc"="ACME Thunder 9000"
"DriverVersion"="31.0.1"
"MatchingDeviceId"="PCI\\VEN_1002&DEV_744C"
"HardwareInformation.qwMemorySize"=hex(b):00,00,00,00,06,00,00,00"#,
    ),
    (
        "0024",
        r#""DriverDesc"="NVIDIA GeForce RTX 4090"
"MatchingDeviceId"="PCI\\VEN_10DE&DEV_2684""#,
    ),
    (
        "0025",
        r#""DriverDesc"=dword:00000007
"MatchingDeviceId"=hex:ff,fe,00
"HardwareInformation.qwMemorySize"="much""#,
    ),
    (
        "Configuration",
        r#""DriverDesc"="AMD Radeon RX 7900 XTX"
"MatchingDeviceId"="PCI\\VEN_1002&DEV_744C""#,
    ),
];

fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let rows =
            ROWS.map(|(name, values)| format!("[{CLASS}\\{name}]\r\n{}\r\n", values.replace('\n', "\r\n")));
        let file = scratch().join("cards.reg");
        let registry = format!("Windows Registry Editor Version 5.00\r\n\r\n{}", rows.join("\r\n"));
        std::fs::write(&file, registry).expect("write");
        let output =
            command(Path::new("regedit")).arg("/S").arg(windows(&file)).output().expect("Wine starts");
        assert!(output.status.success(), "{}", text(&output));
    });
}

/// What a command says for programs.
fn result(world: &World, arguments: &[&'static str]) -> Value {
    let run = xtask_ends(world, &with(&[&["--format", "json"], arguments].concat()));
    let mut events = run.stdout.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let found = events.rfind(|event| event["event"] == "result");
    found.unwrap_or_else(|| panic!("no result: {}{}", run.stdout, run.stderr))["result"].clone()
}

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

pub(crate) fn without_a_toolchain_the_registry_tells_the_gpus() {
    register();
    let (world, _server) = world(HOST, WRAPPED, &["dist"]);
    let doctor = result(&world, &["doctor"]);
    assert_eq!(
        gpus(&doctor),
        [
            "- AMD Radeon RX 9070 XT gfx1201 16.0 discrete 32.0.31021.5001 pci-id",
            "- AMD Radeon(TM) Graphics gfx1036 0.5 integrated 32.0.31021.5001 pci-id",
            "- ACME Thunder 9000 gfx1100 24.0 discrete 31.0.1 pci-id",
        ]
    );
    assert_eq!(doctor["native_targets"], serde_json::json!(["gfx1100", "gfx1201"]));
}

pub(crate) fn hip_info_of_the_toolchain_tells_the_gpus() {
    register();
    let doctor = result(bootstrapped(), &["doctor"]);
    assert_eq!(
        gpus(&doctor),
        [
            "0 AMD Radeon(TM) Graphics gfx1036 12.2 integrated 32.0.31021.5001 hipInfo",
            "1 AMD Radeon RX 9070 XT gfx1201 16.0 discrete 32.0.31021.5001 hipInfo",
            "- ACME Thunder 9000 gfx1100 24.0 discrete 31.0.1 pci-id",
        ]
    );
    let checks = doctor["checks"].as_array().expect("a list");
    let says = |words: &str| {
        checks.iter().any(|check| check["what"].as_str().is_some_and(|what| what.contains(words)))
    };
    assert!(says("HIP does not list ACME Thunder 9000"), "{checks:?}");
    assert!(says("the store, dist 10.0.0"), "the dist is an SDK of the store: {checks:?}");
    let plan = result(bootstrapped(), &["build", "--targets", "native", "--dry-run"]);
    let targets: Vec<&str> =
        plan["steps"].as_array().expect("a list").iter().filter_map(|step| step["target"].as_str()).collect();
    assert_eq!(targets, ["gfx1100", "gfx1201"]);
}
