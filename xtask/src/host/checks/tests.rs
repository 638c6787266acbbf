//! A good machine of each system, and what can be wrong with one.

use super::{Check, checks};
use crate::host::gpu::{Detection, Gpu, Source};
use crate::host::machine::{Hindrance, Machine, Needed, Runtime, State, Toolchain, Volume};
use crate::host::programs::Program;
use crate::host::sdk::{self, Sdk};
use crate::host::visual_studio::{Candidate, Instance, Refusal, Survey, Toolset, WindowsSdk};
use crate::lock::{Host, Part};
use crate::store::Layout;
use gfx::Target;
use std::path::PathBuf;

const GIB: u64 = 1 << 30;

fn gpu(number: Option<u32>, name: &str, arch: &str, gib: u64) -> Gpu {
    let target = Target::parse(arch).ok();
    Gpu {
        number,
        name: Some(name.to_owned()),
        arch: (!arch.is_empty()).then(|| arch.to_owned()),
        target,
        vram: Some(gib * GIB),
        is_integrated: target.is_some_and(gfx::is_integrated),
        driver: None,
        source: if number.is_some() { Source::HipInfo } else { Source::PciId },
    }
}

fn linux() -> Machine {
    let program = |name, version: &str| Needed {
        name,
        minimum: [3, 9],
        purpose: None,
        found: Some(Program {
            path: format!("/usr/bin/{name}").into(),
            version: version.to_owned(),
            is_new_enough: true,
        }),
        install: "apt-get install it",
    };
    let volume = |what, path: &str| Volume {
        what,
        path: path.into(),
        free: Some(80_000_000_000),
        needed: 0,
        option: "--store DIR",
    };
    Machine {
        host: Host::Linux,
        toolchains: vec![
            Toolchain { name: "lite".into(), rocm: "5.7.1".into(), state: State::Installed(5) },
            Toolchain {
                name: "therock-10.0.0".into(),
                rocm: "10.0.0".into(),
                state: State::Missing("therock-multiarch is missing".into(), 2_282_922_923),
            },
        ],
        chosen: "lite".into(),
        targets: ["gfx1100", "gfx1201"].map(|name| Target::parse(name).expect(name)).into(),
        sdks: Vec::new(),
        gpus: Detection {
            gpus: vec![gpu(Some(0), "AMD Radeon RX 9070 XT", "gfx1201", 16)],
            remarks: Vec::new(),
        },
        kernel_driver: Some("6.12.12".into()),
        runtimes: vec![Runtime {
            library: "libamdhip64.so.7",
            path: "/usr/lib/libamdhip64.so.7".into(),
            found_by: "ldconfig".into(),
            version: Some("7.15.26333".into()),
        }],
        own_runtime: None,
        studio: None,
        programs: vec![program("cmake", "3.25.1"), program("ninja", "1.11.1"), program("python3", "3.11.2")],
        hindrances: Vec::new(),
        volumes: vec![volume("the store", "/src/store"), volume("temporary files", "/tmp")],
        longest_path: Some(280),
        long_paths: None,
        page_file: None,
        variables: [("HOME".to_owned(), "/home/x".to_owned())].into(),
    }
}

fn windows() -> Machine {
    let volume = |what, path: &str| Volume {
        what,
        path: path.into(),
        free: Some(80_000_000_000),
        needed: 0,
        option: "--store DIR",
    };
    let program = |name, path: &str, version: &str| Needed {
        name,
        minimum: [3, 9],
        purpose: None,
        found: Some(Program { path: path.into(), version: version.to_owned(), is_new_enough: true }),
        install: "winget install it",
    };
    let mut card = gpu(Some(0), "AMD Radeon RX 9070 XT", "gfx1201", 16);
    card.driver = Some("32.0.31021.5001".into());
    Machine {
        host: Host::WindowsMsvc,
        toolchains: vec![Toolchain {
            name: "therock-10.0.0".into(),
            rocm: "10.0.0".into(),
            state: State::Installed(4),
        }],
        chosen: "therock-10.0.0".into(),
        gpus: Detection { gpus: vec![card], remarks: Vec::new() },
        kernel_driver: None,
        runtimes: vec![Runtime {
            library: "amdhip64_7.dll",
            path: r"C:\Windows\System32\amdhip64_7.dll".into(),
            found_by: "System32".into(),
            version: Some("7.15.26333.0".into()),
        }],
        own_runtime: Some("7.15.26333.0".into()),
        studio: Some(studio(vec![build_tools()], "")),
        volumes: vec![volume("the store", r"C:\s"), volume("temporary files", r"C:\Temp")],
        longest_path: Some(180),
        long_paths: Some(true),
        page_file: Some(true),
        variables: Default::default(),
        programs: vec![
            program("cmake", r"C:\Program Files\CMake\bin\cmake.exe", "4.1.0"),
            program("ninja", r"C:\ninja\ninja.exe", "1.13.1"),
            program("python", r"C:\Python313\python.exe", "3.13.2"),
        ],
        ..linux()
    }
}

