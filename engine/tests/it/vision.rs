//! `strata-vision` as a process: files that it does not take, and what it says of them.
#![cfg(unix)]

use crate::support::{Builder, Field};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const WIDTH: u64 = 8;

/// A SigLIP of one block for images of 8 x 8 pixels.
fn encoder() -> Builder {
    let mut builder = Builder::default();
    builder.key("general.architecture", Field::Text("clip"));
    builder.key("clip.has_vision_encoder", Field::Raw(7, vec![1]));
    builder.key("clip.projector_type", Field::Text("gemma3"));
    let sizes = [
        ("image_size", 8),
        ("patch_size", 2),
        ("embedding_length", 8),
        ("feed_forward_length", 16),
        ("block_count", 1),
        ("attention.head_count", 2),
    ];
    for (name, size) in sizes {
        builder.key(&format!("clip.vision.{name}"), Field::U32(size));
    }
    builder.key("clip.vision.attention.layer_norm_epsilon", Field::F32(1e-6));
    builder.key("clip.vision.image_mean", Field::Floats(vec![0.5; 3]));
    builder.key("clip.vision.image_std", Field::Floats(vec![0.5; 3]));
    let mut tensor = |name: &str, sizes: &[u64]| {
        let count = sizes.iter().product::<u64>();
        let numbers: Vec<f32> =
            (0..count).map(|i| (i as f32 * 0.7 + name.len() as f32).sin() * 0.3).collect();
        builder.tensor(name, sizes, &numbers);
    };
    tensor("v.patch_embd.weight", &[2, 2, 3, WIDTH]);
    tensor("v.position_embd.weight", &[WIDTH, 16]);
    for norm in ["ln1", "ln2"] {
        tensor(&format!("v.blk.0.{norm}.weight"), &[WIDTH]);
        tensor(&format!("v.blk.0.{norm}.bias"), &[WIDTH]);
    }
    for part in ["q", "k", "v", "out"] {
        tensor(&format!("v.blk.0.attn_{part}.weight"), &[WIDTH, WIDTH]);
    }
    tensor("v.blk.0.ffn_up.weight", &[WIDTH, 16]);
    tensor("v.blk.0.ffn_down.weight", &[16, WIDTH]);
    tensor("mm.soft_emb_norm.weight", &[WIDTH]);
    tensor("mm.input_projection.weight", &[12, WIDTH]);
    builder
}

/// 3 x 2 pixels of grey: a PNG with stored blocks and right checksums, by hand.
fn image() -> Vec<u8> {
    let mut out = vec![0x89, b'P', b'N', b'G', 13, 10, 26, 10];
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        out.extend((data.len() as u32).to_be_bytes());
        let body = [&kind[..], data].concat();
        out.extend(&body);
        let crc = body.iter().fold(u32::MAX, |crc, byte| {
            (0..8)
                .fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        });
        out.extend((!crc).to_be_bytes());
    };
    chunk(b"IHDR", &[0, 0, 0, 3, 0, 0, 0, 2, 8, 0, 0, 0, 0]);
    let rows = [0, 10, 200, 30, 0, 90, 60, 250];
    let (a, b) = rows.iter().fold((1_u32, 0_u32), |(a, b), byte| (a + byte, a + byte + b));
    let mut data = vec![0x78, 1, 1, 8, 0, !8, !0];
    data.extend(rows.map(|byte| byte as u8));
    data.extend((b << 16 | a).to_be_bytes());
    chunk(b"IDAT", &data);
    chunk(b"IEND", &[]);
    out
}

fn run(arguments: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata-vision"));
    command.env_clear().stdin(Stdio::null()).args(["--threads", "1"]).args(arguments);
    command.output().expect("strata-vision starts")
}

#[test]
fn an_image_becomes_rows_as_json_or_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let [model, picture] = ["m.gguf", "p.png"].map(|name| folder.path().join(name));
    std::fs::write(&model, encoder().bytes()).expect("a file");
    std::fs::write(&picture, image()).expect("a file");
    let object = |arguments: &[&Path]| -> serde_json::Value {
        let output = run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("one object")
    };
    let described = object(&[&model]);
    assert_eq!((&described["tokens"], &described["width"]), (&1.into(), &12.into()));
    let whole = object(&[&model, &picture]);
    let rows: Vec<Vec<f32>> = serde_json::from_value(whole["embeddings"].clone()).expect("rows");
    assert!(rows.len() == 1 && rows[0].len() == 12 && rows[0].iter().all(|x| x.is_finite()), "{whole}");
    let filed = object(&[&model, &picture, Path::new("--out"), folder.path()]);
    let bytes = std::fs::read(filed["file"].as_str().expect("a path")).expect("a file");
    let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    assert_eq!(numbers, rows[0]);
}

