//! Hostile files: each gets an error that names what is wrong.

use crate::support::{Builder, Field, tiny};
use engine::gguf::{Directory, Gguf};
use engine::model::Config;
use engine::tokenizer::Tokenizer;
use std::error::Error;

fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn with(change: impl FnOnce(&mut Builder)) -> Builder {
    let mut builder = Builder::default();
    builder.key("general.architecture", Field::Text("llama"));
    builder.tensor("a", &[8, 2], &[0.0; 16]).tensor("b", &[8], &[0.0; 8]);
    change(&mut builder);
    builder
}

#[test]
fn a_hostile_file_gets_an_error() {
    let huge = u64::MAX.to_le_bytes().to_vec();
    let array = |id: u32, count: u64| Field::Raw(9, [&id.to_le_bytes()[..], &count.to_le_bytes()].concat());
    let cases: Vec<(&str, Builder)> = vec![
        ("another magic", with(|b| b.magic = *b"GGML")),
        ("version 1", with(|b| b.version = 1)),
        ("a version of the future", with(|b| b.version = 4)),
        ("big-endian", with(|b| b.version = 3_u32.swap_bytes())),
        ("more keys than bytes", with(|b| b.key_count = Some(u64::MAX))),
        ("more tensors than bytes", with(|b| b.tensor_count = Some(1 << 60))),
        ("one key too many", with(|b| b.key_count = Some(2))),
        ("a text without end", with(|b| _ = b.key("x", Field::Raw(8, huge.clone())))),
        ("an array without end", with(|b| _ = b.key("x", array(8, 1 << 61)))),
        ("an array of arrays", with(|b| _ = b.key("x", array(9, 1)))),
        ("a type that does not exist", with(|b| _ = b.key("x", Field::Raw(13, vec![])))),
        ("a bool of 2", with(|b| _ = b.key("x", Field::Raw(7, vec![2])))),
        ("text that is no text", with(|b| _ = b.key("x", Field::Raw(8, vec![1, 0, 0, 0, 0, 0, 0, 0, 0xff])))),
        ("a key twice", with(|b| _ = b.key("general.architecture", Field::U32(1)))),
        ("a key without name", with(|b| _ = b.key("", Field::U32(1)))),
        ("alignment 0", with(|b| _ = b.key("general.alignment", Field::U32(0)))),
        ("alignment 48", with(|b| _ = b.key("general.alignment", Field::U32(48)))),
        ("alignment as text", with(|b| _ = b.key("general.alignment", Field::Text("32")))),
        ("a tensor twice", with(|b| b.tensors[1].0 = "a".to_owned())),
        ("a long tensor name", with(|b| b.tensors[1].0 = "n".repeat(65))),
        ("no dimensions", with(|b| b.tensors[0].1 = vec![])),
        ("five dimensions", with(|b| b.tensors[0].1 = vec![1; 5])),
        ("a size of 0", with(|b| b.tensors[0].1 = vec![8, 0])),
        ("sizes that overflow", with(|b| b.tensors[0].1 = vec![1 << 40, 1 << 40])),
        ("bytes that overflow", with(|b| b.tensors[0].1 = vec![1 << 62])),
        ("a type that is not supported", with(|b| b.tensors[0].2 = 10)),
        ("a type that nobody knows", with(|b| b.tensors[0].2 = 999)),
        ("rows that are no blocks", with(|b| b.tensors[0].2 = 12)),
        ("an offset off the alignment", with(|b| b.tensors[1].3 = 33)),
        ("past the end", with(|b| b.tensors[1].3 = 96)),
        ("an offset that overflows", with(|b| b.tensors[1].3 = u64::MAX - 31)),
        ("tensors that overlap", with(|b| b.tensors[1].3 = 32)),
    ];
    let said = cases.iter().map(|(name, builder)| {
        let error = Directory::parse(&builder.bytes()).expect_err(name);
        format!("{name}: {}", chain(&error))
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"));
    assert_eq!(Directory::parse(&with(|_| ()).bytes()).expect("a file").tensors.len(), 2);
}

#[test]
fn a_file_that_is_cut_anywhere_gets_an_error() {
    let bytes = tiny().bytes();
    assert!(Directory::parse(&bytes).is_ok());
    let head = bytes.len() - tiny().data.len();
    for len in (0..head).chain([bytes.len() - 33]) {
        assert!(Directory::parse(&bytes[..len]).is_err(), "cut at {len}");
    }
}

/// What is wrong with a model whose file is sound.
fn complaint(change: impl FnOnce(&mut Builder)) -> String {
    let mut builder = tiny();
    change(&mut builder);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, builder.bytes()).expect("a file");
    let gguf = std::sync::Arc::new(match Gguf::open(&path) {
        Ok(gguf) => gguf,
        Err(error) => return chain(&error).replace(&path.display().to_string(), "model.gguf"),
    });
    let cpu = engine::backend::cpu::Cpu::new(1).expect("threads");
    match engine::loaded::Loaded::new(&gguf, cpu) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => chain(&error),
    }
}

