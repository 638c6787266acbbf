//! Small models for cards: of every architecture, with heads that the attention kernels take, and with every type of tensor.

use super::model::words;
use super::{Builder, Field};

/// Whole blocks of every type.
const WIDTH: u64 = 256;
const WORDS: u64 = 260;
const HEADS: u64 = 4;
const KV_HEADS: u64 = 2;
const HEAD: u64 = 64;
const INNER: u64 = 256;
const EXPERTS: u64 = 4;
const LAYERS: u64 = 2;

/// A type of tensor: its number in ggml, numbers and bytes of a block, and where the f16 scales of a block lie.
struct Kind(u32, u64, usize, &'static [usize]);

const F32: Kind = Kind(0, 1, 4, &[]);
const F16: Kind = Kind(1, 1, 2, &[0]);
const Q4_0: Kind = Kind(2, 32, 18, &[0]);
const Q8_0: Kind = Kind(8, 32, 34, &[0]);
const Q4_K: Kind = Kind(12, 256, 144, &[0, 2]);
const Q5_K: Kind = Kind(13, 256, 176, &[0, 2]);
const Q6_K: Kind = Kind(14, 256, 210, &[208]);
const IQ4_NL: Kind = Kind(20, 32, 18, &[0]);
const BF16: Kind = Kind(30, 1, 2, &[]);

impl Kind {
    /// The size of scales that makes numbers of about a tenth.
    fn scale(&self) -> f32 {
        match self.0 {
            1 => 0.1,
            8 | 20 => 0.1 / 64.0,
            12 | 13 => 0.1 / 512.0,
            14 => 0.1 / 1024.0,
            _ => 0.1 / 8.0,
        }
    }
}

/// A model with every type. `architecture` is `llama`, `qwen2`, `qwen3` or `qwen3moe`.
pub(crate) fn mixed(architecture: &'static str) -> Builder {
    model(architecture, |kind| kind)
}

/// A model of halves: nothing rounds activations to 8 bits, so that the CPU and cards choose the same tokens for long.
pub(crate) fn halves(architecture: &'static str) -> Builder {
    model(architecture, |_| F16)
}

fn model(architecture: &'static str, of: impl Fn(Kind) -> Kind) -> Builder {
    let mut builder = Builder::default();
    builder.key("general.architecture", Field::Text(architecture));
    let sizes = [
        ("embedding_length", WIDTH),
        ("block_count", LAYERS),
        ("feed_forward_length", INNER),
        ("context_length", 512),
        ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS),
        ("attention.key_length", HEAD),
        ("attention.value_length", HEAD),
    ];
    for (name, value) in sizes {
        builder.key(&format!("{architecture}.{name}"), Field::U32(value as u32));
    }
    builder.key(&format!("{architecture}.attention.layer_norm_rms_epsilon"), Field::F32(1e-5));
    let is_mixture = architecture == "qwen3moe";
    if is_mixture {
        let experts =
            [("expert_count", EXPERTS), ("expert_used_count", 2), ("expert_feed_forward_length", INNER)];
        experts.into_iter().for_each(|(name, value)| {
            builder.key(&format!("{architecture}.{name}"), Field::U32(value as u32));
        });
    }
    words(&mut builder);
    let mut random = Random(1);
    random.matrix(&mut builder, "token_embd", &[WIDTH, WORDS], &of(Q6_K));
    random.matrix(&mut builder, "output", &[WIDTH, WORDS], &of(F16));
    random.vector(&mut builder, "output_norm.weight", WIDTH, 1.0);
    for layer in 0..LAYERS {
        let name = |part: &str| format!("blk.{layer}.{part}");
        random.vector(&mut builder, &name("attn_norm.weight"), WIDTH, 1.0);
        random.vector(&mut builder, &name("ffn_norm.weight"), WIDTH, 1.0);
        let (query, keys) = (HEADS * HEAD, KV_HEADS * HEAD);
        random.matrix(&mut builder, &name("attn_q"), &[WIDTH, query], &of(Q4_K));
        random.matrix(&mut builder, &name("attn_k"), &[WIDTH, keys], &of(Q8_0));
        random.matrix(&mut builder, &name("attn_v"), &[WIDTH, keys], &of(Q5_K));
        random.matrix(&mut builder, &name("attn_output"), &[query, WIDTH], &of(Q4_0));
        if architecture == "qwen2" {
            for (part, size) in [("attn_q", query), ("attn_k", keys), ("attn_v", keys)] {
                random.vector(&mut builder, &name(&format!("{part}.bias")), size, 0.0);
            }
        }
        if architecture.starts_with("qwen3") {
            random.vector(&mut builder, &name("attn_q_norm.weight"), HEAD, 1.0);
            random.vector(&mut builder, &name("attn_k_norm.weight"), HEAD, 1.0);
        }
        if is_mixture {
            random.matrix(&mut builder, &name("ffn_gate_inp"), &[WIDTH, EXPERTS], &of(F32));
            random.matrix(&mut builder, &name("ffn_gate_exps"), &[WIDTH, INNER, EXPERTS], &of(IQ4_NL));
            random.matrix(&mut builder, &name("ffn_up_exps"), &[WIDTH, INNER, EXPERTS], &of(Q6_K));
            random.matrix(&mut builder, &name("ffn_down_exps"), &[INNER, WIDTH, EXPERTS], &of(Q4_K));
        } else {
            random.matrix(&mut builder, &name("ffn_gate"), &[WIDTH, INNER], &of(IQ4_NL));
            random.matrix(&mut builder, &name("ffn_up"), &[WIDTH, INNER], &of(BF16));
            random.matrix(&mut builder, &name("ffn_down"), &[INNER, WIDTH], &of(Q6_K));
        }
    }
    builder
}

struct Random(u32);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    /// From -1 to 1.
    fn number(&mut self) -> f32 {
        self.bits() as f32 / (1 << 23) as f32 - 1.0
    }

    fn vector(&mut self, builder: &mut Builder, name: &str, size: u64, around: f32) {
        let numbers: Vec<f32> = (0..size).map(|_| around + 0.1 * self.number()).collect();
        builder.tensor(name, &[size], &numbers);
    }

    fn matrix(&mut self, builder: &mut Builder, name: &str, sizes: &[u64], kind: &Kind) {
        let Kind(id, numbers, bytes, scales) = kind;
        let blocks = sizes.iter().product::<u64>() / numbers;
        let mut all = Vec::new();
        for _ in 0..blocks {
            let mut block: Vec<u8> = (0..*bytes).map(|_| (self.bits() >> 4) as u8).collect();
            let number = self.number();
            match id {
                0 => block.copy_from_slice(&(0.1 * number).to_le_bytes()),
                30 => block.copy_from_slice(&(0.1 * number).to_le_bytes()[2..]),
                _ => scales.iter().for_each(|at| {
                    block[*at..at + 2]
                        .copy_from_slice(&half::f16::from_f32(kind.scale() * number).to_le_bytes());
                }),
            }
            all.extend(block);
        }
        builder.stored(&format!("{name}.weight"), sizes, *id, all);
    }
}