#[test]
fn a_class_is_nothing_to_gemma() {
    let folder = tempfile::tempdir().expect("a folder");
    let [model, picture] = ["m.gguf", "p.png"].map(|name| folder.path().join(name));
    let mut builder = encoder();
    builder.tensor("v.class_embd", &[WIDTH], &[0.0; WIDTH as usize]);
    std::fs::write(&model, builder.bytes()).expect("a file");
    std::fs::write(&picture, image()).expect("a file");
    let output = run(&[&model, &picture]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_images_do_not_share_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("m.gguf"), encoder().bytes()).expect("a file");
    let images = ["a/p.png", "b/p.png"].map(|name| {
        std::fs::create_dir_all(place(name).parent().expect("a parent")).expect("a folder");
        std::fs::write(place(name), image()).expect("a file");
        place(name)
    });
    let output = run(&[&place("m.gguf"), &images[0], &images[1], Path::new("--out"), folder.path()]);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{talk}");
    let said = format!("error: two of the images would be written to `{}`", place("p.png.f32").display());
    assert!(talk.starts_with(&said) && !place("p.png.f32").exists(), "{talk}");
}

#[test]
fn a_reader_that_has_gone_is_no_fault() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("m.gguf");
    std::fs::write(&model, encoder().bytes()).expect("a file");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata-vision"));
    let status = command.env_clear().arg(&model).stdout(writer).status();
    assert!(status.expect("strata-vision starts").success());
}

#[test]
fn whatever_is_wrong_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let mut said = Vec::new();
    let mut note = |what: &str, output: &Output| {
        let talk =
            String::from_utf8_lossy(&output.stderr).replace(&folder.path().display().to_string(), "FOLDER");
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{what}: {output:?}");
        said.push(format!("{what}\n{talk}"));
    };
    type Spoil = fn(&mut Builder);
    let models: [(&str, Spoil); 11] = [
        ("another architecture", |b| b.keys[0].1 = Field::Text("llama")),
        ("no vision", |b| b.keys[1].1 = Field::Raw(7, vec![0])),
        ("another projector", |b| b.keys[2].1 = Field::Text("resampler")),
        ("patches that do not fit", |b| b.keys[3].1 = Field::U32(9)),
        ("too many patches", |b| b.keys[3].1 = Field::U32(1 << 20)),
        ("heads that do not fit", |b| b.keys[8].1 = Field::U32(3)),
        ("no blocks", |b| b.keys[7].1 = Field::U32(0)),
        ("a deviation of 0", |b| b.keys[11].1 = Field::Floats(vec![0.5, 0.0, 0.5])),
        ("two colours", |b| b.keys[10].1 = Field::Floats(vec![0.5; 2])),
        ("a tensor of another shape", |b| b.tensors[1].1 = vec![16, WIDTH]),
        ("a tensor that is missing", |b| b.tensors[6].0 = "v.blk.0.attn_x.weight".to_owned()),
    ];
    for (what, spoil) in models {
        let mut builder = encoder();
        spoil(&mut builder);
        std::fs::write(place("m.gguf"), builder.bytes()).expect("a file");
        note(what, &run(&[&place("m.gguf")]));
    }
    std::fs::write(place("m.gguf"), encoder().bytes()).expect("a file");
    let mut wide = image();
    wide[16..20].copy_from_slice(&[0, 1, 0, 0]);
    let cut = image()[..50].to_vec();
    let images: [(&str, &[u8]); 4] = [
        ("text", b"no image"),
        ("a PNG that is cut", &cut),
        ("a PNG with a wrong sum", &wide),
        ("half a JPEG", &[0xff, 0xd8, 0xff]),
    ];
    for (what, bytes) in images {
        std::fs::write(place("p"), bytes).expect("a file");
        note(what, &run(&[&place("m.gguf"), &place("p")]));
    }
    note("no such image", &run(&[&place("m.gguf"), &place("missing.png")]));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn help() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata-vision"));
    let output = command.arg("--help").env("COLUMNS", "100").output().expect("strata-vision starts");
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout));
}
