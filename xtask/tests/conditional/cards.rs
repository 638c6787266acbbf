//! `strata check` of the release on simulated cards: every launch of the HIP backend is executed by the interpreter of machine code, through the same
//! functions of the runtime that a card has, and the logits are compared with the CPU's.

use crate::models::{Builder, Server, halves, mixed};
use crate::simulate::tree_of;
use crate::support::released;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// The runtime that cargo built for these tests, under the name that programs load it by.
fn runtime() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| folder_with("libsimulated_hip.so", "libamdhip64.so.7")).path()
}

/// The same with its hipBLASLt.
fn blas_lt() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| folder_with("libsimulated_hipblaslt.so", "libhipblaslt.so.1")).path()
}

fn folder_with(library: &str, name: &str) -> TempDir {
    let test = std::env::current_exe().expect("this program");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(test.with_file_name(library), folder.path().join(name))
        .expect("cargo builds the cdylib with the tests");
    folder
}

/// A release's `strata`, a model and simulated cards.
pub(crate) struct Cards<'a> {
    release: &'a Path,
    folder: TempDir,
    environment: Vec<(&'static str, String)>,
}

/// What `strata` said, and what the cards did.
pub(crate) struct Done {
    pub(crate) output: Output,
    pub(crate) json: serde_json::Value,
    pub(crate) talk: String,
    pub(crate) log: Vec<String>,
}

impl<'a> Cards<'a> {
    /// `devices` are targets, e.g. `gfx1100,gfx1100`.
    pub(crate) fn new(release: &'a Path, devices: &str, model: &Builder) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("model.gguf"), model.bytes()).expect("a model");
        let llvm = tree_of("llvm").display().to_string();
        let environment = vec![
            ("LD_LIBRARY_PATH", runtime().display().to_string()),
            ("STRATA_SIM_DEVICES", devices.to_owned()),
            ("STRATA_SIM_LLVM", llvm),
        ];
        Self { release, folder, environment }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Sets a variable of all later runs.
    pub(crate) fn set(&mut self, name: &'static str, value: impl ToString) {
        self.environment.retain(|(other, _)| *other != name);
        self.environment.push((name, value.to_string()));
    }

    /// Runs a command with `--json` on the model.
    pub(crate) fn run(&self, command: &str, arguments: &[&str]) -> Done {
        let log = self.path("log");
        let _ = std::fs::remove_file(&log);
        let arguments = [&["--json"], arguments].concat();
        let output = self.command(command, &arguments).output().expect("strata starts");
        let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        let log = std::fs::read_to_string(&log).unwrap_or_default().lines().map(str::to_owned).collect();
        Done { output, json, talk, log }
    }

    fn command(&self, command: &str, arguments: &[&str]) -> Command {
        let mut strata = Command::new(self.release.join("strata"));
        strata.arg(command).args(arguments).arg(self.path("model.gguf")).env_clear();
        strata.env("STRATA_SIM_LOG", self.path("log"));
        strata.envs(self.environment.iter().map(|(name, value)| (name, value)));
        strata
    }

    /// Serves the model.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        Server::start(&mut self.command("serve", arguments))
    }

    /// Compares with the CPU.
    pub(crate) fn check(&self, arguments: &[&str]) -> Done {
        self.run("check", &[&["-n", "5", "--prompt", "twenty words and one"], arguments].concat())
    }
}

impl Done {
    pub(crate) fn count(&self, start: &str) -> usize {
        self.log.iter().filter(|line| line.starts_with(start)).count()
    }

    fn kernels(&self) -> BTreeSet<&str> {
        self.log.iter().filter_map(|line| line.strip_prefix("launch ")?.split(' ').nth(1)).collect()
    }

    /// The JSON of a run that ended well.
    pub(crate) fn succeeded(&self) -> &serde_json::Value {
        assert!(self.output.status.success(), "{}\n{}", self.json, self.talk);
        &self.json
    }

    pub(crate) fn agrees(&self) {
        let (out, talk) = (&self.json, &self.talk);
        assert!(self.output.status.success() && out["agrees"] == true, "{out}\n{talk}");
        assert_eq!((&out["steps"], &out["same_best_token"]), (&5.into(), &5.into()), "{out}");
        // What was measured is 0.14 % at most: attention and the prompt's products in f16.
        assert!(out["difference"].as_f64().is_some_and(|difference| difference < 0.003), "{out}");
    }
}

