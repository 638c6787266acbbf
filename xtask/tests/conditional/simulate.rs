//! The kernels of the release, and those of the generic targets, run on the CPU by an interpreter of their machine code and compared with the CPU
//! references (`crates/simulate`).

use crate::support::{released, store, workspace_root};
use gfx_sim::Disassembler;
use std::path::PathBuf;
use std::process::Command;

/// Compiled by this test alone: the release has the two exact ones.
const GENERIC: [&str; 2] = ["gfx11-generic", "gfx12-generic"];

/// The tree of a package of the toolchain.
pub(crate) fn tree_of(package: &str) -> PathBuf {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["--quiet", "--format", "json", "bootstrap", "--toolchain", "lite", "--store"])
        .arg(store())
        .current_dir(workspace_root())
        .output()
        .expect("xtask starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let result = events.rfind(|event| event["event"] == "result").expect("a result");
    let packages = result["result"]["packages"].as_array().expect("packages").clone();
    let found = packages.iter().find(|found| found["name"] == package).expect(package);
    PathBuf::from(found["tree"].as_str().expect("a path"))
}

/// Compiles the kernels of the generic targets beside the release's, and gives the artifact folders.
fn generic_artifacts() -> Vec<PathBuf> {
    let world = &released().first;
    let output = world
        .command(&["build", "--toolchain", "lite", "--targets", &GENERIC.join(","), "--store"])
        .arg(store())
        .env("SOURCE_DATE_EPOCH", "1796018324")
        .output()
        .expect("xtask starts");
    world.ended(output).exits(0);
    let artifacts = world.path("artifacts").join(env!("CARGO_PKG_VERSION")).join("x86_64-unknown-linux-gnu");
    let folders = ["aiter-kernels", "engine"]
        .map(|component| GENERIC.map(|target| artifacts.join(component).join(target)));
    folders.concat()
}

/// Every kernel of the catalogue and of the engine, for the targets of the release and the generic ones.
pub(crate) fn shipped_kernels_give_the_references_numbers() {
    let disassembler = Disassembler::of_tree(&tree_of("llvm"));
    let released = released().unpacked.iter().map(|(_, folder)| folder.clone());
    let folders: Vec<PathBuf> = released.chain(generic_artifacts()).collect();
    let found =
        folders.iter().flat_map(|folder| ::simulate::find(folder).expect("kernels")).collect::<Vec<_>>();
    let report = ::simulate::check_all(&found, &disassembler).expect("code objects that can be loaded");
    print!("{}", report.summary());
    let failed: Vec<String> = report.failed().map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), report.outcomes.len(), failed.join("\n"));
    for target in ["gfx1100", "gfx1201"] {
        assert!(
            report.outcomes.iter().any(|outcome| outcome.target.name() == target),
            "{target} was not run"
        );
    }
}

/// A release with one byte of code changed does not pass `verify --simulate`, and says which kernel.
pub(crate) fn a_release_is_simulated_before_it_is_published() {
    let (target, folder) = &released().unpacked[0];
    let engine = folder.join("kernels").join(target).join("engine");
    let world = &released().first;
    let copy = world.path("target/one-kernel");
    let _ = std::fs::remove_dir_all(&copy);
    let to = copy.join("kernels").join(target).join("engine");
    std::fs::create_dir_all(&to).expect("a folder");
    let objects = ["matrix", "rms_norm", "rows", "vector"].map(|name| format!("{name}.co"));
    for object in &objects {
        std::fs::copy(engine.join(object), to.join(object)).expect("the code object");
    }
    let sums = |folder: &std::path::Path| {
        let line = |object: &String| {
            let name = format!("kernels/{target}/engine/{object}");
            let bytes = std::fs::read(folder.join(&name)).expect("the code object");
            format!("{}  {name}\n", crate::support::sha256(&bytes))
        };
        std::fs::write(folder.join("SHA256SUMS"), objects.iter().map(line).collect::<String>())
            .expect("sums");
    };
    sums(&copy);
    let verify = || {
        let output = world
            .command(&["verify", "--simulate", "--store"])
            .arg(store())
            .arg(&copy)
            .output()
            .expect("xtask");
        world.ended(output)
    };
    let good = verify().exits(0);
    assert!(good.stdout.contains("38 kernels, 160 shapes, 0 failed"), "{}", good.stdout);
    // The first multiply-add of the code becomes one of another register: its hash is right, its numbers are not.
    let path = to.join("rms_norm.co");
    let mut bytes = std::fs::read(&path).expect("the code object");
    // v_fmac_f32_e32 v4, v7, v7
    let place =
        bytes.windows(4).position(|word| word == 0x5608_0f07u32.to_le_bytes()).expect("the instruction");
    bytes[place] = 6;
    std::fs::write(&path, bytes).expect("a changed code object");
    sums(&copy);
    let bad = verify().exits(1);
    assert!(bad.stderr.contains("rms_norm_f32"), "{}", bad.stderr);
}
