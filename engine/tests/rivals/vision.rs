//! Embeddings of images by `strata-vision`, against numpy and llama.cpp's mtmd on the same files.

use crate::python::{LLAMA_CPP, output, script};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

type Rows = Vec<Vec<f32>>;

#[derive(Deserialize)]
struct Rival {
    name: String,
    image: String,
    numpy: Option<Rows>,
    mtmd: Option<Rows>,
}

/// The largest difference that is accepted, in standard deviations. Both round activations to 8 bits for Q8_0, numpy does not; mtmd rounds images to f16, and GELU is
/// a table of f16 there; the two JPEG decoders, and the two
/// filters that make an image smaller, differ by a step of 255 here and there.
fn bounds(name: &str, image: &str) -> (f32, f32) {
    match (name.ends_with("Q8_0"), image) {
        (true, _) => (0.15, 0.15),
        (_, "photo.jpg") => (0.0, 0.1),
        (_, "wide.png" | "small.png") => (0.03, 0.0),
        _ => (1e-5, 0.005),
    }
}

/// Every encoder gives the rows of the definition and of mtmd for every image.
pub(crate) fn agree() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vision");
    std::fs::create_dir_all(&folder).expect("a folder");
    output(script(&LLAMA_CPP, "tiny.py").arg(&folder).arg("llama-F32"));
    let text = output(script(&LLAMA_CPP, "vision.py").arg(&folder).arg(folder.join("llama-F32.gguf")));
    let rivals: Vec<Rival> =
        text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect();
    assert_eq!(rivals.len(), 25);
    let mut mistakes = Vec::new();
    for rival in rivals {
        let ours = ours(&folder, &rival);
        let (of_numpy, of_mtmd) = bounds(&rival.name, &rival.image);
        for (who, rows, bound) in [("numpy", &rival.numpy, of_numpy), ("mtmd", &rival.mtmd, of_mtmd)] {
            let Some(rows) = rows else { continue };
            let difference = difference(&ours, rows);
            println!("{} {} {who}: {difference:.1e} deviations", rival.name, rival.image);
            if difference > bound {
                mistakes.push(format!("{} {} {who}", rival.name, rival.image));
            }
        }
    }
    assert!(mistakes.is_empty(), "{mistakes:?}");
}

fn ours(folder: &Path, rival: &Rival) -> Rows {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strata-vision"));
    command.arg(folder.join(format!("{}.gguf", rival.name))).arg(folder.join(&rival.image));
    let object: serde_json::Value = serde_json::from_str(&output(&mut command)).expect("one object");
    serde_json::from_value(object["embeddings"].clone()).expect("rows of numbers")
}

fn difference(ours: &Rows, rival: &Rows) -> f32 {
    let [ours, rival] = [ours, rival].map(|rows| rows.concat());
    assert_eq!(ours.len(), rival.len());
    let deviation = (rival.iter().map(|x| x * x).sum::<f32>() / rival.len() as f32).sqrt();
    let all = ours.iter().zip(&rival);
    all.map(|(a, b)| if (a - b).is_nan() { f32::INFINITY } else { (a - b).abs() }).fold(0.0, f32::max)
        / deviation
}
