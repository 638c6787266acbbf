//! The CPU reference over files, for checks that are not written in Rust: `tests/emulate_*.py` hold the compiled kernels against it.
//!
//!     reference attention FOLDER dtype=bf16 heads=2 kv_heads=1 head_dim=64 queries=70 keys=101 scale=0.125 [left=-1 right=0 origin=1]
//!     reference silu_and_mul|gelu_and_mul|gelu_tanh_and_mul FOLDER dtype=bf16 rows=3 width=300
//!
//!     reference rms_norm|layer_norm|softmax FOLDER dtype=bf16 width=300 [epsilon=1e-6]
//!
//! `queries` and `keys` take a comma list, one number for each sequence. Tensors are raw little-endian files in FOLDER: q, k and v in, o and
//! lse out; input in, out out; of a norm also residual, weight and bias in, where they are there, and sum out. Results are f32.

use aiter_kernels::reference::{
    Activation, Attention, Element, Mask, Norm, NormInputs, Origin, Sequence, attention, gated_activation,
    norm,
};
use half::{bf16, f16};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(operation), Some(folder)) = (words.next(), words.next()) else {
        return Err("usage: reference OPERATION FOLDER KEY=VALUE...".into());
    };
    let call = Call { operation, folder: folder.into(), options: words.collect() };
    match call.option::<String>("dtype")?.as_str() {
        "bf16" => call.run(|bytes: [u8; 2]| bf16::from_le_bytes(bytes)),
        "f16" => call.run(|bytes: [u8; 2]| f16::from_le_bytes(bytes)),
        "f32" => call.run(|bytes: [u8; 4]| f32::from_le_bytes(bytes)),
        other => Err(format!("dtype: expected bf16, f16 or f32, found {other}").into()),
    }
}

struct Call {
    operation: String,
    folder: PathBuf,
    options: Vec<String>,
}

impl Call {
    fn run<T: Element, const N: usize>(&self, decode: fn([u8; N]) -> T) -> Result<()> {
        let tensor = |name: &str| read(&self.folder.join(name), decode);
        match self.operation.as_str() {
            "attention" => {
                let out = attention(&self.attention()?, &tensor("q")?, &tensor("k")?, &tensor("v")?)?;
                write(&self.folder.join("o"), &out.o)?;
                write(&self.folder.join("lse"), &out.lse)
            }
            "rms_norm" | "layer_norm" | "softmax" => {
                let (input, width) = (tensor("input")?, self.option("width")?);
                let optional = |name: &str| {
                    if self.folder.join(name).exists() { tensor(name).map(Some) } else { Ok(None) }
                };
                let (residual, weight, bias) =
                    (optional("residual")?, optional("weight")?, optional("bias")?);
                let inputs = NormInputs {
                    input: &input,
                    residual: residual.as_deref(),
                    weight: weight.as_deref(),
                    bias: bias.as_deref(),
                };
                let (out, sum) = norm(self.norm()?, inputs, width)?;
                write(&self.folder.join("out"), &out)?;
                write(&self.folder.join("sum"), &sum)
            }
            name => {
                let (rows, width) = (self.option("rows")?, self.option("width")?);
                let out = gated_activation(activation(name)?, &tensor("input")?, rows, width)?;
                write(&self.folder.join("out"), &out)
            }
        }
    }

    fn attention(&self) -> Result<Attention> {
        let (queries, keys) = (self.list("queries")?, self.list("keys")?);
        if queries.len() != keys.len() {
            return Err("keys: expected as many numbers as queries has".into());
        }
        let sequences = queries.into_iter().zip(keys).map(|(queries, keys)| Sequence { queries, keys });
        Ok(Attention {
            sequences: sequences.collect(),
            heads: self.option("heads")?,
            kv_heads: self.option("kv_heads")?,
            head_dim: self.option("head_dim")?,
            scale: self.option("scale")?,
            mask: self.mask()?,
        })
    }

    fn norm(&self) -> Result<Norm> {
        match self.operation.as_str() {
            "rms_norm" => Ok(Norm::Rms { epsilon: self.option("epsilon")? }),
            "layer_norm" => Ok(Norm::Layer { epsilon: self.option("epsilon")? }),
            _ => Ok(Norm::Softmax),
        }
    }

    fn mask(&self) -> Result<Mask> {
        if self.find("origin").is_none() {
            return Ok(Mask::None);
        }
        let side = |name| Ok::<_, Box<dyn Error>>(usize::try_from(self.option::<i64>(name)?).ok());
        let origin = if self.option::<u8>("origin")? == 1 { Origin::TopLeft } else { Origin::BottomRight };
        Ok(Mask::Window { left: side("left")?, right: side("right")?, origin })
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.options.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }

    fn option<V: FromStr<Err: Error + 'static>>(&self, name: &str) -> Result<V> {
        let value = self.find(name).ok_or_else(|| format!("{name}: missing"))?;
        value.parse().map_err(|error| format!("{name}: {error}").into())
    }

    fn list(&self, name: &str) -> Result<Vec<usize>> {
        let value: String = self.option(name)?;
        value.split(',').map(|n| n.parse().map_err(|error| format!("{name}: {error}").into())).collect()
    }
}

fn activation(name: &str) -> Result<Activation> {
    match name {
        "silu_and_mul" => Ok(Activation::Silu),
        "gelu_and_mul" => Ok(Activation::Gelu),
        "gelu_tanh_and_mul" => Ok(Activation::GeluTanh),
        other => Err(format!("operation: unknown: {other}").into()),
    }
}

fn read<T, const N: usize>(path: &Path, decode: fn([u8; N]) -> T) -> Result<Vec<T>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (elements, rest) = bytes.as_chunks::<N>();
    if rest.is_empty() {
        Ok(elements.iter().map(|&e| decode(e)).collect())
    } else {
        Err("a tensor ends within an element".into())
    }
}

fn write(path: &Path, values: &[f32]) -> Result<()> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}
