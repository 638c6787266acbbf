//! The rules of both loaders as tables, and real headers.

use super::fake::{FakePe, Table};
use super::{Binary, How, Link, Location, Machine, Place, Root, walk};
use crate::lock::Host;

fn pe(imports: &[&str]) -> Binary {
    let link = |name: &&str| match name.split_once(' ') {
        Some((name, "delay")) => Link { name: name.to_owned(), how: How::Delay },
        _ => Link { name: (*name).to_owned(), how: How::Import },
    };
    Binary { links: imports.iter().map(link).collect(), ..Binary::default() }
}

fn elf(runpath: &str, needed: &[&str]) -> Binary {
    let runpath = runpath.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    Binary { runpath, ..pe(needed) }
}

fn table(files: Vec<(&str, Binary)>) -> Table {
    Table(files.into_iter().map(|(path, binary)| (path.to_owned(), binary)).collect())
}

fn program(path: &str) -> Root {
    Root::File { location: Location { place: 0, path: path.to_owned() }, loads: Vec::new() }
}

fn loaded(name: &str) -> Root {
    Root::Loaded { name: name.to_owned(), by: "engine".into() }
}

/// Walks in outputs (root) and a dist (its folder of libraries); gives what was found, or the error.
fn walked(outputs: &Table, dist: &Table, roots: Vec<Root>, host: Host) -> Result<Vec<String>, String> {
    let folder = if host == Host::Linux { "lib" } else { "bin" };
    let places = [
        Place { name: "outputs".into(), listing: outputs, folders: vec![String::new()] },
        Place { name: "therock".into(), listing: dist, folders: vec![folder.into()] },
    ];
    match walk(roots, &places, host) {
        Ok(closure) => Ok(closure.found.into_iter().map(|found| found.location.path).collect()),
        Err(error) => Err(error.to_string()),
    }
}

const WINDOWS: Host = Host::WindowsMsvc;

#[test]
fn real_pe_headers_tell_imports_delay_imports_and_forwarders() {
    let pe = FakePe {
        imports: vec!["KERNEL32.dll", "rocblas.dll"],
        delays: vec!["hiprtc0715.dll"],
        forwards: vec!["origami.compute", "rocblas.#12"],
        ..FakePe::default()
    };
    let binary = Binary::read(pe.bytes().as_slice()).expect("reads").expect("a PE file");
    let link = |name: &str, how| Link { name: name.into(), how };
    assert_eq!(
        binary.links,
        [
            link("KERNEL32.dll", How::Import),
            link("rocblas.dll", How::Import),
            link("hiprtc0715.dll", How::Delay),
            link("origami.dll", How::Forward),
        ]
    );
    assert_eq!(binary.machine, Machine::X86_64);
    for (machine, expected) in [(0xaa64, Machine::Arm64), (0x1c4, Machine::Other(0x1c4))] {
        let other = FakePe { machine, ..FakePe::default() }.bytes();
        assert_eq!(Binary::read(other.as_slice()).expect("reads").expect("a PE file").machine, expected);
    }
    assert_eq!(Binary::read(b"#!/bin/sh\n".as_slice()).expect("reads"), None);
    assert!(Binary::read(&pe.bytes()[..0x420]).is_err(), "a cut file is an error");
}

#[test]
fn real_elf_headers_tell_needed_and_runpath() {
    let folder = tempfile::tempdir().expect("temp");
    let library = folder.path().join("libx.so.7");
    let built = std::process::Command::new("cc")
        .args(["-shared", "-nostdlib", "-x", "c", "/dev/null", "-Wl,-soname,libx.so.7"])
        .args(["-Wl,--enable-new-dtags,-rpath,$ORIGIN:$ORIGIN/../deep", "-Wl,--no-as-needed", "-lm", "-o"])
        .arg(&library)
        .status();
    assert!(built.expect("cc").success());
    let bytes = std::fs::read(&library).expect("read");
    let binary = Binary::read(bytes.as_slice()).expect("reads").expect("an ELF file");
    assert_eq!(binary.soname.as_deref(), Some("libx.so.7"));
    assert_eq!(binary.runpath, ["$ORIGIN", "$ORIGIN/../deep"]);
    assert_eq!(binary.links, [Link { name: "libm.so.6".into(), how: How::Import }]);
}

#[test]
fn windows_names_are_found_in_any_case_and_the_system_is_left_out() {
    let outputs = table(vec![(
        "strata.exe",
        pe(&["KERNEL32.dll", "LIBHIPBLASLT.dll", "api-ms-win-crt-heap-l1-1-0.dll"]),
    )]);
    let dist = table(vec![
        ("bin/libhipblaslt.dll", pe(&["amdhip64_7.dll delay", "origami.dll"])),
        ("bin/origami.dll", pe(&["libhipblaslt.dll"])),
        ("bin/amdhip64_7.dll", pe(&["rocm_kpack.dll"])),
        ("bin/rocm_kpack.dll", pe(&[])),
        ("bin/amd_comgr.dll", pe(&["msvcrt.dll"])),
        ("bin/unused.dll", pe(&["nowhere.dll"])),
    ]);
    let found = walked(&outputs, &dist, vec![program("strata.exe")], WINDOWS).expect("complete");
    assert_eq!(
        found,
        [
            "strata.exe",
            "bin/libhipblaslt.dll",
            "bin/amdhip64_7.dll",
            "bin/origami.dll",
            "bin/rocm_kpack.dll",
            "bin/amd_comgr.dll", // amdhip64 loads it by name
        ]
    );
}

