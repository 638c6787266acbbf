"""Tokenizers trained on the spot by Hugging Face's package, written as GGUF, with what that package makes of texts.

usage: tokens.py FOLDER   writes FOLDER/NAME.gguf and prints {"name": …, "texts": […], "ids": [[…]]} a tokenizer
"""

import json
import sys

import gguf
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

CORPUS = """The quick brown fox jumps over the lazy dog, doesn't it? We'll see: they've seen 12345 foxes in 2026.
Der schnelle braune Fuchs springt über den faulen Hund. Größe, Straße, Übermut und Äpfel.
Le vif renard brun saute par-dessus le chien paresseux; déjà vu, naïve, œuvre, garçon.
Быстрая коричневая лиса прыгает через ленивую собаку. Привет, мир! Съешь же ещё этих мягких французских булок.
いろはにほへと ちりぬるを。素早い茶色の狐は怠け者の犬を飛び越える。東京特許許可局。カタカナも。
敏捷的棕色狐狸跳过了懒狗。今天天气很好，我们去公园散步吧。
재빠른 갈색 여우가 게으른 개를 뛰어넘는다. 안녕하세요 세계.
الثعلب البني السريع يقفز فوق الكلب الكسول. مرحبا بالعالم.
तेज भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। नमस्ते दुनिया।
สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ
def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n
for (int i = 0; i < 10; ++i) { sum += a[i] * b[i]; } // 0x1F != 3.14e-10
""".split("\n")

TEXTS = CORPUS + [
    "",
    " ",
    "     ",
    "a",
    " leading and trailing ",
    "tabs\t\tand\nnew\n\n\nlines\r\nand more \n  \n   x",
    "I'M SURE it'Ll do; y'all'd've",
    "1 22 333 4444 55555 1,234,567.89 ٣٤٥ ½",
    "emoji: 😀👩‍👩‍👧‍👦🏳️‍🌈 and flags 🇩🇪🇯🇵",
    "combining: e\u0301 a\u0308\u0323 \u0905\u0902",
    "rare: 𒀀𓀀 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \u200b\u00a0\u2003\ufeff",
    "mixed日本語and русский٣text",
    "!!!???...---___***###" * 3,
    "a" * 300,
    " " * 100 + "x",
    "\n" * 50 + "\t" * 7,
    "<|im_start|>user\nHi<|im_end|>",
    "".join(chr(c) for c in range(1, 128)),
]

SPECIAL = ["<|im_start|>", "<|im_end|>"]
PATTERNS = {
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama-bpe": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def byte_level(rule, pattern):
    tokenizer = Tokenizer(models.BPE(ignore_merges=rule == "llama-bpe"))
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS * 3, trainers.BpeTrainer(vocab_size=900, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    return tokenizer


def sentence_piece():
    """BPE with SentencePiece's blanks and byte tokens. Its merges are all ways to make a token of two, as Llama's converter writes them."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=specials, limit_alphabet=120, max_token_length=12, show_progress=False)
    trained.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")
    trained.train_from_iterator(CORPUS * 3, trainer)
    vocab = trained.get_vocab()
    pieces = [(text, number) for text, number in sorted(vocab.items(), key=lambda item: item[1]) if number >= len(specials)]
    cuts = lambda text: [(text[:i], text[i:]) for i in range(1, len(text)) if text[:i] in vocab and text[i:] in vocab]
    merges = [cut for text, _ in pieces for cut in cuts(text)]
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = trained.normalizer
    return tokenizer


def write(path, model, tokenizer, rule=None):
    writer = gguf.GGUFWriter(path, "llama")
    vocab = tokenizer.get_vocab()
    tokens = sorted(vocab, key=vocab.get)
    assert [vocab[text] for text in tokens] == list(range(len(tokens)))
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    if rule:
        writer.add_tokenizer_pre(rule)
        merges = json.loads(tokenizer.to_str())["model"]["merges"]
        writer.add_token_merges([" ".join(merge) for merge in merges])
        writer.add_token_types([3 if text in SPECIAL else 1 for text in tokens])
    else:
        kind = lambda text: {"<unk>": 2, "<s>": 3, "</s>": 3}.get(text, 6 if text.startswith("<0x") else 1)
        writer.add_token_types([kind(text) for text in tokens])
        writer.add_token_scores([float(-number) for number in range(len(tokens))])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main(folder):
    made = [(name, "gpt2", byte_level(name, pattern), name) for name, pattern in PATTERNS.items()]
    made.append(("sentence-piece", "llama", sentence_piece(), None))
    for name, model, tokenizer, rule in made:
        write(f"{folder}/{name}.gguf", model, tokenizer, rule)
        # A blank is put before an empty text by one and not by the other; no text starts with nothing.
        texts = [text for text in TEXTS if text]
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        print(json.dumps({"name": name, "texts": texts, "ids": ids}))


if __name__ == "__main__":
    main(sys.argv[1])
