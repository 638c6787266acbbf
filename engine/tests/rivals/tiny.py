"""Tiny random models, written by the gguf package: one for an architecture and a tensor type.

usage: tiny.py FOLDER ARCHITECTURE-TYPE…   writes FOLDER/ARCHITECTURE-TYPE.gguf
"""

import sys

import gguf
import numpy as np

WIDTH, HEADS, KV_HEADS, HEAD_DIM, LAYERS, CONTEXT = 256, 4, 2, 64, 2, 512
FEED_FORWARD, EXPERTS, USED = 512, 8, 3
TYPES = gguf.GGMLQuantizationType
# Where the f16 scales of a block are, and how large they are so that weights have a deviation near 0.05.
SCALES = {"Q4_K": [(0, 2.5e-4)], "Q5_K": [(0, 1.25e-4)], "Q6_K": [(208, 4e-5)], "IQ4_NL": [(0, 8e-4)]}


def vocabulary(writer):
    """A SentencePiece vocabulary: the bytes, letters with their scores, and pairs of them."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    pieces = ["\u2581"] + letters + [a + b for a in letters[:8] for b in letters]
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + pieces
    tokens += [f"[{i}]" for i in range(512 - len(tokens))]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (512 - 259)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([float(-i) for i in range(512)])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: ")
    return len(tokens)


def scales_of(blocks, at):
    return np.ascontiguousarray(blocks[:, at : at + 2]).view(np.float16).astype(np.float32).reshape(-1)


def packed(scales, minima):
    """Eight scales and eight minima of 6 bits in twelve bytes."""
    low = [scales[:, :4] | scales[:, 4:] >> 4 << 6, minima[:, :4] | minima[:, 4:] >> 4 << 6]
    return np.concatenate([*low, scales[:, 4:] & 15 | (minima[:, 4:] & 15) << 4], axis=1)


def k_blocks(rng, kind, count, gain):
    """Random blocks of a type that the package cannot write: any bits, but small scales."""
    size = gguf.GGML_QUANT_SIZES[TYPES[kind]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at, scale in SCALES[kind]:
        scales = (gain * scale * rng.uniform(0.5, 1.5, count)).astype(np.float16)
        blocks[:, at : at + 2] = scales.view(np.uint8).reshape(count, 2)
    if kind in ("Q4_K", "Q5_K"):  # numbers around 0: a group's minimum is near its scale
        minima = rng.integers(4, 60, (count, 8))
        blocks[:, 4:16] = packed(minima + rng.integers(-3, 4, (count, 8)), minima)
        minimum = scales_of(blocks, 0) * (7.5 if kind == "Q4_K" else 15.5)
        blocks[:, 2:4] = minimum.astype(np.float16).view(np.uint8).reshape(count, 2)
    if kind == "Q6_K":  # the scales of its groups have a sign
        blocks[:, 192:208] = rng.integers(-64, 64, (count, 16)).astype(np.int8).view(np.uint8)
    return blocks


class Model:
    def __init__(self, path, architecture, kind, seed):
        self.rng, self.kind = np.random.default_rng(seed), kind
        self.writer = gguf.GGUFWriter(path, architecture)

    def vector(self, name, numbers):
        self.writer.add_tensor(name, np.asarray(numbers, dtype=np.float32))

    def matrix(self, name, *shape):
        """Random numbers. Shape as in numpy: the row length comes last."""
        self.writer.add_tensor(name, self.numbers(*shape), raw_dtype=TYPES[self.kind])

    def numbers(self, *shape, gain=1):
        if self.kind in SCALES:
            count = int(np.prod(shape)) // gguf.GGML_QUANT_SIZES[TYPES[self.kind]][0]
            blocks = k_blocks(self.rng, self.kind, count, gain)
            return blocks.reshape(*shape[:-1], -1)
        return gguf.quants.quantize(self.rng.normal(0, 0.05 * gain, shape).astype(np.float32), TYPES[self.kind])

    def embedding(self, vocab, is_tied):
        """The output is the embedding in another order: a token has a favourite successor, and rounding does not decide what is best."""
        rows = self.numbers(vocab, WIDTH, gain=20)
        self.writer.add_tensor("token_embd.weight", rows, raw_dtype=TYPES[self.kind])
        if not is_tied:
            self.writer.add_tensor("output.weight", rows[self.rng.permutation(vocab)], raw_dtype=TYPES[self.kind])

    def norm(self, name, width):
        self.vector(name, self.rng.uniform(0.5, 1.5, width))


def write(path, architecture, kind, seed):
    model = Model(path, "llama" if architecture == "mixtral" else architecture, kind, seed)
    writer = model.writer
    vocab = vocabulary(writer)
    has_experts = architecture in ("qwen3moe", "mixtral")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0 if architecture == "llama" else 1e6)
    if architecture.startswith("qwen3"):
        writer.add_key_length(HEAD_DIM)
        writer.add_value_length(HEAD_DIM)
    else:
        writer.add_rope_dimension_count(HEAD_DIM)
    if has_experts:
        writer.add_expert_count(EXPERTS)
        writer.add_expert_used_count(USED)
    if architecture == "qwen3moe":
        writer.add_expert_feed_forward_length(FEED_FORWARD)
    model.embedding(vocab, is_tied=architecture == "qwen2")
    for layer in range(LAYERS):
        block(model, architecture, f"blk.{layer}.", has_experts)
    model.norm("output_norm.weight", WIDTH)
    if architecture == "llama":
        model.vector("rope_freqs.weight", model.rng.uniform(1, 4, HEAD_DIM // 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def block(model, architecture, prefix, has_experts):
    queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    model.norm(prefix + "attn_norm.weight", WIDTH)
    for part, size in (("q", queries), ("k", keys), ("v", keys)):
        model.matrix(f"{prefix}attn_{part}.weight", size, WIDTH)
        if architecture == "qwen2":
            model.vector(f"{prefix}attn_{part}.bias", model.rng.normal(0, 0.5, size))
    model.matrix(prefix + "attn_output.weight", WIDTH, queries)
    if architecture.startswith("qwen3"):
        model.norm(prefix + "attn_q_norm.weight", HEAD_DIM)
        model.norm(prefix + "attn_k_norm.weight", HEAD_DIM)
    model.norm(prefix + "ffn_norm.weight", WIDTH)
    if has_experts:
        model.vector(prefix + "ffn_gate_inp.weight", model.rng.normal(0, 0.2, (EXPERTS, WIDTH)))
        for part, shape in (("gate", (FEED_FORWARD, WIDTH)), ("up", (FEED_FORWARD, WIDTH)), ("down", (WIDTH, FEED_FORWARD))):
            model.matrix(f"{prefix}ffn_{part}_exps.weight", EXPERTS, *shape)
    else:
        for part, shape in (("gate", (FEED_FORWARD, WIDTH)), ("up", (FEED_FORWARD, WIDTH)), ("down", (WIDTH, FEED_FORWARD))):
            model.matrix(f"{prefix}ffn_{part}.weight", *shape)


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    for name in names:
        architecture, kind = name.split("-")
        write(f"{folder}/{name}.gguf", architecture, kind, seed=sum(name.encode()))
