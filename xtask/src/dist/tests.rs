//! A Windows release, planned, packed and checked on any host: a synthetic dist with TheRock's file list, and sizes in TheRock's proportions.

use super::closure::fake::FakePe;
use super::member::Origin;
use super::rocm::RocmTree;
use super::{Bundle, Error, Parts, Timestamp, plan_bundle, publish};
use crate::build::{Component, ComponentKind};
use crate::digest::Sha256;
use crate::lock::Host;
use crate::store::Kind;
use gfx::Target;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const HOST: Host = Host::WindowsMsvc;
/// Bytes for each MB there: one for 512 where sizes matter, and next to nothing where they do not.
const MB: usize = 1_000_000 / 512;
const TINY: usize = 100;

/// Folder and kernels in MB of each target (facts/strata.md 6: 17 + 13 for gfx1151, 703 + 530 for all; what is not given is spread over the rest).
const KERNELS: [(&str, usize, usize); 22] = [
    ("gfx906", 30, 0),
    ("gfx908", 60, 40),
    ("gfx90a", 90, 90),
    ("gfx942", 110, 120),
    ("gfx950", 120, 130),
    ("gfx1030", 17, 0),
    ("gfx1031", 17, 0),
    ("gfx1032", 17, 0),
    ("gfx1033", 17, 0),
    ("gfx1034", 17, 0),
    ("gfx1035", 17, 0),
    ("gfx1036", 17, 0),
    ("gfx1100", 17, 15),
    ("gfx1101", 17, 15),
    ("gfx1102", 17, 15),
    ("gfx1103", 17, 15),
    ("gfx1150", 17, 15),
    ("gfx1151", 17, 13),
    ("gfx1152", 17, 15),
    ("gfx1153", 17, 15),
    ("gfx1200", 20, 16),
    ("gfx1201", 20, 16),
];

/// Name, size in MB, imports, of the dist's `bin` (facts/therock.md 3.2, facts/strata.md 4.2). Sizes of libraries are estimates.
fn programs() -> Vec<(&'static str, usize, FakePe)> {
    let pe = FakePe::importing;
    vec![
        ("amdhip64_7.dll", 24, pe(&["KERNEL32.dll", "rocm_kpack.dll", "dxgi.dll"])),
        ("amd_comgr.dll", 130, pe(&["KERNEL32.dll", "MSVCP140.dll", "VERSION.dll"])),
        ("rocm_kpack.dll", 1, pe(&["KERNEL32.dll", "VCRUNTIME140.dll"])),
        ("libhipblas.dll", 1, pe(&["rocblas.dll", "rocsolver.dll", "amdhip64_7.dll"])),
        ("rocblas.dll", 12, pe(&["libhipblaslt.dll", "amdhip64_7.dll", "VCRUNTIME140_1.dll"])),
        ("rocsolver.dll", 20, FakePe { delays: vec!["rocblas.dll"], ..pe(&["amdhip64_7.dll"]) }),
        (
            "libhipblaslt.dll",
            9,
            FakePe { forwards: vec!["libtensilelite-host.run"], ..pe(&["amdhip64_7.dll", "origami.dll"]) },
        ),
        ("libtensilelite-host.dll", 2, pe(&["api-ms-win-crt-runtime-l1-1-0.dll"])),
        ("origami.dll", 1, pe(&["KERNEL32.dll"])),
        ("hiprtc0715.dll", 2, pe(&["amd_comgr.dll"])),
        ("hiprtc-builtins0715.dll", 1, pe(&[])),
        ("OpenCL.dll", 1, pe(&[])),
        ("amdocl64.dll", 40, pe(&["amd_comgr.dll"])),
        ("rocfft.dll", 9, pe(&["amdhip64_7.dll"])),
        ("hipcc.exe", 1, pe(&["KERNEL32.dll"])),
        ("hipInfo.exe", 1, pe(&["amdhip64_7.dll"])),
        ("flatc.exe", 4, pe(&["KERNEL32.dll"])),
    ]
}