#[test]
fn what_is_missing_is_said_with_the_chain_the_places_and_the_provider() {
    let outputs = table(vec![("strata.exe", pe(&["libhipblaslt.dll"]))]);
    let dist = table(vec![("bin/libhipblaslt.dll", pe(&["origami.dll", "something_new.dll delay"]))]);
    let error = walked(&outputs, &dist, vec![program("strata.exe")], WINDOWS).expect_err("incomplete");
    insta::assert_snapshot!(error);
}

#[test]
fn a_library_loaded_by_name_is_a_root() {
    let outputs = table(vec![("strata-device.exe", pe(&[]))]);
    let roots = vec![program("strata-device.exe"), loaded("amdhip64_7.dll")];
    let error = walked(&outputs, &table(vec![]), roots.clone(), WINDOWS).expect_err("no runtime");
    assert!(error.contains("engine -> amdhip64_7.dll (loaded at run time)"), "{error}");
    // The runtime alone would be paired with the driver's comgr (facts/strata.md 4.3).
    let dist = table(vec![("bin/amdhip64_7.dll", pe(&[]))]);
    let error = walked(&outputs, &dist, roots, WINDOWS).expect_err("no comgr");
    assert!(error.contains("`amd_comgr` is missing"), "{error}");
}

#[test]
fn wrong_machine_debug_runtime_and_two_of_one_name_are_errors() {
    let arm = Binary { machine: Machine::Arm64, ..Binary::default() };
    let outputs = table(vec![
        ("strata.exe", pe(&["rocblas.dll", "VCRUNTIME140D.dll", "twice.dll"])),
        ("twice.dll", pe(&["user32.dll"])),
    ]);
    let dist = table(vec![("bin/rocblas.dll", arm), ("bin/twice.dll", pe(&[]))]);
    let error = walked(&outputs, &dist, vec![program("strata.exe")], WINDOWS).expect_err("three problems");
    insta::assert_snapshot!(error);
    // The same file in two places is one.
    let twice = table(vec![("strata.exe", pe(&["twice.dll"])), ("twice.dll", pe(&[]))]);
    walked(&twice, &table(vec![("bin/twice.dll", pe(&[]))]), vec![program("strata.exe")], WINDOWS)
        .expect("one");
}

#[test]
fn linux_follows_runpath_and_origin_and_nothing_else() {
    let outputs = table(vec![("strata", elf("", &["libc.so.6"]))]);
    let libraries = |runpath: &str| {
        table(vec![
            (
                "lib/librocblas.so.5",
                elf(
                    "$ORIGIN:$ORIGIN/rocm_sysdeps/lib",
                    &["libamdhip64.so.7", "librocm_sysdeps_z.so.1", "libm.so.6"],
                ),
            ),
            ("lib/libamdhip64.so.7", elf(runpath, &["libhsa-runtime64.so.1"])),
            ("lib/libhsa-runtime64.so.1", elf("", &[])),
            ("lib/rocm_sysdeps/lib/librocm_sysdeps_z.so.1", elf("${ORIGIN}/../../lib", &[])),
            (
                "lib/libamd_comgr.so.3",
                Binary { soname: Some("libamd_comgr.so.3".into()), ..Binary::default() },
            ),
            (
                "lib/libamd_comgr.so.3.1.0",
                Binary { soname: Some("libamd_comgr.so.3".into()), ..Binary::default() },
            ),
        ])
    };
    let roots = || vec![program("strata"), loaded("librocblas.so.5")];
    let found = walked(&outputs, &libraries("$ORIGIN/../lib"), roots(), Host::Linux).expect("complete");
    assert_eq!(
        found,
        [
            "strata",
            "lib/librocblas.so.5",
            "lib/libamdhip64.so.7",
            "lib/rocm_sysdeps/lib/librocm_sysdeps_z.so.1",
            "lib/libhsa-runtime64.so.1",
            "lib/libamd_comgr.so.3", // by its soname
        ]
    );
    for runpath in ["", "/opt/rocm/lib", "$ORIGIN/elsewhere", "$ORIGIN/../../../lib"] {
        let error = walked(&outputs, &libraries(runpath), roots(), Host::Linux).expect_err("not found there");
        assert!(error.contains("-> libamdhip64.so.7 -> libhsa-runtime64.so.1"), "{runpath}: {error}");
    }
}
