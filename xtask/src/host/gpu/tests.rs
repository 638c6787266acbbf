//! Both worlds as plain data.

use super::hip_info::{Report, parse};
use super::merge::merge;
use super::registry::{Adapter, Row, Value, adapters};
use super::{Detection, Source};
use gfx::Target;

/// hipInfo as it prints: three devices, of which one is part of the processor (facts/strata.md 2.1).
const THREE: &str = include_str!("fixtures/three-devices.txt");

fn row(subkey: &str, id: &str, name: &str, memory: Option<Value>) -> Row {
    let text = |text: &str| Value::Text(text.to_owned());
    let mut values = std::collections::BTreeMap::from([
        ("DriverDesc".to_owned(), text(name)),
        ("DriverVersion".to_owned(), text("32.0.21013.1000")),
        ("ProviderName".to_owned(), text("Advanced Micro Devices, Inc.")),
        ("MatchingDeviceId".to_owned(), text(id)),
    ]);
    values.extend(memory.map(|memory| ("HardwareInformation.qwMemorySize".to_owned(), memory)));
    Row { subkey: subkey.to_owned(), values }
}

fn id(device: &str) -> String {
    format!("PCI\\VEN_1002&DEV_{device}&REV_C0")
}

fn seen(detection: &Detection) -> Vec<String> {
    let gpu = |gpu: &super::Gpu| {
        let number = gpu.number.map_or("-".to_owned(), |number| number.to_string());
        let gib =
            gpu.vram.map_or("?".to_owned(), |bytes| format!("{:.1}", bytes as f64 / (1u64 << 30) as f64));
        let place = if gpu.is_integrated { "integrated" } else { "discrete" };
        format!("{number} {} {gib} {place} {}", gpu.label(), gpu.source.name())
    };
    detection
        .gpus
        .iter()
        .map(gpu)
        .chain(detection.remarks.iter().map(|remark| format!("! {remark}")))
        .collect()
}

fn names(targets: Vec<Target>) -> Vec<&'static str> {
    targets.into_iter().map(Target::name).collect()
}

