//! The CPU reference over files, for checks that are not written in Rust: `tests/emulate_*.py` hold the compiled kernels against it.
//!
//!     reference attention FOLDER dtype=bf16 heads=2 kv_heads=1 head_dim=64 queries=70 keys=101 scale=0.125 [left=-1 right=0 origin=1]
//!               [logits_soft_cap=30] [page_rows=16 pages=7 | capacity=128]
//!     reference silu_and_mul|gelu_and_mul|gelu_tanh_and_mul FOLDER dtype=bf16 rows=3 width=300
//!     reference rms_norm|layer_norm|softmax FOLDER dtype=bf16 width=300 [epsilon=1e-6]
//!     reference rope FOLDER dtype=bf16 heads=2 head_dim=64 rotary_dim=64 style=neox|interleaved [nope_first=true] positions=0,1,2
//!     reference append_kv FOLDER dtype=bf16 kv_heads=1 head_dim=64 filled=5,0 added=2,3 page_rows=16 pages=7 | capacity=128
//!               [rotary_dim=64 style=neox|interleaved]
//!     reference quantise_int8|quantise_e4m3 FOLDER dtype=bf16 width=300
//!
//! `queries`, `keys`, `filled`, `added` and `positions` take a comma list. `dtype` is bf16, f16, f32 or e4m3. Tensors are raw little-endian
//! files in FOLDER: q, k, v and for pages block_table (i32, `pages` a sequence) in, o and lse out; input in, out out; of a norm also residual,
//! weight and bias in, where they are there, and sum out; cos and sin in f32; k_cache, v_cache, k_new and v_new in, k_out and v_out out;
//! of quantise out (bytes) and scales out. All other results are f32.

use aiter_kernels::reference::{
    Activation, AppendKv, Attention, E4m3, Element, KvLayout, Mask, Norm, NormInputs, Origin, Quantised,
    Rope, RopeStyle, Sequence, append_kv, attention_over, gated_activation, norm, quantise_per_token, rope,
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
        "e4m3" => call.run(|[bits]: [u8; 1]| E4m3::from_bits(bits)),
        other => Err(format!("dtype: expected bf16, f16, f32 or e4m3, found {other}").into()),
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
                let (q, k, v, table) = (tensor("q")?, tensor("k")?, tensor("v")?, self.block_table()?);
                let out = attention_over(&self.attention()?, &q, &k, &v, &self.layout(&table)?)?;
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
            "rope" => {
                let positions = self.list("positions")?;
                let (heads, head_dim) = (self.option("heads")?, self.option("head_dim")?);
                let [cos, sin] = self.tables()?;
                let out = rope(&self.rope([&cos, &sin])?, &tensor("input")?, &positions, heads, head_dim)?;
                write(&self.folder.join("out"), &out)
            }
            "append_kv" => {
                let (mut k, mut v, table) = (tensor("k_cache")?, tensor("v_cache")?, self.block_table()?);
                let tables = if self.find("style").is_some() { Some(self.tables()?) } else { None };
                let new = AppendKv {
                    filled: self.list("filled")?,
                    added: self.list("added")?,
                    kv_heads: self.option("kv_heads")?,
                    head_dim: self.option("head_dim")?,
                    k_new: &tensor("k_new")?,
                    v_new: &tensor("v_new")?,
                    rope: tables.as_ref().map(|[cos, sin]| self.rope([cos, sin])).transpose()?,
                };
                append_kv(&new, &self.layout(&table)?, &mut k, &mut v)?;
                let wide = |x: Vec<T>| x.into_iter().map(Element::to_f32).collect::<Vec<_>>();
                write(&self.folder.join("k_out"), &wide(k))?;
                write(&self.folder.join("v_out"), &wide(v))
            }
            "quantise_int8" | "quantise_e4m3" => {
                let int8 = self.operation == "quantise_int8";
                let format = if int8 { Quantised::Int8 } else { Quantised::E4m3 };
                let (out, scales) = quantise_per_token(format, &tensor("input")?, self.option("width")?)?;
                write_bytes(&self.folder.join("out"), &out)?;
                write(&self.folder.join("scales"), &scales)
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
            logits_soft_cap: self
                .find("logits_soft_cap")
                .map_or(Ok(0.0), |_| self.option("logits_soft_cap"))?,
            mask: self.mask()?,
        })
    }

    fn block_table(&self) -> Result<Vec<i32>> {
        if self.find("pages").is_none() {
            return Ok(Vec::new());
        }
        read(&self.folder.join("block_table"), i32::from_le_bytes)
    }

    fn layout<'a>(&self, block_table: &'a [i32]) -> Result<KvLayout<'a>> {
        if self.find("page_rows").is_some() {
            let (page_rows, block_table_stride) = (self.option("page_rows")?, self.option("pages")?);
            return Ok(KvLayout::Paged { page_rows, block_table, block_table_stride });
        }
        match self.find("capacity") {
            Some(_) => Ok(KvLayout::Dense { capacity: self.option("capacity")? }),
            None => Ok(KvLayout::Packed),
        }
    }

    fn tables(&self) -> Result<[Vec<f32>; 2]> {
        let table = |name: &str| read(&self.folder.join(name), f32::from_le_bytes);
        Ok([table("cos")?, table("sin")?])
    }

    fn rope<'a>(&self, [cos, sin]: [&'a [f32]; 2]) -> Result<Rope<'a, f32>> {
        let style = match self.option::<String>("style")?.as_str() {
            "neox" => RopeStyle::Neox,
            "interleaved" => RopeStyle::Interleaved,
            other => return Err(format!("style: expected neox or interleaved, found {other}").into()),
        };
        let nope_first = self.find("nope_first") == Some("true");
        Ok(Rope { cos, sin, rotary_dim: self.option("rotary_dim")?, style, nope_first })
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
    write_bytes(path, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}
