//! The tensors of a model by name, checked against its sizes and given to a backend.

use super::LoadError;
use super::config::{Architecture, Config};
use crate::backend::{Backend, Part};
use crate::gguf::{Error, Gguf, Tensor};
use std::sync::Arc;

/// The attention part of a layer.
#[allow(missing_docs)] // the names of the tensors
pub struct Attention<B: Backend> {
    pub norm: B::Vector,
    pub query: B::Matrix,
    pub key: B::Matrix,
    pub value: B::Matrix,
    pub output: B::Matrix,
    pub query_bias: Option<B::Vector>,
    pub key_bias: Option<B::Vector>,
    pub value_bias: Option<B::Vector>,
    pub output_bias: Option<B::Vector>,
    pub query_norm: Option<B::Vector>,
    pub key_norm: Option<B::Vector>,
}

/// Gate, up and down: each one matrix, or one an expert.
#[allow(missing_docs)] // the names of the tensors
pub struct FeedForward<B: Backend> {
    pub norm: B::Vector,
    /// Scores of the experts, where there are experts.
    pub router: Option<B::Matrix>,
    pub gate: B::Matrix,
    pub up: B::Matrix,
    pub down: B::Matrix,
}

/// One layer.
#[allow(missing_docs)] // the names of its parts
pub struct Layer<B: Backend> {
    pub attention: Attention<B>,
    pub feed_forward: FeedForward<B>,
}

/// All of a model's tensors.
#[allow(missing_docs)] // the names of the tensors
pub struct Weights<B: Backend> {
    pub embedding: B::Matrix,
    pub layers: Vec<Layer<B>>,
    pub norm: B::Vector,
    /// `None`: the embedding is used.
    pub output: Option<B::Matrix>,
    /// What divides the frequencies of the rotation.
    pub rope_factors: Option<Vec<f32>>,
}

impl<B: Backend> Weights<B> {
    /// Finds, checks and loads them.
    ///
    /// # Errors
    /// [`Error::MissingTensor`] and [`Error::Shape`], and the backend's.
    pub fn load(gguf: &Arc<Gguf>, config: &Config, backend: &B) -> Result<Self, LoadError> {
        let loader = |part| Loader { gguf, config, backend, part };
        let output = loader(Part::Output);
        let (width, vocabulary) = (config.width, config.vocabulary);
        Ok(Self {
            embedding: loader(Part::Embedding).matrix("token_embd.weight", [width, vocabulary])?,
            layers: (0..config.layers)
                .map(|layer| loader(Part::Layer(layer)).layer(layer))
                .collect::<Result<_, _>>()?,
            norm: output.vector("output_norm.weight", width)?,
            output: output.output()?,
            rope_factors: output.optional("rope_freqs.weight", |name| {
                let tensor = output.find(name, &[config.rope.dimensions / 2])?;
                Ok(numbers(gguf, tensor))
            })?,
        })
    }
}

/// The numbers of a tensor.
pub(crate) fn numbers(gguf: &Gguf, tensor: &Tensor) -> Vec<f32> {
    let mut out = vec![0.0; tensor.sizes.iter().product::<u64>() as usize];
    crate::quant::dequantise(tensor.kind, gguf.bytes(tensor), &mut out);
    out
}

/// The tensor `name`, which must have these sizes; sizes of 1 at the end do not count.
pub(crate) fn find<'a>(gguf: &'a Gguf, name: &str, expected: &[usize]) -> Result<&'a Tensor, Error> {
    let tensor = gguf.tensors().get(name).ok_or_else(|| Error::MissingTensor(name.to_owned()))?;
    let expected: Vec<u64> = expected.iter().map(|size| *size as u64).collect();
    let (has, rest) = tensor.sizes.split_at(expected.len().min(tensor.sizes.len()));
    if has != expected || rest.iter().any(|size| *size != 1) {
        return Err(Error::Shape { name: name.to_owned(), found: tensor.sizes.clone(), expected });
    }
    Ok(tensor)
}

struct Loader<'a, B> {
    gguf: &'a Arc<Gguf>,
    config: &'a Config,
    backend: &'a B,
    part: Part,
}

