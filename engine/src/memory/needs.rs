//! How many bytes a model's parts take.

use crate::generate::STEP;
use crate::gguf::Gguf;
use crate::model::Config;

/// One layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layer {
    /// Everything but the experts.
    pub dense: u64,
    /// All experts together.
    pub experts: u64,
}

/// What a model takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Layer by layer.
    pub layers: Vec<Layer>,
    /// The table of tokens, which is only looked up.
    pub embedding: u64,
    /// The output matrix and the last norm; where the embedding is the output, that once more.
    pub output: u64,
    /// Experts of a layer.
    pub experts: u64,
    /// How often each expert of each layer was used, if it was counted.
    pub uses: Option<Vec<Vec<u64>>>,
    /// Keys and values of one token in one layer.
    pub kv: u64,
    /// Buffers of a step.
    pub scratch: u64,
}

impl Needs {
    /// Adds up a model.
    pub fn new(gguf: &Gguf, config: &Config) -> Self {
        let mut needs = Self {
            layers: vec![Layer::default(); config.layers],
            embedding: 0,
            output: 0,
            experts: config.experts.map_or(0, |experts| experts.count as u64),
            uses: None,
            kv: (config.kv_heads * config.head_dim) as u64 * 4,
            scratch: scratch(config),
        };
        for (name, tensor) in gguf.tensors() {
            match layer_of(name).and_then(|number| needs.layers.get_mut(number)) {
                Some(layer) if name.contains("_exps.") => layer.experts += tensor.size,
                Some(layer) => layer.dense += tensor.size,
                None if name == "token_embd.weight" => needs.embedding += tensor.size,
                None => needs.output += tensor.size,
            }
        }
        if !gguf.tensors().contains_key("output.weight") {
            needs.output += needs.embedding;
        }
        needs
    }

    /// Bytes of the weights, as they are in the file.
    pub fn weights(&self) -> u64 {
        self.layers.iter().map(|layer| layer.dense + layer.experts).sum::<u64>()
            + self.embedding
            + self.output
    }
}

fn layer_of(name: &str) -> Option<usize> {
    name.strip_prefix("blk.")?.split('.').next()?.parse().ok()
}

/// f32 buffers that live at the same time, for a full step, and the logits of its tokens.
fn scratch(config: &Config) -> u64 {
    let wide = config.feed_forward.max(config.experts.map_or(0, |experts| experts.width * experts.used));
    let numbers = 4 * config.width + 3 * config.heads * config.head_dim + 3 * wide;
    4 * ((STEP * numbers) as u64 + 64 * config.vocabulary as u64)
}
