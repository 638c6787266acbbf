//! What a model is: its architecture and sizes, from the metadata of its file.

use super::keys::Keys;
use crate::gguf::{Error, Gguf};
use serde::Serialize;

/// The architectures that are supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Llama 2 and 3, Mistral, Mixtral and whatever else shares their graph.
    Llama,
    /// Qwen 2 and 2.5: biases on query, key and value.
    Qwen2,
    /// Qwen 3: norms on the heads of query and key.
    Qwen3,
    /// Qwen 3 with experts.
    Qwen3Moe,
}

impl Architecture {
    /// All of them, with the names that files use.
    pub const ALL: [(&'static str, Self); 4] = [
        ("llama", Self::Llama),
        ("qwen2", Self::Qwen2),
        ("qwen3", Self::Qwen3),
        ("qwen3moe", Self::Qwen3Moe),
    ];

    /// The name that files use.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// Which numbers of a head are turned together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RopePairs {
    /// Neighbours: 0 and 1, 2 and 3, …
    Neighbours,
    /// Halves: 0 and d/2, 1 and d/2 + 1, …
    Halves,
}

/// The rotation of queries and keys by their position.
#[derive(Debug, Clone, Serialize)]
pub struct Rope {
    /// Which numbers are a pair.
    pub pairs: RopePairs,
    /// How many numbers of a head are turned, from the first on.
    pub dimensions: usize,
    /// The base of the frequencies.
    pub base: f32,
    /// Positions are multiplied by this (linear scaling).
    pub scale: f32,
}

/// Experts of each layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Experts {
    /// How many there are.
    pub count: usize,
    /// How many a token uses.
    pub used: usize,
    /// Width of one.
    pub width: usize,
}

/// Sizes of a model. All are 1 at least.
#[derive(Debug, Clone, Serialize)]
pub struct Config {
    /// Which graph it has.
    pub architecture: Architecture,
    /// Its name, if it has one.
    pub name: String,
    /// Entries of the vocabulary.
    pub vocabulary: usize,
    /// Layers.
    pub layers: usize,
    /// Numbers of a token between layers.
    pub width: usize,
    /// Query heads.
    pub heads: usize,
    /// Key heads, and as many of values.
    pub kv_heads: usize,
    /// Numbers of a head.
    pub head_dim: usize,
    /// Width of the dense feed-forward part; 0 where there are experts only.
    pub feed_forward: usize,
    /// Experts, if it has any.
    pub experts: Option<Experts>,
    /// What keeps the norms from dividing by 0.
    pub epsilon: f32,
    /// Rotation of queries and keys.
    pub rope: Rope,
    /// Context that it was trained with.
    pub trained_context: usize,
}

impl Config {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::MissingKey`] and [`Error::Key`].
    pub fn new(gguf: &Gguf) -> Result<Self, Error> {
        let architecture = architecture(gguf)?;
        let keys = Keys { gguf, prefix: architecture.name() };
        let width = keys.size("embedding_length")?;
        let heads = keys.size("attention.head_count")?;
        let kv_heads = keys.size_or("attention.head_count_kv", heads)?;
        let head_dim = keys.size_or("attention.key_length", width / heads)?;
        let experts = keys.experts()?;
        let feed_forward = match experts {
            Some(_) => 0,
            None => keys.size("feed_forward_length")?,
        };
        keys.expect(
            "attention.value_length",
            keys.size_or("attention.value_length", head_dim)? == head_dim,
            head_dim,
        )?;
        keys.expect(
            "attention.head_count",
            heads.is_multiple_of(kv_heads),
            "a multiple of attention.head_count_kv",
        )?;
        keys.expect("attention.key_length", head_dim > 0, "1 at least")?;
        let tensor =
            |name: &str| gguf.tensors().get(name).ok_or_else(|| Error::MissingTensor(name.to_owned()));
        let embedding = tensor("token_embd.weight")?;
        // What the metadata says is allocated for: each number has to have its tensors.
        let layers = keys.size("block_count")?;
        keys.expect("block_count", layers <= gguf.tensors().len(), "no more than there are tensors")?;
        if let Some(experts) = experts {
            let there = tensor("blk.0.ffn_gate_exps.weight")?.sizes.get(2).copied().unwrap_or(1);
            keys.expect(
                "expert_count",
                experts.count as u64 == there,
                format!("{there}, as there are experts"),
            )?;
        }
        Ok(Self {
            architecture,
            name: gguf.text("general.name")?.unwrap_or_default().to_owned(),
            vocabulary: embedding.sizes.get(1).map_or(1, |rows| *rows as usize),
            layers,
            width,
            heads,
            kv_heads,
            head_dim,
            feed_forward,
            experts,
            epsilon: keys.float("attention.layer_norm_rms_epsilon")?,
            rope: keys.rope(architecture, head_dim)?,
            trained_context: keys.size("context_length")?,
        })
    }
}

fn architecture(gguf: &Gguf) -> Result<Architecture, Error> {
    const KEY: &str = "general.architecture";
    let name = gguf.text(KEY)?.ok_or_else(|| Error::MissingKey(KEY.to_owned()))?;
    let found = Architecture::ALL.into_iter().find(|(known, _)| *known == name);
    let expected = "one of llama, qwen2, qwen3 and qwen3moe".to_owned();
    found.map(|(_, architecture)| architecture).ok_or_else(|| Error::Key {
        key: KEY.to_owned(),
        found: format!("`{name}`"),
        expected,
    })
}

impl Keys<'_> {
    fn experts(&self) -> Result<Option<Experts>, Error> {
        if self.gguf.unsigned_or(&self.key("expert_count"), 0)? == 0 {
            self.expect("expert_count", self.prefix != "qwen3moe", "1 at least")?;
            return Ok(None);
        }
        let (count, used) = (self.size("expert_count")?, self.size("expert_used_count")?);
        self.expect("expert_used_count", used <= count, format!("{count} at most"))?;
        let width = match self.optional("expert_feed_forward_length")? {
            Some(width) => width,
            None => self.size("feed_forward_length")?,
        };
        Ok(Some(Experts { count, used, width }))
    }

    fn rope(&self, architecture: Architecture, head_dim: usize) -> Result<Rope, Error> {
        let pairs =
            if architecture == Architecture::Llama { RopePairs::Neighbours } else { RopePairs::Halves };
        let dimensions = self.size_or("rope.dimension_count", head_dim)?;
        self.expect("rope.dimension_count", dimensions <= head_dim, format!("{head_dim} at most"))?;
        self.expect("rope.dimension_count", dimensions.is_multiple_of(2), "an even number")?;
        let base = self.gguf.float(&self.key("rope.freq_base"))?.unwrap_or(10_000.0);
        self.expect("rope.freq_base", base > 0.0, "a number above 0")?;
        // As llama.cpp has it: a factor without a type is linear, and 0 is none.
        let kind = self.gguf.text(&self.key("rope.scaling.type"))?.unwrap_or("linear").to_owned();
        self.expect("rope.scaling.type", ["none", "linear"].contains(&kind.as_str()), "`none` or `linear`")?;
        let factor = match self.gguf.float(&self.key("rope.scaling.factor"))? {
            None => self.gguf.float(&self.key("rope.scale_linear"))?,
            factor => factor,
        };
        let factor = factor.filter(|factor| kind == "linear" && *factor != 0.0).unwrap_or(1.0);
        self.expect("rope.scaling.factor", factor > 0.0, "a number above 0")?;
        Ok(Rope { pairs, dimensions, base, scale: 1.0 / factor })
    }
}