impl<B: Backend> Loader<'_, B> {
    /// `None`: the embedding is the output, and lies where that is computed.
    fn output(&self) -> Result<Option<B::Matrix>, LoadError> {
        let sizes = [self.config.width, self.config.vocabulary];
        let own = self.optional("output.weight", |name| self.matrix(name, sizes))?;
        if own.is_some() || self.backend.are_together(Part::Embedding, Part::Output) {
            return Ok(own);
        }
        self.matrix("token_embd.weight", sizes).map(Some)
    }

    fn find(&self, name: &str, expected: &[usize]) -> Result<&Tensor, Error> {
        find(self.gguf, name, expected)
    }

    fn matrix<const N: usize>(&self, name: &str, sizes: [usize; N]) -> Result<B::Matrix, LoadError> {
        self.backend.matrix(self.part, self.gguf, self.find(name, &sizes)?).map_err(LoadError::backend)
    }

    fn vector(&self, name: &str, size: usize) -> Result<B::Vector, LoadError> {
        let numbers = numbers(self.gguf, self.find(name, &[size])?);
        self.backend.vector(self.part, &numbers).map_err(LoadError::backend)
    }

    fn optional<T>(
        &self,
        name: &str,
        load: impl Fn(&str) -> Result<T, LoadError>,
    ) -> Result<Option<T>, LoadError> {
        if self.gguf.tensors().contains_key(name) { load(name).map(Some) } else { Ok(None) }
    }

    fn layer(&self, layer: usize) -> Result<Layer<B>, LoadError> {
        Ok(Layer { attention: self.attention(layer)?, feed_forward: self.feed_forward(layer)? })
    }

    fn attention(&self, layer: usize) -> Result<Attention<B>, LoadError> {
        let Config { architecture, width, heads, kv_heads, head_dim, .. } = *self.config;
        let (queries, keys) = (heads * head_dim, kv_heads * head_dim);
        let name = |part: &str| format!("blk.{layer}.attn_{part}");
        let bias = |part: &str, size| match architecture {
            Architecture::Qwen2 => self.vector(&name(part), size).map(Some),
            _ => self.optional(&name(part), |name| self.vector(name, size)),
        };
        let head_norm = |part: &str| match architecture {
            Architecture::Qwen3 | Architecture::Qwen3Moe => self.vector(&name(part), head_dim).map(Some),
            _ => Ok(None),
        };
        Ok(Attention {
            norm: self.vector(&name("norm.weight"), width)?,
            query: self.matrix(&name("q.weight"), [width, queries])?,
            key: self.matrix(&name("k.weight"), [width, keys])?,
            value: self.matrix(&name("v.weight"), [width, keys])?,
            output: self.matrix(&name("output.weight"), [queries, width])?,
            query_bias: bias("q.bias", queries)?,
            key_bias: bias("k.bias", keys)?,
            value_bias: bias("v.bias", keys)?,
            output_bias: self.optional(&name("output.bias"), |name| self.vector(name, width))?,
            query_norm: head_norm("q_norm.weight")?,
            key_norm: head_norm("k_norm.weight")?,
        })
    }

    fn feed_forward(&self, layer: usize) -> Result<FeedForward<B>, LoadError> {
        let width = self.config.width;
        let name = |part: &str| format!("blk.{layer}.ffn_{part}.weight");
        let norm = self.vector(&name("norm"), width)?;
        Ok(match self.config.experts {
            None => FeedForward {
                norm,
                router: None,
                gate: self.matrix(&name("gate"), [width, self.config.feed_forward])?,
                up: self.matrix(&name("up"), [width, self.config.feed_forward])?,
                down: self.matrix(&name("down"), [self.config.feed_forward, width])?,
            },
            Some(experts) => {
                let of_experts = Loader { part: Part::Experts(layer), ..*self };
                FeedForward {
                    norm,
                    router: Some(self.matrix(&name("gate_inp"), [width, experts.count])?),
                    gate: of_experts.matrix(&name("gate_exps"), [width, experts.width, experts.count])?,
                    up: of_experts.matrix(&name("up_exps"), [width, experts.width, experts.count])?,
                    down: of_experts.matrix(&name("down_exps"), [experts.width, width, experts.count])?,
                }
            }
        })
    }
}
