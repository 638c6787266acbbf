"""A random model of Qwen3-0.6B's shape, with a vocabulary of 32768. usage: engine_model.py OUT [moe-]TYPE

moe: six layers of 64 experts of width 768, of which a token uses four: a prompt of 512 tokens has 32 rows an expert, as with Qwen3-30B-A3B.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "engine/tests/rivals"))
import tiny

tiny.WIDTH, tiny.HEADS, tiny.KV_HEADS, tiny.HEAD_DIM, tiny.LAYERS = 1024, 16, 8, 128, 28
tiny.FEED_FORWARD, tiny.CONTEXT = 3072, 4096
COUNT = 32768
is_mixture = sys.argv[2].startswith("moe-")
if is_mixture:
    tiny.LAYERS, tiny.FEED_FORWARD, tiny.EXPERTS, tiny.USED = 6, 768, 64, 4


def vocabulary(writer):
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    writer.add_token_list(tokens + [f"[{number}]" for number in range(COUNT - len(tokens))])
    writer.add_token_scores([float(-number) for number in range(COUNT)])
    writer.add_token_types([2, 3, 3] + [6] * 256 + [1] * (COUNT - 259))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    return COUNT


tiny.vocabulary = vocabulary
tiny.write(sys.argv[1], "qwen3moe" if is_mixture else "qwen3", sys.argv[2].removeprefix("moe-"), seed=1)
