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
SCALES = {"Q4_K": [(0, 2.5e-4), (2, 2e-3)], "Q5_K": [(0, 1.25e-4), (2, 2e-3)], "Q6_K": [(208, 4e-5)], "IQ4_NL": [(0, 8e-4)]}


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
    return len(tokens)


def k_blocks(rng, kind, count):
    """Random blocks of a type that the package cannot write: any bits, but small scales."""
    size = gguf.GGML_QUANT_SIZES[TYPES[kind]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for at, scale in SCALES[kind]:
        scales = (scale * rng.uniform(0.5, 1.5, count)).astype(np.float16)
        blocks[:, at : at + 2] = scales.view(np.uint8).reshape(count, 2)
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
        """Shape as in numpy: the row length comes last."""
        if self.kind in SCALES:
            blocks = k_blocks(self.rng, self.kind, int(np.prod(shape)) // gguf.GGML_QUANT_SIZES[TYPES[self.kind]][0])
            data = blocks.reshape(*shape[:-1], -1)
        else:
            numbers = self.rng.normal(0, 0.05, shape).astype(np.float32)
            data = gguf.quants.quantize(numbers, TYPES[self.kind])
        self.writer.add_tensor(name, data, raw_dtype=TYPES[self.kind])

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
    model.matrix("token_embd.weight", vocab, WIDTH)
    for layer in range(LAYERS):
        block(model, architecture, f"blk.{layer}.", has_experts)
    model.norm("output_norm.weight", WIDTH)
    if architecture != "qwen2":  # there the embedding is the output too
        model.matrix("output.weight", vocab, WIDTH)
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