fn set(builder: &mut Builder, name: &str, field: Field) {
    builder.keys.retain(|(key, _)| key != name);
    builder.key(name, field);
}

#[test]
fn a_model_that_makes_no_sense_gets_an_error() {
    let set = |name: &'static str, field: Field| complaint(|b| set(b, name, field));
    let said = [
        ("as it is", complaint(|_| ())),
        ("another architecture", set("general.architecture", Field::Text("bert"))),
        ("no heads", set("llama.attention.head_count", Field::U32(0))),
        ("heads that do not divide", set("llama.attention.head_count_kv", Field::U32(3))),
        ("a million layers", set("llama.block_count", Field::U32(1_000_000))),
        ("a width of 4 billion", set("llama.embedding_length", Field::U32(u32::MAX))),
        ("a width as text", set("llama.embedding_length", Field::Text("32"))),
        ("an epsilon that is no number", set("llama.attention.layer_norm_rms_epsilon", Field::F32(f32::NAN))),
        ("an odd rotation", set("llama.rope.dimension_count", Field::U32(15))),
        ("a rotation beyond the head", set("llama.rope.dimension_count", Field::U32(64))),
        ("yarn", set("llama.rope.scaling.type", Field::Text("yarn"))),
        (
            "more experts used than there are",
            complaint(|b| {
                b.key("llama.expert_count", Field::U32(2)).key("llama.expert_used_count", Field::U32(3));
            }),
        ),
        (
            "a million experts",
            complaint(|b| {
                b.key("llama.expert_count", Field::U32(1_000_000))
                    .key("llama.expert_used_count", Field::U32(1));
            }),
        ),
        ("a part of several", set("split.count", Field::U32(2))),
        ("another tokenizer", set("tokenizer.ggml.model", Field::Text("bert"))),
        ("too few scores", set("tokenizer.ggml.scores", Field::Floats(vec![0.0]))),
        ("a start that is no token", set("tokenizer.ggml.bos_token_id", Field::U32(260))),
        ("a type of token", set("tokenizer.ggml.token_type", Field::Integers(vec![9; 260]))),
        ("no tokens", set("tokenizer.ggml.tokens", Field::Texts(vec![]))),
        ("a missing tensor", complaint(|b| b.tensors[2].0 = "blk.0.attn_x.weight".to_owned())),
        ("a tensor of another shape", complaint(|b| b.tensors[3].1 = vec![16, 32])),
        (
            "fewer rows than tokens",
            complaint(|b| {
                b.tensors[0].1 = vec![32, 200];
                b.tensors[1].1 = vec![32, 200];
            }),
        ),
    ];
    let said = said.map(|(name, complaint)| format!("{name}: {complaint}"));
    insta::assert_snapshot!(said.join("\n"));
}

/// Positions are scaled where a file has a factor, in any of the ways that llama.cpp reads.
#[test]
fn positions_are_scaled_as_by_llama_cpp() {
    let (kind, factor, old) =
        ("llama.rope.scaling.type", "llama.rope.scaling.factor", "llama.rope.scale_linear");
    let table: [(&[(&str, Field)], f32); 6] = [
        (&[], 1.0),
        (&[(factor, Field::F32(4.0))], 0.25),
        (&[(old, Field::F32(8.0))], 0.125),
        (&[(kind, Field::Text("linear")), (factor, Field::F32(2.0)), (old, Field::F32(8.0))], 0.5),
        (&[(kind, Field::Text("none")), (factor, Field::F32(2.0))], 1.0),
        (&[(factor, Field::F32(0.0))], 1.0),
    ];
    for (keys, scale) in table {
        let mut builder = tiny();
        keys.iter().for_each(|(key, field)| set(&mut builder, key, field.clone()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.gguf");
        std::fs::write(&path, builder.bytes()).expect("a file");
        let config = Config::new(&Gguf::open(&path).expect("a file")).expect("a model");
        assert_eq!(config.rope.scale, scale);
    }
}

/// Reads as much of a file as a program would before it computes.
pub(crate) fn read_all(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.gguf");
    std::fs::write(&path, bytes).expect("a file");
    if let Ok(gguf) = Gguf::open(&path) {
        let _ = Config::new(&gguf);
        let _ = Tokenizer::new(&gguf);
    }
}