pub(crate) fn cards_compute_what_the_cpu_computes() {
    for (target, folder) in &released().unpacked {
        // Each target's code runs dense models of both ways to rotate and a mixture of experts.
        for architecture in if target == "gfx1100" { ["llama", "qwen3moe"] } else { ["qwen2", "qwen3"] } {
            let checked = Cards::new(folder, target, &mixed(architecture)).check(&["--gpu", "0"]);
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

/// The values of IQ4_NL lie in the code of the vector kernels: without the first four, gates are wrong.
pub(crate) fn a_card_that_computes_wrong_numbers_is_found() {
    const VALUES: [u8; 4] = 0xbfad_9881_u32.to_le_bytes();
    let (target, release) = &released().unpacked[0];
    let kernels = tempfile::tempdir().expect("a folder");
    for component in ["engine", "aiter-kernels"] {
        let folder = Path::new(target).join(component);
        std::fs::create_dir_all(kernels.path().join(&folder)).expect("a folder");
        for entry in std::fs::read_dir(release.join("kernels").join(&folder)).expect("kernels") {
            let path = entry.expect("a file").path();
            let mut bytes = std::fs::read(&path).expect("a code object");
            let name = path.file_name().expect("a name");
            if name == "vector.co" {
                let places =
                    (0..bytes.len() - 4).filter(|at| bytes[*at..*at + 4] == VALUES).collect::<Vec<_>>();
                assert!(!places.is_empty(), "the values are in the code");
                places.into_iter().for_each(|at| bytes[at..at + 4].fill(0));
            }
            std::fs::write(kernels.path().join(&folder).join(name), bytes).expect("a code object");
        }
    }
    let folder = kernels.path().display().to_string();
    let checked = Cards::new(release, target, &mixed("llama")).check(&["--gpu", "0", "--kernels", &folder]);
    assert_eq!((checked.output.status.code(), &checked.json["agrees"]), (Some(1), &false.into()));
}

pub(crate) fn layers_are_split_over_cards_of_one_family() {
    let (target, folder) = &released().unpacked[0];
    let checked =
        Cards::new(folder, &format!("{target},{target}"), &mixed("llama")).check(&["--gpus", "1,0"]);
    checked.agrees();
    assert!(checked.count("launch 0 ") > 0 && checked.count("launch 1 ") > 0);
    // Five steps; activations go from the first card to the second once each.
    assert_eq!((checked.count("copy 1 0"), checked.count("copy 0 1"), checked.count("graph")), (5, 0, 0));
}

/// A graph runs beside the program, which looks at a word of its own memory until the graph's last kernel has written it, and asks the driver in intervals.
pub(crate) fn the_bell_behind_a_graph_is_waited_for() {
    let (target, folder) = &released().unpacked[0];
    let mut cards = Cards::new(folder, target, &halves("llama"));
    let request = ["--gpu", "0", "--prompt", "one", "-n", "6", "--temperature", "0", "--ignore-end"];
    // Of each graph: how often the driver was asked, and whether the graph was done when the program went on.
    let mut waits = |mapped: &str, interval: &str| -> (String, Vec<(usize, bool)>) {
        cards.set("STRATA_SIM_MAPPED", mapped);
        cards.set("STRATA_TG_FLUSH_US", interval);
        let done = cards.run("generate", &request);
        let said =
            done.log.iter().filter_map(|line| line.strip_prefix("after graph: ")?.split_once(" queries, "));
        let waits: Vec<_> =
            said.map(|(queries, state)| (queries.parse().expect("a number"), state == "idle")).collect();
        assert_eq!((waits.len(), done.count("graph")), (4, 4), "{:?}", done.log);
        (done.succeeded()["text"].to_string(), waits)
    };
    // A minute long nobody asks the driver: the word alone ends the wait.
    let (text, by_the_bell) = waits("", "60000000");
    assert_eq!(by_the_bell, [(0, true); 4]);
    // Where writes become visible only in the driver, as on Windows, it is asked each time (there by default), and the bell is seen.
    for (mapped, interval) in [("driver", "0"), ("", "0"), ("", "")] {
        let (same, asked) = waits(mapped, interval);
        assert!(asked.iter().all(|(_, is_done)| *is_done), "{mapped} {interval}: {asked:?}");
        assert!(
            interval.is_empty() || asked.iter().all(|(queries, _)| *queries > 0),
            "{mapped} {interval}: {asked:?}"
        );
        assert_eq!(same, text);
    }
    // Without such memory there is no bell, and the program waits in the driver.
    let (same, without) = waits("never", "");
    assert!(without.iter().all(|(queries, is_done)| (*queries, *is_done) == (0, false)), "{without:?}");
    assert_eq!(same, text);
}

/// A runtime that fails to end a recording: the text is the same, and nobody tries again.
pub(crate) fn what_cannot_be_recorded_is_queued_launch_by_launch() {
    let (target, folder) = &released().unpacked[0];
    let mut cards = Cards::new(folder, target, &halves("llama"));
    let request = ["--gpu", "0", "--prompt", "one", "-n", "6", "--temperature", "0", "--ignore-end"];
    let recorded = cards.run("generate", &request);
    cards.set("STRATA_SIM_END_CAPTURE", "fails");
    let plain = cards.run("generate", &request);
    assert_eq!(plain.succeeded()["text"], recorded.succeeded()["text"]);
    assert_eq!((recorded.count("graph"), plain.count("graph"), plain.count("error 901")), (4, 0, 1));
    let said = "launch by launch from now on: it cannot be recorded: device 0: hipStreamEndCapture failed: hipErrorStreamCaptureInvalidated";
    assert_eq!(plain.talk.matches(said).count(), 1, "{}", plain.talk);
}

/// A prompt of 64 tokens and more of a model of halves is multiplied by hipBLASLt; which of its algorithms, a table says that was measured on the same pair of target and version.
pub(crate) fn long_prompts_are_multiplied_by_the_hipblaslt_that_is_there() {
    let (target, folder) = &released().unpacked[0];
    let mut cards = Cards::new(folder, target, &halves("llama"));
    cards.set("LD_LIBRARY_PATH", format!("{}:{}", runtime().display(), blas_lt().display()));
    let prompt = "x".repeat(64);
    let check = |cards: &Cards<'_>| cards.run("check", &["--gpu", "0", "-n", "1", "--prompt", &prompt]);
    let plain = check(&cards);
    assert_eq!(plain.succeeded()["agrees"], true);
    let products: BTreeSet<&String> = plain.log.iter().filter(|line| line.starts_with("blas ")).collect();
    let count = plain.json["prompt_tokens"].as_u64().expect("a number");
    // Query and output; key and value; gate, up and down.
    let expected = [format!("blas 128x256x{count} algorithm 0"), format!("blas 256x256x{count} algorithm 0")];
    assert_eq!(products, expected.iter().collect());
    let library = blas_lt().join("libhipblaslt.so.1").display().to_string();
    let line = |rest: &str| format!("device 0: hipBLASLt 1.2.3 of `{library}`; {rest}\n");
    assert!(plain.talk.contains(&line("plain calls: there is no tuning table")), "{}", plain.talk);

    let table = cards.path("table.json");
    let path = table.display().to_string();
    cards.set("STRATA_HIPBLASLT_TUNING", &path);
    let measured_on = |version: u32| {
        let product =
            serde_json::json!({ "element": "f16", "rows": 128, "columns": 256, "count": count, "choice": 2 });
        let text =
            serde_json::json!({ "target": target, "hipblaslt": version, "products": [product] }).to_string();
        std::fs::write(&table, text).expect("a table");
    };
    measured_on(100_203);
    let tuned = check(&cards);
    assert_eq!(tuned.succeeded()["agrees"], true);
    assert!(tuned.talk.contains(&line(&format!("1 products tuned by `{path}`"))), "{}", tuned.talk);
    assert_eq!(tuned.count(&format!("blas 128x256x{count} algorithm 2")), plain.count("blas 128x"));
    assert_eq!(tuned.count(&format!("blas 256x256x{count} algorithm 0")), plain.count("blas 256x"));

    measured_on(100_204);
    let other = check(&cards);
    let why = format!(
        "plain calls: the tuning table `{path}` is for {target} with hipBLASLt 1.2.4, and this is {target} with 1.2.3"
    );
    assert!(other.succeeded()["agrees"] == true && other.talk.contains(&line(&why)), "{}", other.talk);
    assert_eq!(other.count(&format!("blas 128x256x{count} algorithm 0")), plain.count("blas 128x"));

    // What it does not take, the engine's own kernel multiplies: each shape is asked for once, and one line says so.
    cards.set("STRATA_SIM_BLAS_HEURISTIC", 7);
    let own = check(&cards);
    assert!(own.succeeded()["agrees"] == true && own.count("blas ") == 0, "{:?}", own.log);
    assert!(own.kernels().contains("multiply_matrix_f16"), "{:?}", own.kernels());
    let said = "hipBLASLt has no algorithm number 0 for this product: hipblasLtMatmulAlgoGetHeuristic failed with hipblasStatus_t 7";
    assert_eq!(own.talk.matches(said).count(), 1, "{}", own.talk);
}