struct World {
    folder: tempfile::TempDir,
    rocm: RocmTree,
    components: Vec<Component>,
}

/// Bytes that do not compress.
fn noise(length: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u64 | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(next).collect()
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
    std::fs::write(path, bytes).expect("write");
}

impl World {
    fn new(mb: usize) -> Self {
        let folder = tempfile::tempdir().expect("temp");
        let root = folder.path().join("dist");
        let mut entries = BTreeMap::new();
        let mut add = |path: String, bytes: Vec<u8>| {
            write(&root.join(&path), &bytes);
            let kind = Kind::File { size: bytes.len() as u64, sha256: Sha256::of(&bytes), executable: false };
            entries.insert(path, kind);
        };
        for (name, size, pe) in programs() {
            let mut bytes = pe.bytes();
            bytes.extend(noise((size * mb).saturating_sub(bytes.len()), size));
            add(format!("bin/{name}"), bytes);
        }
        for (index, (target, rocblas, hipblaslt)) in KERNELS.into_iter().enumerate() {
            for part in 0..10 {
                // For gfx1151 they lie in a folder of their own.
                let inner = if target == "gfx1151" { "gfx1151/" } else { "" };
                let file = format!("{inner}TensileLibrary_Type_HH_Contraction_{part}_{target}.co");
                add(format!("bin/rocblas/library/{file}"), noise(rocblas * mb / 10, index * 10 + part));
                if hipblaslt > 0 {
                    let file = format!("{target}/TensileLibrary_{part}_{target}.co");
                    add(
                        format!("bin/hipblaslt/library/{file}"),
                        noise(hipblaslt * mb / 10, index * 20 + part),
                    );
                }
            }
            add(format!(".kpack/blas_lib_{target}.kpack"), noise(20 * mb, index));
            add(format!(".kpack/rocsolver_lib_{target}.kpack"), noise(27 * mb, index));
        }
        add("bin/rocblas/library/TensileManifest.txt".into(), b"all".to_vec());
        add("bin/hipblaslt/library/hipblasltExtOpLibrary.dat".into(), b"all".to_vec());
        let rocm = RocmTree { package: "therock-multiarch".into(), version: "10.0.0".into(), root, entries };
        for name in ["msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll", "concrt140.dll"] {
            let path = folder.path().join("redist/x64/Microsoft.VC143.CRT").join(name);
            write(&path, &FakePe::importing(&["KERNEL32.dll"]).bytes());
        }
        let components =
            vec![component("aiter-kernels", &[]), component("engine", &["strata.exe", "strata-device.exe"])];
        let world = Self { folder, rocm, components };
        for target in [Target::Gfx1201, Target::Gfx1151] {
            let exe = FakePe::importing(&["KERNEL32.dll", "libhipblas.dll"]);
            world.build(
                "engine",
                target,
                &[("strata.exe", exe), ("strata-device.exe", FakePe::importing(&["ntdll.dll"]))],
            );
            world.build("aiter-kernels", target, &[]);
        }
        world
    }

    fn artifacts(&self) -> PathBuf {
        self.folder.path().join("artifacts")
    }

    /// As the build leaves it: programs, one code object, BUILD.json.
    fn build(&self, component: &str, target: Target, programs: &[(&str, FakePe)]) {
        let folder = self.artifacts().join("0.1.0").join(HOST.triple()).join(component).join(target.name());
        let kernel = format!("kernels/{target}/{component}/k.co");
        let mut outputs = vec![(kernel, target.name().as_bytes().to_vec(), false)];
        outputs.extend(programs.iter().map(|(name, pe)| ((*name).to_owned(), pe.bytes(), true)));
        let outputs: Vec<_> = outputs
            .into_iter()
            .map(|(path, bytes, executable)| {
                write(&folder.join(&path), &bytes);
                json!({"path": path, "size": bytes.len(), "sha256": Sha256::of(&bytes), "executable": executable})
            })
            .collect();
        let digest = Sha256::of(b"");
        let manifest = json!({
            "schema": 1, "component": component, "version": "0.1.0", "target": target.name(), "host": HOST.triple(),
            "toolchain": {"name": "t", "rocm": "10.0.0", "digest": digest, "packages": []},
            "lock": digest, "compiler": "clang", "settings": {}, "inputs": {"native sources": digest}, "key": digest,
            "outputs": outputs, "code_objects": [],
        });
        write(&folder.join("BUILD.json"), manifest.to_string().as_bytes());
    }

