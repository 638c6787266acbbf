"""Tiny random image encoders, and their embeddings of images: by numpy in f64 from the definition, and by llama.cpp's mtmd.

usage: vision.py FOLDER MODEL   MODEL: a language model of the embeddings' width, which mtmd asks for
Writes FOLDER/NAME.gguf and images, and prints a JSON object an encoder and image: {"name", "image", "numpy", "mtmd"}; `numpy` is null for
a JPEG; `mtmd` for images that have to be resized, which it does in a way of its own, and for encoders with a class token, since this llama.cpp puts it behind the patches, where CLIP's and
LLaVA's own definitions have it before them.
"""

import json
import sys

import gguf
import numpy as np
from cyllama.llama import llama_cpp
from PIL import Image

import rival

SIZE, PATCH, WIDTH, HEADS, FEED_FORWARD, BLOCKS, OUT, MERGE = 64, 8, 64, 4, 96, 3, 256, 4
SIDE, EPSILON, MEAN, DEVIATION = SIZE // PATCH, 1e-6, [0.5, 0.4, 0.6], [0.5, 0.25, 0.3]
ENCODERS = {"siglip-F32": "gemma3", "siglip-F16": "gemma3", "llava-F32": "mlp", "llava-Q8_0": "mlp", "vit-F32": "mlp"}


def tensors(rng, projector, has_class):
    """Their names and numbers; a matrix has a row an output."""
    normal = lambda *shape, scale=0.15: rng.normal(0, scale, shape).astype(np.float32)
    out = {"v.patch_embd.weight": normal(WIDTH, 3, PATCH, PATCH, scale=0.1)}
    out["v.position_embd.weight"] = normal(SIDE * SIDE + has_class, WIDTH, scale=0.5)

    def norm(name):
        out[name + ".weight"] = rng.uniform(0.5, 1.5, WIDTH).astype(np.float32)
        out[name + ".bias"] = normal(WIDTH)

    def linear(name, rows, columns):
        out[name + ".weight"], out[name + ".bias"] = normal(rows, columns), normal(rows)

    if has_class:
        out["v.class_embd"] = normal(WIDTH, scale=0.5)
        norm("v.pre_ln")
    if projector == "gemma3":
        out["v.patch_embd.bias"] = normal(WIDTH)
        norm("v.post_ln")
    for number in range(BLOCKS):
        name = f"v.blk.{number}."
        norm(name + "ln1")
        norm(name + "ln2")
        for part in ("q", "k", "v", "out"):
            linear(f"{name}attn_{part}", WIDTH, WIDTH)
        linear(name + "ffn_up", FEED_FORWARD, WIDTH)
        linear(name + "ffn_down", WIDTH, FEED_FORWARD)
    if projector == "mlp":
        linear("mm.0", OUT, WIDTH)
        linear("mm.2", OUT, OUT)
    else:
        out["mm.soft_emb_norm.weight"] = rng.uniform(0.5, 1.5, WIDTH).astype(np.float32)
        out["mm.input_projection.weight"] = normal(WIDTH, OUT)
    return out


def kind_of(name, kind):
    is_matrix = name.endswith(".weight") and not any(part in name for part in ("ln", "norm", "position", "input_projection"))
    return kind if is_matrix and not (kind == "Q8_0" and "patch" in name) else "F32"


def write(path, projector, kind, named):
    """Writes them, and gives what their types made of the numbers."""
    writer, kept = gguf.GGUFWriter(path, "clip"), {}
    writer.add_string("general.type", "mmproj")
    writer.add_bool("clip.has_vision_encoder", True)
    writer.add_string("clip.projector_type", projector)
    writer.add_bool("clip.use_gelu", projector == "gemma3")
    sizes = {"image_size": SIZE, "patch_size": PATCH, "embedding_length": WIDTH, "feed_forward_length": FEED_FORWARD}
    sizes |= {"projection_dim": OUT, "block_count": BLOCKS, "attention.head_count": HEADS, "projector.scale_factor": MERGE}
    for name, size in sizes.items():
        writer.add_uint32(f"clip.vision.{name}", size)
    writer.add_float32("clip.vision.attention.layer_norm_epsilon", EPSILON)
    writer.add_array("clip.vision.image_mean", MEAN)
    writer.add_array("clip.vision.image_std", DEVIATION)
    for name, numbers in named.items():
        qtype = gguf.GGMLQuantizationType[kind_of(name, kind)]
        data = gguf.quants.quantize(numbers, qtype)
        writer.add_tensor(name, data, raw_dtype=qtype)
        kept[name] = gguf.quants.dequantize(data, qtype).reshape(numbers.shape).astype(np.float64)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return kept


