//! Trees as Visual Studio's installer leaves them, and what a cmd.exe prints.

#[cfg(unix)]
use super::ask::{Places, look};
use super::environment::make;
use super::vcvars::{self, Variables};
use super::{ClangHeaders, Survey, instance, record, toolset, windows_sdk};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output};

/// A `Program Files (x86)` of the test's own.
struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("temp"))
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        std::fs::write(path, text).expect("write");
    }

    /// An installation with these toolsets, the first of which is the default; gives its folder.
    fn studio(&self, place: &str, toolsets: &[&str]) -> PathBuf {
        let place = format!("Microsoft Visual Studio/{place}");
        self.write(&format!("{place}/Common7/IDE/devenv.exe"), "");
        for version in toolsets {
            let tools = format!("{place}/VC/Tools/MSVC/{version}");
            for file in ["bin/Hostx64/x64/cl.exe", "include/vector", "lib/x64/msvcrt.lib"] {
                self.write(&format!("{tools}/{file}"), "");
            }
        }
        if let Some(default) = toolsets.first() {
            let build = format!("{place}/VC/Auxiliary/Build");
            self.write(&format!("{build}/vcvars64.bat"), "rem a script");
            self.write(&format!("{build}/Microsoft.VCToolsVersion.default.txt"), &format!("{default}\r\n"));
        }
        self.root().join(place)
    }

    fn kit(&self, version: &str, without: &str) -> PathBuf {
        for file in [
            format!("Include/{version}/um/Windows.h"),
            format!("Include/{version}/ucrt/stdio.h"),
            format!("Lib/{version}/um/x64/kernel32.lib"),
            format!("Lib/{version}/ucrt/x64/ucrt.lib"),
            format!("bin/{version}/x64/rc.exe"),
            format!("bin/{version}/x64/mt.exe"),
        ] {
            if without.is_empty() || !file.ends_with(without) {
                self.write(&format!("Windows Kits/10/{file}"), "");
            }
        }
        self.root().join("Windows Kits/10")
    }

    /// The same text on every machine.
    fn shown(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "[PF]")
    }
}

/// What vswhere prints of installations: folder, version, preview, complete.
fn vswhere(entries: &[(&Path, &str, bool, bool)]) -> String {
    let entry = |(path, version, preview, complete): &(&Path, &str, bool, bool)| {
        let edition = path.file_name().expect("name").to_string_lossy().into_owned();
        serde_json::json!({
            "instanceId": "2f7a", "installDate": "2026-03-01T10:00:00Z", "installationPath": path, "installationVersion": version,
            "productId": "Microsoft.VisualStudio.Product.BuildTools", "state": 4294967295u32, "isComplete": complete,
            "isLaunchable": true, "isPrerelease": preview, "displayName": format!("Visual Studio {edition}"),
        })
    };
    serde_json::Value::from(entries.iter().map(entry).collect::<Vec<_>>()).to_string()
}

fn survey(disk: &Disk, json: &str, clang: ClangHeaders, previews: bool) -> Survey {
    let found = instance::listed(json).expect("JSON");
    Survey {
        candidates: found.into_iter().map(|found| instance::judge(found, clang, previews, false)).collect(),
        sdks: windows_sdk::find(&[disk.root().join("Windows Kits/10")]),
        looked: vec!["`[PF]/vswhere.exe`".to_owned()],
    }
}

/// Each candidate with its verdict and mend, the choice, and the error when there is none.
fn report(disk: &Disk, survey: &Survey) -> String {
    let candidate = |c: &super::Candidate| match &c.verdict {
        Ok(toolset) => format!("{} {}: MSVC {}", c.instance.name, c.instance.version, toolset.version),
        Err(refusal) => {
            format!(
                "{} {}: {refusal}\n    {}",
                c.instance.name,
                c.instance.version,
                refusal.mend(&c.instance.path)
            )
        }
    };
    let mut lines: Vec<String> = survey.candidates.iter().map(candidate).collect();
    lines.extend(survey.sdks.iter().map(|sdk| format!("SDK {} lacks {:?}", sdk.version, sdk.missing)));
    let cache = disk.root().join("cache.json");
    let run = |_: &Path, _: &str, _: &Variables| Ok(output(&environment_text(), true));
    lines.push(match make(survey, &base(), &cache, run, |_| true) {
        Ok(environment) => format!("=> {}", environment.versions),
        Err(error) => format!("=> error: {error}\n   hint: {}", error.mend()),
    });
    disk.shown(&lines.join("\n"))
}