    fn plan(&self, targets: &[Target]) -> Result<Bundle, Error> {
        let redistributable = self.folder.path().join("redist");
        plan_bundle(&Parts {
            version: "0.1.0",
            host: HOST,
            targets: targets.to_vec(),
            is_bundle: targets.len() > 1,
            components: self.components.iter().collect(),
            artifacts: &self.artifacts(),
            rocm: Some(&self.rocm),
            redistributable: Some(&redistributable),
            licences: &[
                ("LICENSE".into(), b"MIT".to_vec()),
                ("licenses/therock-multiarch/rocblas-LICENSE.md".into(), b"MIT".to_vec()),
            ],
            crates: &[],
            package_licences: &[],
            time: Timestamp(1_700_000_000),
            authenticode: None,
        })
    }
}

fn component(name: &str, binaries: &[&str]) -> Component {
    let runtime =
        if binaries.is_empty() { vec![] } else { vec!["amdhip64_7.dll".into(), "libamdhip64.so.7".into()] };
    Component {
        name: name.into(),
        version: "0.1.0".into(),
        native: PathBuf::new(),
        kind: ComponentKind::Kernels,
        binaries: binaries.iter().map(|binary| (*binary).to_owned()).collect(),
        runtime,
        optional: Vec::new(),
        library: None,
        share: Vec::new(),
        catalogue: None,
        kernels: vec!["k".into()],
        sources: Vec::new(),
        crates: Vec::new(),
    }
}

/// Everything but the kernels of rocBLAS and hipBLASLt, which are counted.
fn layout(bundle: &Bundle) -> String {
    let paths = bundle.members.iter().map(|member| member.path.as_str());
    let mut lines: Vec<String> =
        paths.filter(|path| !path.contains("/library/")).map(str::to_owned).collect();
    lines.extend(bundle.counts.iter().map(|(folder, count)| format!("{folder}: {count:?}")));
    lines.join("\n")
}

#[test]
fn the_layout_of_a_windows_release() {
    let world = World::new(TINY);
    let bundle = world.plan(&[Target::Gfx1201]).expect("complete");
    insta::assert_snapshot!(layout(&bundle));
    let below = |start: &str| bundle.members.iter().filter(|member| member.path.starts_with(start)).count();
    assert_eq!(below("rocm/bin/rocblas/library/"), 11);
    assert_eq!(below("rocm/bin/hipblaslt/library/"), 11);
    let readme = bundle.members.iter().find(|member| member.path == "README.txt").expect("a README");
    let archive::Content::Bytes(readme) = &readme.content else { panic!("a text") };
    let readme = String::from_utf8_lossy(readme);
    // 174, less a backslash and the longest path of rocBLAS's files below the folder.
    let deepest = "rocm/bin/rocblas/library/TensileLibrary_Type_HH_Contraction_0_gfx1201.co".len();
    assert!(readme.contains(&format!("may have at most {} characters", 174 - 1 - deepest)), "{readme}");
    for word in ["Smart App Control", "Adrenalin", "System32", "0xC0000005"] {
        assert!(readme.contains(word), "{word}");
    }
    // Nothing is dropped in silence: each folder's counts are all of the manifest's files.
    for (folder, count) in &bundle.counts {
        assert_eq!(
            count.taken + count.other_targets + count.other_libraries,
            world.rocm.below(folder).count()
        );
    }
}

