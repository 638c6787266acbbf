//! `strata check` of the release on simulated cards: every launch of the HIP backend is executed by the interpreter of machine code, through the same
//! functions of the runtime that a card has, and the logits are compared with the CPU's.

use crate::models::mixed;
use crate::simulate::tree_of;
use crate::support::{released, workspace_root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The runtime that cargo built for these tests, under the name that programs load it by.
fn runtime() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let library = test.with_file_name("libsimulated_hip.so");
    let folder = workspace_root().join("target/simulated-hip");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::copy(&library, folder.join("libamdhip64.so.7")).expect("cargo builds the cdylib with the tests");
    folder
}

/// What `strata check` said, and what the cards did.
struct Checked {
    output: Output,
    json: serde_json::Value,
    log: Vec<String>,
}

impl Checked {
    fn count(&self, start: &str) -> usize {
        self.log.iter().filter(|line| line.starts_with(start)).count()
    }

    fn kernels(&self) -> BTreeSet<&str> {
        self.log.iter().filter_map(|line| line.strip_prefix("launch ")?.split(' ').nth(1)).collect()
    }

    fn agrees(&self) {
        let (out, talk) = (&self.json, String::from_utf8_lossy(&self.output.stderr));
        assert!(self.output.status.success() && out["agrees"] == true, "{out}\n{talk}");
        assert_eq!((&out["steps"], &out["same_best_token"]), (&5.into(), &5.into()), "{out}");
        // What was measured is 0.14 % at most: attention and the prompt's products in f16.
        assert!(out["difference"].as_f64().is_some_and(|difference| difference < 0.003), "{out}");
    }
}

fn check(release: &Path, devices: &str, architecture: &'static str, arguments: &[&str]) -> Checked {
    let folder = workspace_root().join("target/simulated-hip").join(format!("{devices}-{architecture}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (model, log) = (folder.join("model.gguf"), folder.join("log"));
    std::fs::write(&model, mixed(architecture).bytes()).expect("a model");
    let output = Command::new(release.join("strata"))
        .args(["check", "--json", "-n", "5", "--prompt", "twenty words and one"])
        .args(arguments)
        .arg(&model)
        .env_clear()
        .env("LD_LIBRARY_PATH", runtime())
        .env("STRATA_SIM_DEVICES", devices)
        .env("STRATA_SIM_LLVM", tree_of("llvm"))
        .env("STRATA_SIM_LOG", &log)
        .output()
        .expect("strata starts");
    let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let log = std::fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect();
    Checked { output, json, log }
}

pub(crate) fn cards_compute_what_the_cpu_computes() {
    for (target, folder) in &released().unpacked {
        // Each target's code runs dense models of both ways to rotate and a mixture of experts.
        for architecture in if target == "gfx1100" { ["llama", "qwen3moe"] } else { ["qwen2", "qwen3"] } {
            let checked = check(folder, target, architecture, &["--gpu", "0"]);
            checked.agrees();
            // The prompt on the matrix instructions, its tokens one by one on the vector kernels.
            let kernels = checked.kernels();
            for kernel in [
                "embed_q6_k",
                "multiply_matrix_q4_k",
                "multiply_vector_q4_k",
                "fmha_paged_f16_d64_n32",
                "fmha_split_kv_f16_d64",
                "rms_norm_f32",
                "rope_f32",
                "silu_and_mul_f32",
            ] {
                assert!(kernels.contains(kernel), "{kernel} is not among {kernels:?}");
            }
            // One step to warm up and one to record; then the graph alone.
            assert_eq!(checked.count("graph"), 3, "{architecture} on {target}");
        }
    }
}

pub(crate) fn layers_are_split_over_cards_of_one_family() {
    let (target, folder) = &released().unpacked[0];
    let checked = check(folder, &format!("{target},{target}"), "llama", &["--gpus", "1,0"]);
    checked.agrees();
    assert!(checked.count("launch 0 ") > 0 && checked.count("launch 1 ") > 0);
    // Five steps; activations go from the first card to the second once each.
    assert_eq!((checked.count("copy 1 0"), checked.count("copy 0 1"), checked.count("graph")), (5, 0, 0));
}