/// PCI id (empty: unknown to the table), name as a driver gives it, target (empty: none). The last rows are those that upstream's first table
/// sent to a wrong chip (facts/strata.md 2.4).
const REAL_CARDS: [(&str, &str, &str); 64] = [
    ("73BF", "AMD Radeon RX 6800", "gfx1030"),
    ("73BF", "AMD Radeon RX 6800 XT", "gfx1030"),
    ("73BF", "AMD Radeon RX 6900 XT", "gfx1030"),
    ("73AF", "AMD Radeon RX 6900 XT", "gfx1030"),
    ("73A5", "AMD Radeon RX 6950 XT", "gfx1030"),
    ("73A3", "AMD Radeon PRO W6800", "gfx1030"),
    ("", "AMD Radeon PRO V620", "gfx1030"),
    ("73DF", "AMD Radeon RX 6700 XT", "gfx1031"),
    ("73DF", "AMD Radeon RX 6750 XT", "gfx1031"),
    ("73DF", "AMD Radeon RX 6700", "gfx1031"),
    ("73FF", "AMD Radeon RX 6600", "gfx1032"),
    ("73FF", "AMD Radeon RX 6600 XT", "gfx1032"),
    ("73EF", "AMD Radeon RX 6650 XT", "gfx1032"),
    ("73E3", "AMD Radeon PRO W6600", "gfx1032"),
    ("73FF", "AMD Radeon RX 6600M", "gfx1032"),
    ("743F", "AMD Radeon RX 6500 XT", "gfx1034"),
    ("743F", "AMD Radeon RX 6400", "gfx1034"),
    ("1681", "AMD Radeon(TM) 680M", "gfx1035"),
    ("1681", "AMD Radeon(TM) Graphics", "gfx1035"),
    ("164E", "AMD Radeon(TM) Graphics", "gfx1036"),
    ("13C0", "AMD Radeon(TM) Graphics", "gfx1036"),
    ("744C", "AMD Radeon RX 7900 XTX", "gfx1100"),
    ("744C", "AMD Radeon RX 7900 XT", "gfx1100"),
    ("744C", "AMD Radeon RX 7900 GRE", "gfx1100"),
    ("744C", "AMD Radeon RX 7900M", "gfx1100"),
    ("7448", "AMD Radeon PRO W7900", "gfx1100"),
    ("747E", "AMD Radeon RX 7800 XT", "gfx1101"),
    ("747E", "AMD Radeon RX 7700 XT", "gfx1101"),
    ("747E", "AMD Radeon RX 7700", "gfx1101"),
    ("7470", "AMD Radeon PRO W7700", "gfx1101"),
    ("", "AMD Radeon PRO V710", "gfx1101"),
    ("7480", "AMD Radeon RX 7600", "gfx1102"),
    ("7480", "AMD Radeon RX 7600 XT", "gfx1102"),
    ("7480", "AMD Radeon RX 7650 GRE", "gfx1102"),
    ("7483", "AMD Radeon RX 7600M", "gfx1102"),
    ("7480", "AMD Radeon PRO W7600", "gfx1102"),
    ("7489", "AMD Radeon PRO W7500", "gfx1102"),
    ("15BF", "AMD Radeon 780M Graphics", "gfx1103"),
    ("15C8", "AMD Radeon 740M Graphics", "gfx1103"),
    ("1900", "AMD Radeon(TM) 780M", "gfx1103"),
    ("150E", "AMD Radeon(TM) 890M Graphics", "gfx1150"),
    ("150E", "AMD Radeon(TM) 880M Graphics", "gfx1150"),
    ("1586", "AMD Radeon(TM) 8060S Graphics", "gfx1151"),
    ("1586", "AMD Radeon(TM) 8050S Graphics", "gfx1151"),
    ("1586", "AMD Radeon(TM) 8040S Graphics", "gfx1151"),
    ("1114", "AMD Radeon(TM) 860M Graphics", "gfx1152"),
    ("1902", "AMD Radeon(TM) 840M Graphics", "gfx1152"),
    ("7590", "AMD Radeon RX 9060 XT", "gfx1200"),
    ("7590", "AMD Radeon RX 9060", "gfx1200"),
    ("7550", "AMD Radeon RX 9070 XT", "gfx1201"),
    ("7550", "AMD Radeon RX 9070", "gfx1201"),
    ("7550", "AMD Radeon RX 9070 GRE", "gfx1201"),
    ("7551", "AMD Radeon AI PRO R9700", "gfx1201"),
    ("7340", "AMD Radeon RX 5500 XT", ""),
    ("66AF", "AMD Radeon VII", ""),
    ("67DF", "Radeon RX 580 Series", ""),
    // A vendor's own name on a known chip.
    ("744C", "ACME Thunder 9000", "gfx1100"),
    ("745E", "AMD Radeon PRO W7800", "gfx1100"),
    ("", "AMD Radeon PRO W7800 48GB", "gfx1100"),
    ("7480", "AMD Radeon RX 7700S", "gfx1102"),
    ("73DF", "AMD Radeon RX 6800M", "gfx1031"),
    ("73EF", "AMD Radeon RX 6800S", "gfx1032"),
    ("73EF", "AMD Radeon RX 6700S", "gfx1032"),
    ("", "AMD Radeon RX 6700S", "gfx1032"),
];

#[test]
fn real_cards_get_their_target_by_id_and_by_name() {
    for (device, name, target) in REAL_CARDS {
        let id = if device.is_empty() { "PCI\\VEN_1002".to_owned() } else { id(device) };
        let found = adapters(&[row("0000", &id, name, None)], None);
        assert_eq!(found[0].target().map_or("", Target::name), target, "{device} {name}");
        let is_plain = !name.contains("(TM) Graphics") && !name.contains("ACME");
        let by_name = gfx::target_of_card_name(name).map_or("", Target::name);
        assert!(!is_plain || by_name == target, "{name} alone: {by_name}");
    }
}