fn instance(name: &str, version: &str, place: &str, verdict: Result<&str, Refusal>) -> Candidate {
    let path = PathBuf::from(format!(r"C:\VS\{place}"));
    let toolset = |version: &str| Toolset {
        version: version.to_owned(),
        script: path.join("vcvars64.bat"),
        redist: None,
    };
    Candidate {
        verdict: verdict.map(toolset),
        instance: Instance {
            name: name.to_owned(),
            version: version.to_owned(),
            path: path.clone(),
            is_preview: false,
            is_complete: true,
        },
    }
}

fn build_tools() -> Candidate {
    instance("Visual Studio Build Tools 2022", "17.14.36414.22", "2022", Ok("14.44.35207"))
}

fn studio(candidates: Vec<Candidate>, without: &str) -> Survey {
    let missing = Vec::from_iter((!without.is_empty()).then(|| without.to_owned()));
    let sdk = WindowsSdk { version: "10.0.26100.0".into(), root: r"C:\Kits\10".into(), missing };
    Survey { candidates, sdks: vec![sdk], looked: Vec::new() }
}

fn sdk(origin: &str, path: &str, verdict: Result<&str, sdk::Refusal>) -> sdk::Candidate {
    let good =
        |version: &str| Sdk { version: version.to_owned(), layout: Layout { parts: Default::default() } };
    sdk::Candidate { origin: origin.to_owned(), path: path.into(), verdict: verdict.map(good) }
}

fn incomplete() -> sdk::Refusal {
    let part = Part::DeviceLibs.name();
    sdk::Refusal::Incomplete(crate::store::LayoutError {
        missing: vec![(part, vec!["amdgcn/bitcode/ocml.bc".into()])],
    })
}