def by_numpy(kept, projector, pixels):
    """The definition. pixels: [y][x][colour]."""

    def linear(name, x):
        y = x @ kept[name + ".weight"].T
        return y + kept[name + ".bias"] if name + ".bias" in kept else y

    def norm(name, x):
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + EPSILON)
        return x * kept[name + ".weight"] + kept[name + ".bias"]

    gelu = lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    quick = lambda x: x / (1 + np.exp(-1.702 * x))
    image = ((pixels / 255 - MEAN) / DEVIATION).transpose(2, 0, 1)
    patches = image.reshape(3, SIDE, PATCH, SIDE, PATCH).transpose(1, 3, 0, 2, 4).reshape(SIDE * SIDE, -1)
    x = patches @ kept["v.patch_embd.weight"].reshape(WIDTH, -1).T
    x = x + kept.get("v.patch_embd.bias", 0)
    has_class = "v.class_embd" in kept
    if has_class:
        x = np.concatenate([kept["v.class_embd"][None], x])
    x = x + kept["v.position_embd.weight"]
    if has_class:
        x = norm("v.pre_ln", x)
    for number in range(BLOCKS - (projector == "mlp")):
        name = f"v.blk.{number}."
        y = norm(name + "ln1", x)
        heads = lambda part: linear(f"{name}attn_{part}", y).reshape(len(x), HEADS, -1).transpose(1, 0, 2)
        query, key, value = map(heads, "qkv")
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(WIDTH / HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = scores / scores.sum(-1, keepdims=True) @ value
        x = x + linear(name + "attn_out", mixed.transpose(1, 0, 2).reshape(len(x), WIDTH))
        inner = linear(name + "ffn_up", norm(name + "ln2", x))
        x = x + linear(name + "ffn_down", (quick if projector == "mlp" else gelu)(inner))
    if projector == "mlp":
        return linear("mm.2", gelu(linear("mm.0", x[has_class:])))
    x = norm("v.post_ln", x)
    side = SIDE // MERGE
    x = x.reshape(side, MERGE, side, MERGE, WIDTH).mean((1, 3)).reshape(side * side, WIDTH)
    x = x / np.sqrt((x**2).mean(-1, keepdims=True) + EPSILON) * kept["mm.soft_emb_norm.weight"]
    return x @ kept["mm.input_projection.weight"]


class Mtmd:
    def __init__(self, path, model):
        params = llama_cpp.MtmdContextParams(use_gpu=False, print_timings=False, n_threads=1, flash_attn_type=0, warmup=False)
        self.context = llama_cpp.MtmdContext(path, model, params)

    def rows(self, path):
        bitmap = llama_cpp.MtmdBitmap.from_file(self.context, path)
        for chunk in self.context.tokenize(llama_cpp.get_default_media_marker(), [bitmap]):
            if chunk.type == llama_cpp.MtmdInputChunkType.IMAGE:
                assert self.context.encode_chunk(chunk) == 0
                return np.array(self.context.get_output_embeddings(chunk.n_tokens, OUT))


def images(folder):
    """Waves of colour: of the encoder's size, wider, smaller, grey with transparency, and a JPEG."""
    wave = lambda w, h: np.stack([127.5 + 127.5 * np.sin(np.add.outer(np.arange(h) * a, np.arange(w) * b)) for a, b in ((0.2, 0.1), (0.05, 0.3), (0.11, 0.07))], -1)
    made = {"exact.png": (SIZE, SIZE), "wide.png": (150, 70), "small.png": (40, 50), "photo.jpg": (SIZE, SIZE)}
    for name, size in made.items():
        Image.fromarray(wave(*size).astype(np.uint8)).save(f"{folder}/{name}", **({"quality": 92} if name.endswith("jpg") else {}))
    grey = wave(SIZE, SIZE).astype(np.uint8)[..., :2]
    Image.fromarray(np.ascontiguousarray(grey), "LA").save(f"{folder}/grey.png")
    return [*made, "grey.png"]


def prepared(path, projector):
    """As the models' own processors do it: Gemma's image is stretched, LLaVA's is filled up to a square first."""
    image = Image.open(path)
    image = Image.merge("RGB", image.split()[:1] * 3) if image.mode == "LA" else image
    if projector == "mlp" and image.width != image.height:
        square = Image.new("RGB", (max(image.size),) * 2, (122, 116, 104))
        square.paste(image, ((square.width - image.width) // 2, (square.height - image.height) // 2))
        image = square
    return np.asarray(image.resize((SIZE, SIZE), Image.BILINEAR), dtype=np.float64)


def main(folder, model):
    pictures = images(folder)
    model = rival.Model(path_model=model, params=llama_cpp.LlamaModelParams(), verbose=False)
    for encoder, projector in ENCODERS.items():
        path = f"{folder}/{encoder}.gguf"
        has_class = encoder.startswith("vit")
        named = tensors(np.random.default_rng(sum(encoder.encode())), projector, has_class)
        kept = write(path, projector, encoder.split("-")[1], named)
        mtmd = None if has_class else Mtmd(path, model)
        for image in pictures:
            file = f"{folder}/{image}"
            is_resized = Image.open(file).size != (SIZE, SIZE)
            by_definition = None if image.endswith("jpg") else by_numpy(kept, projector, prepared(file, projector)).tolist()
            by_mtmd = mtmd.rows(file).tolist() if mtmd and not is_resized else None
            print(json.dumps({"name": encoder, "image": image, "numpy": by_definition, "mtmd": by_mtmd}))


if __name__ == "__main__":
    main(*sys.argv[1:])