#[test]
fn hip_info_as_it_prints() {
    let report = parse(THREE);
    assert_eq!(report.failure, None);
    let plain: Vec<_> = report
        .devices
        .iter()
        .map(|device| (device.number, device.name.as_deref(), device.arch.as_deref(), device.is_integrated))
        .collect();
    assert_eq!(
        plain,
        [
            (0, Some("AMD Radeon(TM) Graphics"), Some("gfx1036"), Some(true)),
            (1, Some("AMD Radeon RX 9070 XT"), Some("gfx1201"), Some(false)),
            (2, Some("AMD Radeon RX 6800 XT"), Some("gfx1030"), Some(false)),
        ]
    );
    assert_eq!(report.devices[1].memory, Some((15.92 * f64::from(1 << 30)) as u64));
    assert_eq!(parse(&THREE.replace('\n', "\r\n")), report, "line ends");
    let indented: String = THREE.lines().map(|line| format!("    {line}\n")).collect();
    assert_eq!(parse(&indented), report, "the other shape");
}

#[test]
fn hip_info_with_holes() {
    let one = |text: &str| parse(text).devices.remove(0);
    let shuffled =
        parse("device#  3\nName: A\ngcnArchName: gfx1100\ndevice# 0\nName:\ngcnArchName: GFX1201:xnack-\n");
    let numbers: Vec<u32> = shuffled.devices.iter().map(|device| device.number).collect();
    assert_eq!(numbers, [3, 0], "the printed number, not the order");
    assert_eq!(
        (shuffled.devices[1].name.clone(), shuffled.devices[1].arch.as_deref()),
        (None, Some("gfx1201"))
    );
    let bare = one("device# 0\n");
    assert_eq!((bare.arch, bare.memory, bare.is_integrated), (None, None, None));
    assert_eq!(one("device# 0\ngcnArch: 900\n").arch.as_deref(), Some("gfx900"), "very old builds");
    let wrong = one("device# 0\ntotalGlobalMem: 0.16 GB\nmemInfo.total: 15.98 GB\n");
    assert_eq!(wrong.memory, Some((15.98 * f64::from(1 << 30)) as u64), "0.16 GB of an RX 6950 XT");
    assert_eq!(one("device# 0\ntotalGlobalMem: lots GB\nmemInfo.total: 0.00 GB\n").memory, None);
}

#[test]
fn hip_info_without_a_device_says_why() {
    for (text, failure) in [
        ("No devices found.\r\n", "No devices found."),
        (
            "checkHipErrors() HIP API error = 0100 \"no ROCm-capable device is detected\" from file <x>, line 1",
            "checkHipErrors() HIP API error = 0100 \"no ROCm-capable device is detected\" from file <x>, line 1",
        ),
        ("", "it names no device"),
        ("\u{fffd}\u{0}garbage\n:::\n", "it names no device"),
    ] {
        assert_eq!(parse(text), Report { devices: Vec::new(), failure: Some(failure.to_owned()) }, "{text}");
    }
}

