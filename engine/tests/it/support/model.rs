//! A model of a few thousand numbers that runs: its words are the 256 bytes.

use super::{Builder, Field};

const WIDTH: u64 = 32;
const WORDS: u64 = 260;

/// A tokenizer whose words are the 256 bytes, and a chat template.
pub(crate) fn words(builder: &mut Builder) {
    let words = ["<unk>", "<s>", "</s>"].map(str::to_owned).into_iter();
    let words = words.chain((0..=255).map(|byte| format!("<0x{byte:02X}>"))).chain(["\u{2581}".to_owned()]);
    builder.key("tokenizer.ggml.model", Field::Text("llama"));
    builder.key("tokenizer.ggml.tokens", Field::Texts(words.collect()));
    builder.key("tokenizer.ggml.scores", Field::Floats(vec![0.0; WORDS as usize]));
    let kinds = [2, 3, 3].into_iter().chain([6; 256]).chain([1]).collect();
    builder.key("tokenizer.ggml.token_type", Field::Integers(kinds));
    builder.key("tokenizer.ggml.bos_token_id", Field::U32(1));
    builder.key("tokenizer.ggml.eos_token_id", Field::U32(2));
    builder
        .key("tokenizer.chat_template", Field::Text("{% for m in messages %}{{ m.content }}\n{% endfor %}"));
}

/// A llama of one layer with random weights.
pub(crate) fn tiny() -> Builder {
    let mut builder = Builder::default();
    let sizes =
        [("embedding_length", 32), ("block_count", 1), ("feed_forward_length", 64), ("context_length", 256)];
    builder.key("general.architecture", Field::Text("llama"));
    for (name, value) in
        sizes.into_iter().chain([("attention.head_count", 2), ("attention.head_count_kv", 1)])
    {
        builder.key(&format!("llama.{name}"), Field::U32(value));
    }
    builder.key("llama.attention.layer_norm_rms_epsilon", Field::F32(1e-5));
    words(&mut builder);
    let matrices: [(&str, [u64; 2]); 9] = [
        ("token_embd", [WIDTH, WORDS]),
        ("output", [WIDTH, WORDS]),
        ("blk.0.attn_q", [WIDTH, WIDTH]),
        ("blk.0.attn_k", [WIDTH, 16]),
        ("blk.0.attn_v", [WIDTH, 16]),
        ("blk.0.attn_output", [WIDTH, WIDTH]),
        ("blk.0.ffn_gate", [WIDTH, 64]),
        ("blk.0.ffn_up", [WIDTH, 64]),
        ("blk.0.ffn_down", [64, WIDTH]),
    ];
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    for (name, sizes) in matrices {
        let numbers: Vec<f32> = (0..sizes[0] * sizes[1]).map(|_| random() * 0.4).collect();
        builder.tensor(&format!("{name}.weight"), &sizes, &numbers);
    }
    for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"] {
        builder.tensor(&format!("{name}.weight"), &[WIDTH], &[1.0; WIDTH as usize]);
    }
    builder
}
