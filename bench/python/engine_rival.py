"""llama.cpp's speed. usage: engine_rival.py MODEL PROMPT GENERATE THREADS   prints one JSON object: medians of three runs"""

import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "engine/tests/rivals"))
import rival
from cyllama.llama import llama_cpp

path, prompt, generate, threads = sys.argv[1], *map(int, sys.argv[2:])
model = rival.Model(path_model=path, params=llama_cpp.LlamaModelParams(), verbose=False)
params = llama_cpp.LlamaContextParams()
params.n_ctx, params.n_batch, params.n_threads, params.n_threads_batch = 1024, 512, threads, threads
context = llama_cpp.LlamaContext(model=model, params=params, verbose=False)


def decode(positions):
    """Asks for the logits of the last token only."""
    batch = llama_cpp.LlamaBatch(n_tokens=len(positions), embd=0, n_seq_max=1)
    for position in positions:
        batch.add(position * 7919 % 32768, position, [0], position == positions[-1])
    context.decode(batch)
    context.synchronize()


def clocks():
    return time.process_time(), time.perf_counter()


def run():
    context.kv_cache_clear(True)
    start = clocks()
    decode(range(prompt))
    middle = clocks()
    for position in range(prompt, prompt + generate):
        decode(range(position, position + 1))
    end = clocks()
    return [prompt / (middle[0] - start[0]), generate / (end[0] - middle[0]), prompt / (middle[1] - start[1]), generate / (end[1] - middle[1])]


run()  # the first reads the file
names = ["prompt_tokens_per_cpu_second", "decode_tokens_per_cpu_second", "prompt_tokens_per_second", "decode_tokens_per_second"]
print(json.dumps(dict(zip(names, map(statistics.median, zip(*(run() for _ in range(3))))))))