#[test]
fn a_registry_with_garbage() {
    let gib16: u64 = 16 << 30;
    let bytes = |number: u64| Value::Bytes(number.to_le_bytes().to_vec());
    let unreadable = Row { subkey: "Properties".to_owned(), values: std::collections::BTreeMap::new() };
    let mut small = row("0007", &id("7480"), "AMD Radeon RX 7600", None);
    small.values.insert("hardwareinformation.memorysize".to_owned(), Value::Bytes(vec![0, 0, 0, 0xFF]));
    let nameless = Row {
        subkey: "0008".to_owned(),
        values: [("MatchingDeviceId".to_owned(), Value::Text(id("7550")))].into(),
    };
    let rows = [
        unreadable,
        row("0000", &id("744C"), "AMD Radeon RX 7900 XTX\0", Some(Value::Number(24 << 30))),
        row("0001", &id("7550"), "AMD Radeon RX 9070 XT", Some(bytes(gib16))),
        row("0002", "PCI\\VEN_10DE&DEV_2684", "NVIDIA GeForce RTX 4090", Some(Value::Number(24 << 30))),
        row(
            "0003",
            "ROOT\\BasicDisplay",
            "Microsoft Basic Display Adapter",
            Some(Value::Text("16".to_owned())),
        ),
        row("0004", &id("73DF"), "AMD Radeon RX 6700 XT", Some(Value::Bytes(vec![1, 2, 3]))),
        row("0005", &id("ZZZZ"), "AMD Radeon RX 7800 XT", Some(Value::Number(0))),
        row("Configuration", &id("744C"), "AMD Radeon RX 7900 XTX", None),
        row("00a6", &id("744C"), "AMD Radeon RX 7900 XTX", None),
        small,
        nameless,
    ];
    let found = adapters(&rows, None);
    let plain: Vec<_> = found
        .iter()
        .map(|adapter| {
            (adapter.name.as_deref().unwrap_or("-"), adapter.target().map_or("-", Target::name), adapter.vram)
        })
        .collect();
    assert_eq!(
        plain,
        [
            ("AMD Radeon RX 7900 XTX", "gfx1100", Some(24 << 30)),
            ("AMD Radeon RX 9070 XT", "gfx1201", Some(gib16)),
            // No PCI vendor, but the maker is named: kept, and refused by name.
            ("Microsoft Basic Display Adapter", "-", None),
            ("AMD Radeon RX 6700 XT", "gfx1031", None),
            ("AMD Radeon RX 7800 XT", "gfx1101", None),
            ("AMD Radeon RX 7600", "gfx1102", Some(0xFF00_0000)),
            ("-", "gfx1201", None),
        ]
    );
    insta::assert_snapshot!(seen(&merge(None, &found)).join("\n"));
    assert_eq!(adapters(&[], None), []);
}

#[test]
fn cards_that_were_taken_out_do_not_count() {
    let rows = [
        row("0000", &id("73BF"), "AMD Radeon RX 6800 XT", None),
        row("0001", &id("7550"), "AMD Radeon RX 9070 XT", None),
    ];
    let names =
        |found: Vec<Adapter>| found.into_iter().filter_map(|adapter| adapter.name).collect::<Vec<_>>();
    assert_eq!(names(adapters(&rows, Some(&["0001".to_owned()]))), ["AMD Radeon RX 9070 XT"]);
    assert_eq!(names(adapters(&rows, None)).len(), 2, "where Windows does not say");
}

#[test]
fn both_sources_make_one_list() {
    let rows = [
        row("0000", &id("73BF"), "AMD Radeon RX 6800 XT", Some(Value::Number(16 << 30))),
        row("0001", &id("13C0"), "AMD Radeon(TM) Graphics", Some(Value::Number(512 << 20))),
        row("0002", &id("7550"), "AMD Radeon RX 9070 XT", Some(Value::Number(16 << 30))),
        row("0003", &id("744C"), "AMD Radeon RX 7900 XTX", Some(Value::Number(24 << 30))),
    ];
    let detection = merge(Some(&parse(THREE)), &adapters(&rows, None));
    assert_eq!(
        seen(&detection),
        [
            "0 AMD Radeon(TM) Graphics (gfx1036) 12.2 integrated hipInfo",
            "1 AMD Radeon RX 9070 XT (gfx1201) 16.0 discrete hipInfo",
            "2 AMD Radeon RX 6800 XT (gfx1030) 16.0 discrete hipInfo",
            "- AMD Radeon RX 7900 XTX (gfx1100) 24.0 discrete pci-id",
            "! HIP does not list AMD Radeon RX 7900 XTX: its driver is too old, or the card is switched off",
        ]
    );
    assert_eq!(names(detection.native_targets()), ["gfx1100", "gfx1201", "gfx1030"]);
    assert!(detection.gpus.iter().all(|gpu| gpu.driver.as_deref() == Some("32.0.21013.1000")));
}

#[test]
fn the_runtime_counts_where_the_sources_differ() {
    let rows = [row("0000", &id("1586"), "AMD Radeon(TM) 8060S Graphics", None)];
    let text = "device# 0\nName: AMD Radeon(TM) 8060S Graphics\ngcnArchName: gfx1150\nisIntegrated: 0\n";
    let detection = merge(Some(&parse(text)), &adapters(&rows, None));
    assert_eq!(
        seen(&detection),
        [
            "0 AMD Radeon(TM) 8060S Graphics (gfx1150) ? integrated hipInfo",
            "! GPU 0: hipInfo says gfx1150, its PCI id 1002:1586 is gfx1151's",
        ]
    );
}

