//! `strata-vision`: images to embeddings, on the CPU.

use anyhow::{Context, Result, bail};
use clap::Parser;
use engine::out;
use engine::vision::{Embeddings, Encoder, Picture};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Embeddings of images, by the vision part (`mmproj`) of a model in a GGUF file.
///
/// Each image, PNG or JPEG, gives one JSON object on stdout: its name, the number of rows (`tokens`), their `width`, the `milliseconds` that they took, and the rows as `embeddings` or the
/// file that has them. Without an image the encoder is checked and described. Exit codes: 0 done, 1 failed, 2 usage.
#[derive(Debug, Parser)]
#[command(name = "strata-vision", version, about, long_about)]
struct Cli {
    /// The encoder: a GGUF file with a ViT or SigLIP and a projector of the types `mlp` or `gemma3`
    mmproj: PathBuf,

    /// The images
    images: Vec<PathBuf>,

    /// Write the rows to files of this folder instead, IMAGE.f32 each: little-endian f32, row after row
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("error: {error}");
            error.chain().skip(1).for_each(|cause| eprint!("\n  caused by: {cause}"));
            eprintln!();
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<()> {
    let encoder = Encoder::open(&cli.mmproj, cli.threads)?;
    let config = encoder.config();
    if cli.images.is_empty() {
        out::line(json!({"tokens": config.tokens(), "width": encoder.width(), "encoder": config}))?;
    }
    // A mistake shows before the first is computed; of the pictures one at a time is in memory.
    if let Some(folder) = &cli.out {
        let mut names: Vec<PathBuf> = cli.images.iter().map(|image| target(folder, image)).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("two of the images would be written to `{}`", twice[0].display());
        }
    }
    for path in &cli.images {
        Picture::open(path)?;
    }
    for path in &cli.images {
        let picture = Picture::open(path)?;
        let start = Instant::now();
        let embeddings = encoder.encode(&picture);
        let mut object = json!({
            "image": path.display().to_string(),
            "tokens": config.tokens(),
            "width": embeddings.width,
            "milliseconds": start.elapsed().as_secs_f64() * 1000.0,
        });
        match &cli.out {
            Some(folder) => object["file"] = write(folder, path, &embeddings)?.display().to_string().into(),
            None => {
                let rows: Vec<&[f32]> = embeddings.numbers.chunks_exact(embeddings.width).collect();
                object["embeddings"] = json!(rows);
            }
        }
        out::line(object)?;
    }
    Ok(())
}

/// The file of an image's rows.
fn target(folder: &Path, image: &Path) -> PathBuf {
    let mut name = image.file_name().unwrap_or_default().to_owned();
    name.push(".f32");
    folder.join(name)
}

fn write(folder: &Path, image: &Path, embeddings: &Embeddings) -> Result<PathBuf> {
    let path = target(folder, image);
    let bytes: Vec<u8> = embeddings.numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    std::fs::write(&path, bytes).with_context(|| format!("failed to write `{}`", path.display()))?;
    Ok(path)
}
