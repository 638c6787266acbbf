//! Logits and greedy text of tiny random models, against llama.cpp on the same file.

use crate::python::{LLAMA_CPP, output, script};
use engine::backend::cpu::Cpu;
use engine::gguf::{Gguf, TensorType};
use engine::model::{Batch, Model};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

const ARCHITECTURES: [&str; 5] = ["llama", "mixtral", "qwen2", "qwen3", "qwen3moe"];
const PROMPT: [u32; 12] = [1, 300, 17, 450, 301, 260, 99, 511, 3, 302, 260, 480];
const GREEDY: usize = 64;

/// The largest difference of a logit that is accepted, in standard deviations of all logits. llama.cpp rounds activations to the weights' type
/// for F16 and BF16, where the engine keeps f32; both round them to 8 bits for the quantised types, and a number that lies between two steps may
/// go either way, in every layer anew.
fn bound(kind: TensorType) -> f32 {
    match kind {
        TensorType::F32 => 0.003,
        TensorType::F16 => 0.01,
        TensorType::BF16 => 0.15,
        _ => 0.25,
    }
}

#[derive(Deserialize)]
struct Rival {
    logits: Vec<Vec<f32>>,
    greedy: Vec<u32>,
}

fn names() -> Vec<String> {
    let of_kind = |kind: TensorType| ARCHITECTURES.map(|architecture| format!("{architecture}-{kind}"));
    TensorType::ALL.into_iter().flat_map(of_kind).collect()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("tiny").join(format!("{name}.gguf"))
}

/// What llama.cpp says of all models.
fn rivals() -> &'static BTreeMap<String, Rival> {
    static RIVALS: OnceLock<BTreeMap<String, Rival>> = OnceLock::new();
    RIVALS.get_or_init(|| {
        let folder = path("x").parent().expect("a folder").to_owned();
        std::fs::create_dir_all(&folder).expect("a folder");
        output(script(&LLAMA_CPP, "tiny.py").arg(&folder).args(names()));
        let prompt = PROMPT.map(|token| token.to_string()).join(",");
        let mut command = script(&LLAMA_CPP, "rival.py");
        command.arg(GREEDY.to_string()).arg(prompt).args(names().iter().map(|name| path(name)));
        let text = output(&mut command);
        let rivals = text.lines().map(|line| serde_json::from_str(line).expect("an object a model"));
        names().into_iter().zip(rivals).collect()
    })
}

/// The models of a type in every architecture.
pub(crate) fn agree(kind: TensorType) {
    let mut mistakes = Vec::new();
    for architecture in ARCHITECTURES {
        let name = format!("{architecture}-{kind}");
        let rival = &rivals()[&name];
        let ours = ours(&path(&name), Cpu::new(1).expect("threads"));
        let difference = difference(&ours.logits, &rival.logits);
        let relative = difference / deviation(&rival.logits);
        let same = ours.greedy.iter().zip(&rival.greedy).take_while(|(a, b)| a == b).count();
        println!(
            "{name}: largest difference {difference:.1e}, {relative:.1e} deviations; {same} of {GREEDY} greedy tokens the same"
        );
        if relative > bound(kind) || same < GREEDY {
            mistakes.push(name);
        }
    }
    assert!(mistakes.is_empty(), "{mistakes:?}");
}

fn difference(ours: &[Vec<f32>], rival: &[Vec<f32>]) -> f32 {
    assert_eq!(ours.len(), rival.len());
    let all = ours.iter().flatten().zip(rival.iter().flatten());
    all.map(|(a, b)| if (a - b).is_nan() { f32::INFINITY } else { (a - b).abs() }).fold(0.0, f32::max)
}

fn deviation(logits: &[Vec<f32>]) -> f32 {
    let count = logits.iter().map(Vec::len).sum::<usize>() as f32;
    let mean = logits.iter().flatten().sum::<f32>() / count;
    (logits.iter().flatten().map(|x| (x - mean).powi(2)).sum::<f32>() / count).sqrt()
}

fn ours(path: &Path, cpu: Cpu) -> Rival {
    let gguf = Arc::new(Gguf::open(path).expect("a model"));
    let model = Model::load(&gguf, cpu).expect("a model");
    let vocabulary = model.config().vocabulary;
    let mut cache = model.cache(1, 512).expect("memory");
    let mut batch = Batch::default();
    PROMPT.iter().enumerate().for_each(|(position, token)| batch.push(*token, 0, position, true));
    let logits = model.forward(&mut cache, &batch).expect("logits");
    let logits: Vec<Vec<f32>> = logits.chunks_exact(vocabulary).map(<[f32]>::to_vec).collect();
    let (mut last, mut greedy) = (logits[PROMPT.len() - 1].clone(), Vec::new());
    for position in PROMPT.len()..PROMPT.len() + GREEDY {
        let best = (0..vocabulary)
            .max_by(|a, b| last[*a].total_cmp(&last[*b]).then(b.cmp(a)))
            .expect("a token") as u32;
        greedy.push(best);
        let mut batch = Batch::default();
        batch.push(best, 0, position, true);
        last = model.forward(&mut cache, &batch).expect("logits");
    }
    Rival { logits, greedy }
}