#[test]
fn without_hip_the_registry_tells() {
    let rows = [
        row("0000", &id("7340"), "AMD Radeon RX 5500 XT", None),
        row("0001", "PCI\\VEN_1002", "AMD Radeon PRO W7800 48GB", Some(Value::Number(48 << 30))),
    ];
    let failed = parse("No devices found.");
    let detection = merge(Some(&failed), &adapters(&rows, None));
    assert_eq!(
        seen(&detection),
        [
            "- AMD Radeon RX 5500 XT ? discrete name",
            "- AMD Radeon PRO W7800 48GB (gfx1100) 48.0 discrete name",
            "! hipInfo finds no device: No devices found.",
        ]
    );
    assert_eq!(detection.gpus[0].refusal().as_deref(), Some("neither its PCI id nor its name is known"));
    assert_eq!(detection.gpus[1].source, Source::Name);
    assert_eq!(merge(None, &[]), Detection::default());
}

#[test]
fn native_means_the_cards_that_somebody_builds_for() {
    let native = |text: &str| names(merge(Some(&parse(text)), &[]).native_targets());
    let device = |number: u32, arch: &str, gib: &str, integrated: u8| {
        format!(
            "device# {number}\ngcnArchName: {arch}\ntotalGlobalMem: {gib} GB\nisIntegrated: {integrated}\n"
        )
    };
    let apu = device(0, "gfx1151", "96.00", 1);
    let small = device(0, "gfx1036", "12.20", 1);
    assert_eq!(
        native(&(apu.clone() + &device(1, "gfx1201", "15.92", 0))),
        ["gfx1201"],
        "most memory does not win"
    );
    assert_eq!(native(&apu), ["gfx1151"], "an integrated GPU alone");
    assert_eq!(native(&small), Vec::<&str>::new(), "one that cannot run it");
    let two = device(1, "gfx1030", "15.98", 0)
        + &device(2, "gfx1100", "23.98", 0)
        + &device(3, "gfx1100", "23.98", 0);
    assert_eq!(native(&(small + &two)), ["gfx1100", "gfx1030"], "two families, each once");
    assert_eq!(native(&device(0, "gfx906", "16.00", 0)), Vec::<&str>::new());
}

#[cfg(unix)]
#[test]
fn hip_info_is_started_in_its_own_folder() {
    use std::os::unix::fs::PermissionsExt;
    let disk = tempfile::tempdir().expect("temp");
    let root = |name: &str, script: Option<&str>| {
        let bin = disk.path().join(name).join("bin");
        std::fs::create_dir_all(&bin).expect("folder");
        if let Some(script) = script {
            std::fs::write(bin.join("device.txt"), THREE).expect("write");
            std::fs::write(bin.join("hipInfo.exe"), script).expect("write");
            std::fs::set_permissions(bin.join("hipInfo.exe"), std::fs::Permissions::from_mode(0o755))
                .expect("chmod");
        }
        disk.path().join(name)
    };
    let without = root("without", None);
    let good = root("good", Some("#!/bin/sh\n[ -z \"$HIP_VISIBLE_DEVICES\" ] && cat device.txt\n"));
    let failing = root("failing", Some("#!/bin/sh\necho 'No devices found.' >&2; exit 1\n"));
    let broken = root("broken", Some("#!/nowhere/interpreter\n"));
    let detect = |roots: &[&std::path::PathBuf]| {
        super::windows::detect(&roots.iter().copied().cloned().collect::<Vec<_>>())
    };
    assert_eq!(names(detect(&[&without, &good, &failing]).native_targets()), ["gfx1030", "gfx1201"]);
    assert_eq!(seen(&detect(&[&failing, &good])), ["! hipInfo finds no device: No devices found."]);
    let remarks = detect(&[&broken]).remarks.join("");
    assert!(remarks.contains("broken/bin/hipInfo.exe` does not answer"), "{remarks}");
}