/// The program imports nothing of it: the engine loads it by name, from `rocm/bin`.
#[test]
fn a_library_that_is_loaded_by_name_is_shipped_with_what_it_needs_where_the_dist_has_it() {
    let planned = |change: fn(&mut World), target: Target| {
        let mut world = World::new(TINY);
        world.components[1].optional = vec!["libhipblaslt.dll".into(), "libhipblaslt.so.1".into()];
        world.build("engine", target, &[("strata.exe", FakePe::importing(&["KERNEL32.dll"]))]);
        world.build("aiter-kernels", target, &[]);
        change(&mut world);
        let bundle = world.plan(&[target]);
        (bundle, world)
    };
    let paths = |bundle: &Bundle| -> Vec<String> {
        let below = bundle.members.iter().filter(|member| member.path.starts_with("rocm/"));
        below.map(|member| member.path.clone()).collect()
    };
    let (bundle, _world) = planned(|_| {}, Target::Gfx1201);
    let bundle = bundle.expect("complete");
    let (kernels, libraries): (Vec<_>, Vec<_>) =
        paths(&bundle).into_iter().partition(|path| path.contains("/library/"));
    assert_eq!(
        libraries,
        ["rocm/bin/libhipblaslt.dll", "rocm/bin/libtensilelite-host.dll", "rocm/bin/origami.dll"]
    );
    let own = |path: &&String| path.starts_with("rocm/bin/hipblaslt/library/gfx1201/");
    assert_eq!((kernels.iter().filter(own).count(), kernels.len()), (10, 11));
    assert_eq!(bundle.manifest.loaded, ["amdhip64_7.dll", "libhipblaslt.dll"]);
    let out = tempfile::tempdir().expect("temp");
    publish(&bundle, out.path(), Timestamp(1_700_000_000), false).expect("passes");

    // RDNA 2 has no kernels of it, and a dist may be without: then the release is without.
    assert_eq!(paths(&planned(|_| {}, Target::Gfx1030).0.expect("complete")), Vec::<String>::new());
    let gone = |world: &mut World| drop(world.rocm.entries.remove("bin/libhipblaslt.dll"));
    let without = planned(gone, Target::Gfx1201).0.expect("complete");
    assert_eq!((paths(&without), without.manifest.loaded), (Vec::new(), vec!["amdhip64_7.dll".to_owned()]));
    // What it needs has to be there.
    let broken = planned(|world| drop(world.rocm.entries.remove("bin/origami.dll")), Target::Gfx1201);
    let broken = broken.0.map(|bundle| bundle.name).expect_err("stops").to_string();
    assert!(broken.contains("`origami.dll` is missing: "), "{broken}");
}

#[test]
fn a_release_is_five_times_smaller_than_the_dists_bin_and_passes_its_check() {
    let world = World::new(MB);
    let all: u64 = world
        .rocm
        .below("bin")
        .map(|path| std::fs::metadata(world.rocm.root.join(path)).expect("written").len())
        .sum();
    let one = world.plan(&[Target::Gfx1201]).expect("complete");
    let out = tempfile::tempdir().expect("temp");
    let published = publish(&one, out.path(), Timestamp(1_700_000_000), false).expect("passes");
    let zip = std::fs::metadata(&published.archives[0]).expect("named").len();
    assert!(zip * 5 <= all, "{zip} of {all}: {:.2} times smaller", all as f64 / zip as f64);
    // The bytes before packing too, without the texts, which the scale does not make smaller.
    let files = one.members.iter().filter(|member| member.origin != Origin::Release);
    let bytes: u64 = files.map(|member| member.content.size()).sum();
    assert!(bytes * 5 <= all, "{bytes} of {all}");
    assert_eq!(
        published.checked.skipped,
        [
            "strata-device.exe --selftest: x86_64-pc-windows-msvc programs do not run here",
            "strata.exe --version: x86_64-pc-windows-msvc programs do not run here",
        ]
    );
    // Two in one: programs once, kernels of both.
    let two = world.plan(&[Target::Gfx1151, Target::Gfx1201]).expect("complete");
    assert_eq!(two.name, "strata-0.1.0-x86_64-pc-windows-msvc-bundle");
    let has = |path: &str| two.members.iter().filter(|member| member.path == path).count();
    assert_eq!(
        (has("strata.exe"), has("kernels/gfx1151/engine/k.co"), has("kernels/gfx1201/engine/k.co")),
        (1, 1, 1)
    );
    assert_eq!(has("rocm/bin/rocblas/library/gfx1151/TensileLibrary_Type_HH_Contraction_0_gfx1151.co"), 1);
    assert!(two.bytes() < 2 * one.bytes());
    publish(&two, out.path(), Timestamp(1_700_000_000), false).expect("passes");
}

