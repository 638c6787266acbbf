//! The tensors of an encoder by name, checked against its sizes.

use super::{Config, Projector};
use crate::backend::cpu::Matrix;
use crate::gguf::{Error, Gguf, Tensor};
use crate::model::weights::{find, numbers};
use std::sync::Arc;

/// A matrix and what is added to its products.
pub(super) struct Linear {
    pub(super) matrix: Matrix,
    pub(super) bias: Option<Vec<f32>>,
}

/// What follows the mean and the deviation of a norm.
pub(super) struct Norm {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

/// One block.
pub(super) struct Block {
    pub(super) first_norm: Norm,
    pub(super) query: Linear,
    pub(super) key: Linear,
    pub(super) value: Linear,
    pub(super) output: Linear,
    pub(super) second_norm: Norm,
    pub(super) up: Linear,
    pub(super) down: Linear,
}

/// The tensors of the projector.
pub(super) enum Projection {
    Mlp {
        first: Linear,
        second: Linear,
    },
    /// The matrix as rows of the output.
    Gemma3 {
        norm: Vec<f32>,
        rows: Vec<f32>,
    },
}

/// All tensors of an encoder.
pub(super) struct Weights {
    pub(super) patch: Linear,
    pub(super) class: Option<Vec<f32>>,
    pub(super) positions: Vec<f32>,
    pub(super) before: Option<Norm>,
    pub(super) blocks: Vec<Block>,
    pub(super) after: Option<Norm>,
    pub(super) projection: Projection,
    /// Numbers of a row of embeddings.
    pub(super) width: usize,
}

impl Weights {
    /// Finds, checks and loads them.
    pub(super) fn load(gguf: &Arc<Gguf>, config: &Config) -> Result<Self, Error> {
        let loader = Loader { gguf };
        let Config { width, patch_size, projector, .. } = *config;
        // Gemma's encoder has none, and its projector counts on squares of patches.
        let class = match projector {
            Projector::Mlp => loader.optional("v.class_embd", |name| loader.vector(name, width))?,
            Projector::Gemma3 => None,
        };
        let places = config.side().pow(2) + usize::from(class.is_some());
        let (projection, out) = loader.projection(projector, width)?;
        Ok(Self {
            patch: loader.patch(patch_size, width)?,
            positions: numbers(gguf, find(gguf, "v.position_embd.weight", &[width, places])?),
            class,
            before: loader.optional("v.pre_ln.weight", |_| loader.norm("v.pre_ln", width))?,
            blocks: (0..config.blocks)
                .map(|number| loader.block(number, config))
                .collect::<Result<_, _>>()?,
            after: loader.optional("v.post_ln.weight", |_| loader.norm("v.post_ln", width))?,
            projection,
            width: out,
        })
    }
}

struct Loader<'a> {
    gguf: &'a Arc<Gguf>,
}

impl Loader<'_> {
    fn vector(&self, name: &str, size: usize) -> Result<Vec<f32>, Error> {
        Ok(numbers(self.gguf, find(self.gguf, name, &[size])?))
    }

    fn optional<T>(&self, name: &str, load: impl Fn(&str) -> Result<T, Error>) -> Result<Option<T>, Error> {
        if self.gguf.tensors().contains_key(name) { load(name).map(Some) } else { Ok(None) }
    }

    fn norm(&self, name: &str, size: usize) -> Result<Norm, Error> {
        let part = |part: &str| self.vector(&format!("{name}.{part}"), size);
        Ok(Norm { weight: part("weight")?, bias: part("bias")? })
    }

    fn linear(&self, name: &str, columns: usize, rows: usize) -> Result<Linear, Error> {
        let tensor = find(self.gguf, &format!("{name}.weight"), &[columns, rows])?;
        let bias = self.optional(&format!("{name}.bias"), |name| self.vector(name, rows))?;
        Ok(Linear { matrix: Matrix::new(self.gguf.clone(), tensor.clone()), bias })
    }

    /// A convolution whose steps are its size: a matrix over the numbers of a patch.
    fn patch(&self, size: usize, width: usize) -> Result<Linear, Error> {
        let tensor = find(self.gguf, "v.patch_embd.weight", &[size, size, 3, width])?;
        let sizes = vec![(size * size * 3) as u64, width as u64];
        let bias = self.optional("v.patch_embd.bias", |name| self.vector(name, width))?;
        Ok(Linear { matrix: Matrix::new(self.gguf.clone(), Tensor { sizes, ..tensor.clone() }), bias })
    }

    fn block(&self, number: usize, config: &Config) -> Result<Block, Error> {
        let (width, inner) = (config.width, config.feed_forward);
        let name = |part: &str| format!("v.blk.{number}.{part}");
        // Old files call the wider of the two `down`.
        let is_swapped = self
            .gguf
            .tensors()
            .get(&name("ffn_down.weight"))
            .is_some_and(|tensor| width != inner && tensor.sizes[..] == [width as u64, inner as u64]);
        let (up, down) = if is_swapped { ("ffn_down", "ffn_up") } else { ("ffn_up", "ffn_down") };
        Ok(Block {
            first_norm: self.norm(&name("ln1"), width)?,
            query: self.linear(&name("attn_q"), width, width)?,
            key: self.linear(&name("attn_k"), width, width)?,
            value: self.linear(&name("attn_v"), width, width)?,
            output: self.linear(&name("attn_out"), width, width)?,
            second_norm: self.norm(&name("ln2"), width)?,
            up: self.linear(&name(up), width, inner)?,
            down: self.linear(&name(down), inner, width)?,
        })
    }

    /// The projector and the width of what it gives.
    fn projection(&self, projector: Projector, width: usize) -> Result<(Projection, usize), Error> {
        match projector {
            Projector::Mlp => {
                let (inner, out) = (self.rows("mm.0.weight")?, self.rows("mm.2.weight")?);
                let first = self.linear("mm.0", width, inner)?;
                Ok((Projection::Mlp { first, second: self.linear("mm.2", inner, out)? }, out))
            }
            Projector::Gemma3 => {
                const NAME: &str = "mm.input_projection.weight";
                let tensor = self.tensor(NAME)?;
                let out = tensor.sizes[0] as usize;
                let columns = numbers(self.gguf, find(self.gguf, NAME, &[out, width])?);
                let rows = (0..out * width).map(|i| columns[i % width * out + i / width]).collect();
                let norm = self.vector("mm.soft_emb_norm.weight", width)?;
                Ok((Projection::Gemma3 { norm, rows }, out))
            }
        }
    }

    fn tensor(&self, name: &str) -> Result<&Tensor, Error> {
        self.gguf.tensors().get(name).ok_or_else(|| Error::MissingTensor(name.to_owned()))
    }

    fn rows(&self, name: &str) -> Result<usize, Error> {
        Ok(self.tensor(name)?.sizes.get(1).map_or(1, |rows| *rows as usize))
    }
}