fn text(checks: &[Check]) -> String {
    let line = |check: &Check| {
        let mend = check.mend.as_ref().map(|mend| format!("\n           {mend}")).unwrap_or_default();
        format!("  {:<8} {}{mend}", check.verdict.word(), check.what)
    };
    checks.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn both_systems_are_told_in_the_same_words() {
    let all = |machine: &Machine| text(&checks(machine));
    insta::assert_snapshot!(format!("# Linux\n{}\n\n# Windows\n{}", all(&linux()), all(&windows())));
    // The same findings on both, apart from their facts.
    let topics = |machine: &Machine| {
        let mut topics: Vec<&str> = checks(machine).iter().map(|check| check.topic).collect();
        topics.dedup();
        topics
    };
    assert_eq!(topics(&linux()), topics(&windows()));
}

/// What differs from the good machine.
fn difference(good: &Machine, changed: &Machine) -> String {
    let before = checks(good);
    let new: Vec<Check> = checks(changed).into_iter().filter(|check| !before.contains(check)).collect();
    text(&new)
}

#[test]
fn what_is_wrong_is_named_with_what_mends_it() {
    let mut texts = Vec::new();
    let mut case = |title: &str, good: fn() -> Machine, change: &dyn Fn(&mut Machine)| {
        let mut changed = good();
        change(&mut changed);
        texts.push(format!("# {title}\n{}", difference(&good(), &changed)));
    };
    let none = Detection::default;
    case("no GPU", linux, &|m| {
        m.gpus = none();
        m.runtimes.clear();
    });
    case("two GPUs of different families", linux, &|m| {
        m.gpus.gpus.push(gpu(Some(1), "AMD Radeon RX 6800 XT", "gfx1030", 16));
    });
    case("an integrated GPU only, which is no target", windows, &|m| {
        m.gpus.gpus = vec![gpu(Some(0), "AMD Radeon(TM) Graphics", "gfx1036", 12)];
    });
    case("an integrated GPU only, which is one", windows, &|m| {
        m.gpus.gpus = vec![gpu(Some(0), "AMD Radeon(TM) 8060S Graphics", "gfx1151", 96)];
    });
    case("a card that nobody knows, and no runtime", windows, &|m| {
        m.gpus.gpus = vec![gpu(None, "AMD Radeon RX 5500 XT", "", 4)];
        m.runtimes.clear();
    });
    case("a driver older than the runtime", windows, &|m| {
        m.runtimes[0].version = Some("7.2.53211.0".into());
        m.gpus.remarks = vec!["hipInfo finds no device: No devices found.".into()];
    });
    case("two runtimes, and a compiler of another", linux, &|m| {
        let runtime = |library, folder: &str, found_by: &str| Runtime {
            library,
            path: format!("{folder}/{library}").into(),
            found_by: found_by.to_owned(),
            version: None,
        };
        m.runtimes.insert(0, runtime("libamdhip64.so.7", "/opt/rocm/lib", "LD_LIBRARY_PATH"));
        m.runtimes.push(runtime("libamd_comgr.so.3", "/usr/lib", "ldconfig"));
    });
    case("no Visual Studio and no Windows SDK", windows, &|m| m.studio = Some(Survey::default()));
    case("Visual Studio without C++", windows, &|m| {
        let community = instance("Visual Studio Community 2022", "17.14.1", "Community", Err(Refusal::NoCxx));
        m.studio = Some(studio(vec![community], ""));
    });
    case("three versions", windows, &|m| {
        let old = Refusal::Old { version: "14.38.33130".into() };
        let new = Refusal::ConstexprCmath { version: "14.51.36231".into() };
        m.studio = Some(studio(
            vec![
                instance("Visual Studio Community 2022", "17.8.1", "Community", Err(old)),
                build_tools(),
                instance("Visual Studio Enterprise 2026", "18.5.1", "18", Err(new)),
            ],
            "",
        ));
    });
    case("a preview", windows, &|m| {
        m.studio = Some(studio(
            vec![instance("Visual Studio 2026 Insiders", "18.6.1", "18", Err(Refusal::Preview))],
            "",
        ));
    });
    case("half a Windows SDK", windows, &|m| m.studio = Some(studio(vec![build_tools()], "x64/rc.exe")));
    case("a half-uninstalled SDK, HIP_PATH pointing into space, and a good one", windows, &|m| {
        m.sdks = vec![
            sdk("HIP_PATH", r"C:\Program Files\AMD\ROCm\5.7", Err(sdk::Refusal::Absent)),
            sdk("folder of AMD's installer", r"C:\Program Files\AMD\ROCm\6.4", Err(incomplete())),
            sdk("folder beside the checkout", r"C:\src\therock-dist", Ok("10.0.0")),
        ];
    });
    let in_store = || sdk("the store, therock-multiarch 10.0.0", r"C:\s\0123456789abcdef\tree", Ok("10.0.0"));
    let installed = || sdk("folder of AMD's installer", r"C:\Program Files\AMD\ROCm\7.1", Ok("7.1.1"));
    case("an SDK in the store, and one beside it", windows, &|m| m.sdks = vec![in_store(), installed()]);
    case("an SDK that is chosen before that of the store, for the system's toolchain", windows, &|m| {
        m.chosen = "system".into();
        m.sdks = vec![sdk("STRATA_HIP_ROOT", r"D:\rocm", Ok("7.2.0")), in_store(), installed()];
    });
    case("the system's toolchain without an SDK", linux, &|m| {
        m.chosen = "system".into();
        m.toolchains.push(Toolchain {
            name: "system".into(),
            rocm: "system".into(),
            state: State::Installed(3),
        });
    });
    case("nothing is installed, on a small disk", linux, &|m| {
        m.toolchains[0].state = State::Missing("llvm is missing".into(), 146_000_000);
        m.volumes[0] = Volume { free: Some(500_000_000), needed: 1_022_000_000, ..m.volumes[0].clone() };
        m.volumes[1].free = Some(1_000_000_000);
        m.programs[0] = Needed { found: None, purpose: Some("to build"), ..m.programs[0].clone() };
        let old = Program { version: "3.6.1".into(), is_new_enough: false, path: "/usr/bin/python3".into() };
        m.programs[2] = Needed {
            found: Some(old),
            purpose: Some("to fetch packages through pip"),
            ..m.programs[2].clone()
        };
    });
    case("nothing is installed, and nothing can be fetched", linux, &|m| {
        m.toolchains[0].state = State::Missing("llvm is missing".into(), 146_000_000);
        m.hindrances = vec![Hindrance {
            what: "this machine names no Debian mirror for the suite `trixie`".into(),
            mend: "name a Debian mirror".into(),
        }];
    });
    case("a broken toolchain beside the chosen one, and a broken one", linux, &|m| {
        m.toolchains[0].state = State::Broken("`/src/store/0123/receipt.json` is damaged: not JSON".into());
        m.toolchains[1].state = State::Broken("`/src/store/4567/tree/bin/clang++` is gone".into());
    });
    case("a deep store without long paths", windows, &|m| {
        m.longest_path = Some(273);
        m.long_paths = Some(false);
    });
    case("no page file", windows, &|m| m.page_file = Some(false));
    case("variables and proxies", linux, &|m| {
        for (name, value) in [
            ("HIP_PATH", "/opt/rocm"),
            ("HIP_PATH_57", "/opt/rocm-5.7"),
            ("HIP_PATHOLOGY", "is another thing"),
            ("HIPCC_COMPILE_FLAGS_APPEND", "-O0"),
            ("ROCM_PATH", ""),
            ("HSA_OVERRIDE_GFX_VERSION", "11.0.0"),
            ("https_proxy", "http://user:secret@proxy:8080"),
            ("HTTP_PROXY", "ftp://proxy"),
            ("NO_PROXY", "localhost,.corp"),
        ] {
            m.variables.insert(name.into(), value.into());
        }
    });
    let all = texts.join("\n\n");
    assert!(!all.contains("secret"));
    insta::assert_snapshot!(all);
}