#[test]
fn what_is_not_whole_stops_a_release() {
    let plan = |change: fn(&mut World)| {
        let mut world = World::new(TINY);
        change(&mut world);
        world.plan(&[Target::Gfx1201]).map(|bundle| bundle.name).expect_err("stops").to_string()
    };
    let no_kernels = plan(|world| {
        world
            .rocm
            .entries
            .retain(|path, _| !(path.contains("hipblaslt/library") && path.contains("gfx1201")));
    });
    assert!(
        no_kernels
            .starts_with("hipBLASLt has no kernels for gfx1201 in `bin/hipblaslt/library`, only for gfx"),
        "{no_kernels}"
    );
    let no_kpack = plan(|world| drop(world.rocm.entries.remove(".kpack/blas_lib_gfx1201.kpack")));
    assert!(no_kpack.starts_with("rocBLAS has no kernels for gfx1201 in `.kpack`"), "{no_kpack}");
    let gone = plan(|world| drop(world.rocm.entries.remove("bin/origami.dll")));
    assert!(gone.contains("`origami.dll` is missing: strata.exe -> libhipblas.dll -> rocblas.dll -> libhipblaslt.dll -> origami.dll"), "{gone}");
    let new_import = plan(|world| {
        let exe = FakePe::importing(&["brand_new.dll"]);
        world.build("engine", Target::Gfx1201, &[("strata.exe", exe)]);
    });
    assert!(new_import.contains("`brand_new.dll` is missing: strata.exe -> brand_new.dll"), "{new_import}");
    let no_crt = plan(|world| {
        std::fs::remove_file(world.folder.path().join("redist/x64/Microsoft.VC143.CRT/vcruntime140.dll"))
            .expect("remove");
    });
    assert!(
        no_crt.contains("provided by: the Visual C++ redistributable: name its folder with --redist DIR"),
        "{no_crt}"
    );
    let no_redist = plan(|world| {
        std::fs::remove_dir_all(world.folder.path().join("redist/x64")).expect("remove");
    });
    assert!(no_redist.contains("is no Visual C++ redistributable"), "{no_redist}");
    let changed =
        plan(|world| write(&world.rocm.root.join("bin/rocblas/library/TensileManifest.txt"), b"ALL"));
    assert!(changed.contains("TensileManifest.txt` is not what"), "{changed}");
}

#[test]
fn scoop_and_winget_point_at_the_zip_by_its_hash() {
    let world = World::new(TINY);
    // A library beside the programs, which nobody starts.
    world.build(
        "aiter-kernels",
        Target::Gfx1201,
        &[("aiter_kernels.dll", FakePe::importing(&["ntdll.dll"]))],
    );
    let out = tempfile::tempdir().expect("temp");
    let bundle = world.plan(&[Target::Gfx1201]).expect("complete");
    let published = publish(&bundle, out.path(), Timestamp(1_700_000_000), false).expect("passes");
    let digest = Sha256::of_file(&published.archives[0]).expect("reads").0.to_string();
    let url = "https://example.com/strata/strata/releases/download/v0.1.0/";
    let written = super::package_manifests(out.path(), &[published], url).expect("writes");
    let text = |path: &PathBuf| {
        let name = path.strip_prefix(out.path()).expect("below").display().to_string();
        let text = std::fs::read_to_string(path).expect("reads");
        let text = text.replace(&digest, "[sha256]").replace(&digest.to_uppercase(), "[SHA256]");
        format!("--- {name}\n{text}")
    };
    insta::assert_snapshot!(written.iter().map(text).collect::<String>());
}