#[test]
fn each_installation_gets_its_verdict() {
    let disk = Disk::new();
    disk.kit("10.0.26100.0", "");
    disk.kit("10.0.9600.0", "rc.exe");
    let old = disk.studio("2022/Community", &["14.38.33130"]);
    let good = disk.studio("2022/BuildTools", &["14.44.35207", "14.38.33130"]);
    let new = disk.studio("18/Enterprise", &["14.51.36231"]);
    let preview = disk.studio("18/Preview", &["14.52.36500"]);
    let no_cxx = disk.studio("2022/Professional", &[]);
    let half = disk.studio("2022/Enterprise", &["14.44.35207"]);
    let all = [
        (old.as_path(), "17.8.34316.72", false, true),
        (good.as_path(), "17.14.36414.22", false, true),
        (new.as_path(), "18.5.11234.5", false, true),
        (preview.as_path(), "18.6.12000.1", true, true),
        (no_cxx.as_path(), "17.14.36414.22", false, true),
        (half.as_path(), "17.14.36414.22", false, false),
    ];
    let mut text = Vec::new();
    for (title, entries, clang, previews) in [
        ("no Visual Studio", &all[..0], ClangHeaders::Fixed, false),
        ("without C++", &all[4..5], ClangHeaders::Fixed, false),
        ("three versions, clang's headers are fixed", &all[..3], ClangHeaders::Fixed, false),
        ("three versions, clang's headers are old", &all[..3], ClangHeaders::Old, false),
        ("only one that is too new", &all[2..3], ClangHeaders::Old, false),
        ("only one that is too old", &all[..1], ClangHeaders::Fixed, false),
        ("a preview", &all[3..4], ClangHeaders::Fixed, false),
        ("a preview that is asked for, beside a stable one", &all[1..4], ClangHeaders::Fixed, true),
        ("a preview that is asked for, alone", &all[3..4], ClangHeaders::Unknown, true),
        ("an installation that was interrupted", &all[5..], ClangHeaders::Fixed, false),
    ] {
        let _ = std::fs::remove_file(disk.root().join("cache.json"));
        text.push(format!(
            "# {title}\n{}",
            report(&disk, &survey(&disk, &vswhere(entries), clang, previews))
        ));
    }
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn a_windows_sdk_has_everything_of_one_version() {
    let disk = Disk::new();
    let good = disk.studio("2022/BuildTools", &["14.44.35207"]);
    let json = vswhere(&[(&good, "17.14.36414.22", false, true)]);
    let none = report(&disk, &survey(&disk, &json, ClangHeaders::Fixed, false));
    disk.kit("10.0.22621.0", "mt.exe");
    disk.kit("10.0.9600.0", "kernel32.lib");
    let broken = report(&disk, &survey(&disk, &json, ClangHeaders::Fixed, false));
    insta::assert_snapshot!(format!("{none}\n\n{broken}"));
    disk.kit("10.0.19041.0", "");
    let whole = survey(&disk, &json, ClangHeaders::Fixed, false);
    let versions: Vec<&str> = whole.sdks.iter().map(|sdk| sdk.version.as_str()).collect();
    assert_eq!(versions, ["10.0.22621.0", "10.0.19041.0", "10.0.9600.0"], "as numbers, not as text");
    assert_eq!(whole.sdk().map(|sdk| sdk.version.as_str()), Some("10.0.19041.0"));
}

#[test]
fn folders_serve_where_vswhere_is_gone() {
    let disk = Disk::new();
    disk.studio("2022/BuildTools", &["14.44.35207"]);
    disk.studio("18/Insiders", &["14.52.36500"]);
    disk.write("Microsoft Visual Studio/Installer/setup.exe", "");
    let found = instance::in_folders(&[disk.root().to_owned(), disk.root().join("nowhere")]);
    let plain: Vec<_> = found.iter().map(|found| (found.name.as_str(), found.is_preview)).collect();
    assert_eq!(plain, [("Visual Studio 18 Insiders", true), ("Visual Studio 2022 BuildTools", false)]);
    assert!(instance::listed("<html>").is_err());
    assert_eq!(
        instance::listed("\u{feff}[{\"instanceId\":\"1\"}, 3]").expect("JSON"),
        [],
        "no path, no installation"
    );
}

/// As the installer writes it, as far as it is looked at.
fn state(path: &Path, edition: &str, version: &str, preview: &str) -> String {
    serde_json::json!({
        "installDate": "2026-03-01T10:00:00Z", "installationName": format!("VisualStudio/{version}"), "installationPath": path,
        "installationVersion": version, "launchParams": {"fileName": "Common7\\IDE\\devenv.exe"},
        "product": {"id": format!("Microsoft.VisualStudio.Product.{edition}"), "version": version},
        "catalogInfo": {"id": format!("VisualStudio/{version}"), "buildVersion": version, "productLineVersion": "2022",
            "productMilestoneIsPreRelease": preview, "productName": "Visual Studio"},
    })
    .to_string()
}

#[test]
fn the_installers_records_tell_what_vswhere_would() {
    let disk = Disk::new();
    disk.kit("10.0.26100.0", "");
    // Outside the usual folders, where nothing else would find it.
    let moved = disk.studio("elsewhere/Build & Tools (x86) ^100% 世界", &["14.44.35207"]);
    let preview = disk.studio("2022/Preview", &["14.44.35207"]);
    let gone = disk.root().join("removed by hand");
    let write = |id: &str, text: &str| disk.write(&format!("Packages/_Instances/{id}/state.json"), text);
    write("1a", &state(&moved, "BuildTools", "17.14.36414.22", "False"));
    write("2b", &format!("\u{feff}{}", state(&preview, "Professional", "17.15.1", "True")));
    write("3c", &state(&gone, "Community", "17.8.1", "False"));
    write("4d", &state(Path::new(""), "Community", "17.8.1", "False"));
    write("5e", "{\"installationPath\": ");
    write("6f", "[]");
    disk.write("Packages/_Instances/7a/catalog.json", "{}");
    let found = record::recorded(&disk.root().join("Packages/_Instances"));
    let judged = found.into_iter().map(|found| instance::judge(found, ClangHeaders::Fixed, false, false));
    let survey = Survey {
        candidates: judged.collect(),
        sdks: windows_sdk::find(&[disk.root().join("Windows Kits/10")]),
        looked: Vec::new(),
    };
    insta::assert_snapshot!(report(&disk, &survey));
    assert_eq!(record::recorded(&disk.root().join("nowhere")), []);
}

#[test]
fn an_arm64_machine_takes_its_own_compilers_where_they_are() {
    let disk = Disk::new();
    let studio = disk.studio("2022/BuildTools", &["14.44.35207"]);
    let script = |is_arm64| {
        let toolset = toolset::choose(&studio, ClangHeaders::Fixed, is_arm64).expect("a toolset");
        toolset.script.file_name().expect("name").to_string_lossy().into_owned()
    };
    assert_eq!((script(false).as_str(), script(true).as_str()), ("vcvars64.bat", "vcvars64.bat"));
    let place = "Microsoft Visual Studio/2022/BuildTools/VC";
    disk.write(&format!("{place}/Tools/MSVC/14.44.35207/bin/Hostarm64/x64/cl.exe"), "");
    assert_eq!(script(true), "vcvars64.bat", "compilers without their script");
    disk.write(&format!("{place}/Auxiliary/Build/vcvarsarm64_amd64.bat"), "");
    assert_eq!((script(false).as_str(), script(true).as_str()), ("vcvars64.bat", "vcvarsarm64_amd64.bat"));
}

#[test]
fn the_newest_redistributable_with_a_runtime_is_shipped_from() {
    let disk = Disk::new();
    let studio = disk.studio("2022/BuildTools", &["14.44.35207"]);
    let redist = || toolset::choose(&studio, ClangHeaders::Fixed, false).expect("a toolset").redist;
    assert_eq!(redist(), None);
    let place = "Microsoft Visual Studio/2022/BuildTools/VC/Redist/MSVC";
    disk.write(&format!("{place}/v143/vc_redist.x64.exe"), "");
    disk.write(&format!("{place}/14.9.1/x64/Microsoft.VC143.CRT/msvcp140.dll"), "");
    disk.write(&format!("{place}/14.44.35112/x64/Microsoft.VC143.CRT/msvcp140.dll"), "");
    disk.write(&format!("{place}/14.50.1/debug_nonredist/x64/Microsoft.VC143.DebugCRT/msvcp140d.dll"), "");
    assert_eq!(redist(), Some(studio.join("VC/Redist/MSVC/14.44.35112")));
}

#[test]
fn clangs_headers_tell_by_their_order() {
    let old = "#if x\n#include <cmath>\n#endif\n#include <__clang_cuda_math_forward_declares.h>\n";
    let fixed = "// <cmath> comes later\n# include <__clang_cuda_math_forward_declares.h> // first\n#include <cmath>\n";
    assert_eq!(ClangHeaders::of_wrapper(old), ClangHeaders::Old);
    assert_eq!(ClangHeaders::of_wrapper(fixed), ClangHeaders::Fixed);
    assert_eq!(ClangHeaders::of_wrapper("#include <cmath>"), ClangHeaders::Unknown);
    let disk = Disk::new();
    let clang = disk.root().join("llvm/bin/clang++.exe");
    assert_eq!(ClangHeaders::of_compiler(&clang), ClangHeaders::Unknown);
    disk.write("llvm/lib/clang/9/include/__clang_hip_runtime_wrapper.h", fixed);
    disk.write("llvm/lib/clang/23/include/__clang_hip_runtime_wrapper.h", old);
    assert_eq!(ClangHeaders::of_compiler(&clang), ClangHeaders::Old);
}

fn base() -> Variables {
    variables(&[("SystemRoot", r"C:\Windows"), ("PATH", r"C:\Windows\System32;C:\Windows")])
}

fn variables(pairs: &[(&str, &str)]) -> Variables {
    pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// As `set` prints after the script, for a user whose name is not ASCII and a folder with everything that a path may hold.
fn environment_text() -> String {
    [
        "**********************************************************************",
        "** Visual Studio 2022 Developer Command Prompt v17.14.9",
        "STRATA-ENVIRONMENT-BEGIN",
        r"INCLUDE=C:\VS\include;C:\Kits\ucrt",
        r"LIB=C:\VS\lib",
        r"Path=C:\VS\bin;c:\vs\BIN\;C:\Kits\bin;;C:\Windows\System32;C:\Windows",
        r"SYSTEMROOT=C:\Windows",
        "PROMPT=$P$G",
        r"__VSCMD_PREINIT_PATH=C:\Windows",
        r"TEMP=C:\Users\Jürgen & 世界 (x86) ^100%=\Temp",
        r"=C:=C:\VS",
        "STRATA-ENVIRONMENT-END",
        "",
    ]
    .join("\r\n")
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn output(text: &str, success: bool) -> Output {
    Output { status: status(success), stdout: utf16(text), stderr: Vec::new() }
}

#[cfg(unix)]
fn status(success: bool) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(if success { 0 } else { 1 << 8 })
}

#[cfg(windows)]
fn status(success: bool) -> ExitStatus {
    std::os::windows::process::ExitStatusExt::from_raw(u32::from(!success))
}

#[test]
fn an_environment_is_read_in_either_encoding() {
    let expected = variables(&[
        ("INCLUDE", r"C:\VS\include;C:\Kits\ucrt"),
        ("LIB", r"C:\VS\lib"),
        ("PATH", r"C:\VS\bin;C:\Kits\bin;C:\Windows\System32;C:\Windows"),
        ("TEMP", r"C:\Users\Jürgen & 世界 (x86) ^100%=\Temp"),
    ]);
    let text = environment_text();
    let odd = [b"x".to_vec(), utf16(&text)].concat();
    for bytes in [utf16(&text), text.clone().into_bytes(), odd] {
        let parsed = vcvars::parse(&bytes).expect("marks");
        assert_eq!(vcvars::changes(&base(), parsed), expected);
    }
    assert_eq!(vcvars::parse(&utf16("[ERROR:vcvars.bat] no such toolset\r\n")), None);
    assert_eq!(vcvars::parse(b"STRATA-ENVIRONMENT-BEGIN\r\nPATH=x"), None, "cut off");
}

#[test]
fn path_and_its_spellings_become_one() {
    let both = variables(&[("PATH", r"C:\a;C:\A\;C:\b"), ("Path", r"C:\c")]);
    assert_eq!(vcvars::changes(&Variables::new(), both), variables(&[("PATH", r"C:\a;C:\b")]));
    let long: String = (0..400).map(|n| format!(r"C:\folder number {};", n % 20)).collect();
    assert!(long.len() > 7_000);
    assert_eq!(vcvars::unique_folders(&long).split(';').count(), 20);
}

#[test]
fn the_line_for_cmd_holds_no_path() {
    let line = vcvars::arguments("vcvars64.bat", "10.0.26100.0", "14.44.35207");
    insta::assert_snapshot!(line, @r#"/d /u /s /c "call .\vcvars64.bat 10.0.26100.0 -vcvars_ver=14.44.35207&& echo STRATA-ENVIRONMENT-BEGIN&& set&& echo STRATA-ENVIRONMENT-END""#);
}

#[test]
fn the_script_runs_once_for_the_same_inputs() {
    let disk = Disk::new();
    let place = disk.studio("2022/Build & Tools (x86) ^100%", &["14.44.35207"]);
    disk.kit("10.0.26100.0", "");
    let survey =
        survey(&disk, &vswhere(&[(&place, "17.14.36414.22", false, true)]), ClangHeaders::Fixed, false);
    let runs = Cell::new(0);
    let ask = |base: &Variables| {
        let run = |folder: &Path, arguments: &str, _: &Variables| {
            runs.set(runs.get() + 1);
            assert_eq!(folder, place.join("VC/Auxiliary/Build"));
            assert!(!arguments.contains("100%"));
            Ok(output(&environment_text(), true))
        };
        make(&survey, base, &disk.root().join("kept/environment.json"), run, |_| true)
            .expect("an environment")
    };
    let first = ask(&base());
    assert_eq!((ask(&base()), runs.get()), (first, 1));
    let mut other = base();
    other.insert("TEMP".into(), r"D:\temp".into());
    ask(&other);
    assert_eq!(runs.get(), 2, "another environment");
    disk.write(
        "Microsoft Visual Studio/2022/Build & Tools (x86) ^100%/VC/Auxiliary/Build/vcvars64.bat",
        "rem updated",
    );
    ask(&other);
    assert_eq!(runs.get(), 3, "another script");
    disk.write("kept/environment.json", "{");
    ask(&other);
    assert_eq!(runs.get(), 4, "a damaged cache");
}

#[test]
fn what_the_script_leaves_out_is_an_error() {
    let disk = Disk::new();
    let place = disk.studio("2022/BuildTools", &["14.44.35207"]);
    disk.kit("10.0.26100.0", "");
    let survey =
        survey(&disk, &vswhere(&[(&place, "17.14.36414.22", false, true)]), ClangHeaders::Fixed, false);
    let fails = |output: std::io::Result<Output>, missing: &str| {
        let is_file = |path: &str| !path.ends_with(missing);
        let cache = disk.root().join("environment.json");
        let error = make(&survey, &base(), &cache, |_, _, _| output, is_file).expect_err("an error");
        assert!(!cache.exists(), "an error is not kept");
        let cause = std::error::Error::source(&error)
            .map(|cause| format!("\ncaused by: {cause}"))
            .unwrap_or_default();
        disk.shown(&format!("{error}{cause}\nhint: {}", error.mend()))
    };
    let no_include = environment_text().replace("INCLUDE=", "EXCLUDE=");
    let texts = [
        fails(Ok(output(&environment_text(), true)), r"\mt.exe"),
        fails(Ok(output(&environment_text(), true)), r"\link.exe"),
        fails(Ok(output(&no_include, true)), "nothing"),
        fails(
            Ok(output("[ERROR:vcvars.bat] Toolset directory for version '14.44' was not found.\r\n", false)),
            "nothing",
        ),
        fails(Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer in 60 s")), "nothing"),
    ];
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[cfg(unix)]
fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("chmod");
}

#[cfg(unix)]
#[test]
fn vswhere_is_asked_for_every_product_and_folders_add_what_it_does_not_know() {
    let disk = Disk::new();
    let listed = disk.studio("2022/BuildTools", &["14.44.35207"]);
    let prompt = disk.studio("2022/Professional", &["14.43.34808"]);
    disk.studio("2019/Community", &["14.29.30133"]);
    disk.kit("10.0.26100.0", "");
    // As vswhere does, this one tells nothing of BuildTools unless it is asked for every product.
    let json = vswhere(&[(&listed, "17.14.36414.22", false, true)]);
    let program = "Microsoft Visual Studio/Installer/vswhere.exe";
    disk.write(
        program,
        &format!("#!/bin/sh\ncase \"$*\" in *'-products * '*) printf '%s' '{json}';; *) echo '[]';; esac\n"),
    );
    make_executable(&disk.root().join(program));
    let places = Places {
        program_files: vec![disk.root().to_owned(), disk.root().join("nowhere")],
        prompt: Some(prompt),
        kits: Some(disk.root().join("Windows Kits/10/")),
        records: vec![disk.root().join("Packages/_Instances"), disk.root().join("nowhere/_Instances")],
        ..Places::default()
    };
    // What vswhere has told already, and one that it does not know.
    let own = disk.studio("own place/BuildTools", &["14.42.34433"]);
    for (id, path, version) in [("1a", &listed, "17.14.2"), ("2b", &own, "17.12.1")] {
        let text = state(path, "BuildTools", version, "False");
        disk.write(&format!("Packages/_Instances/{id}/state.json"), &text);
    }
    let survey = look(&places, ClangHeaders::Fixed);
    let found: Vec<_> =
        survey.candidates.iter().map(|c| (c.instance.name.as_str(), c.verdict.is_ok())).collect();
    let expected = [
        ("Visual Studio BuildTools", true),
        ("Visual Studio BuildTools 2022", true),
        ("Visual Studio 2022 Professional", true),
        ("Visual Studio 2019 Community", false),
    ];
    assert_eq!(found, expected);
    assert_eq!(survey.chosen().map(|(instance, _)| instance.version.as_str()), Some("17.14.36414.22"));
    assert_eq!(survey.sdks.len(), 1, "one kit under two spellings");

    disk.write(program, "#!/bin/sh\necho '<html>'\n");
    let broken = look(&places, ClangHeaders::Fixed);
    assert_eq!(broken.candidates.len(), 4, "the records and the folders are left");
    let chosen = broken.chosen().map(|(instance, _)| (&instance.path, instance.version.as_str()));
    assert_eq!(chosen, Some((&listed, "17.14.2")), "the record tells its version");
    assert!(
        disk.shown(&broken.looked.join(" ")).contains("which does not answer: expected value"),
        "{:?}",
        broken.looked
    );
}
