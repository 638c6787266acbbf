"""What llama.cpp computes, from a package with its wheels: logits of a prompt, and a greedy continuation.

usage: rival.py COUNT IDS MODEL…   prints a JSON object a model: {"logits": […] of every position, "greedy": [ids]}
"""

import json
import sys

from cyllama.llama import llama_cpp


class Model(llama_cpp.LlamaModel):
    """The package's own class lacks what its get_logits_ith asks for."""

    @property
    def n_vocab(self):
        return self.get_vocab().n_vocab


def decode(context, tokens, position):
    batch = llama_cpp.LlamaBatch(n_tokens=len(tokens), embd=0, n_seq_max=1)
    for i, token in enumerate(tokens):
        batch.add(token, position + i, [0], True)
    context.decode(batch)


def main(path, count, prompt):
    model = Model(path_model=path, params=llama_cpp.LlamaModelParams(), verbose=False)
    params = llama_cpp.LlamaContextParams()
    params.flash_attn_type = 0
    params.n_ctx, params.n_threads, params.n_threads_batch = 512, 1, 1
    context = llama_cpp.LlamaContext(model=model, params=params, verbose=False)
    decode(context, prompt, 0)
    logits = [list(context.get_logits_ith(i)) for i in range(len(prompt))]
    greedy, last, position = [], logits[-1], len(prompt)
    for _ in range(count):
        token = max(range(len(last)), key=last.__getitem__)
        greedy.append(token)
        decode(context, [token], position)
        last = context.get_logits_ith(0)
        position += 1
    print(json.dumps({"logits": logits, "greedy": greedy}))


if __name__ == "__main__":
    for model in sys.argv[3:]:
        main(model, int(sys.argv[1]), [int(token) for token in sys.argv[2].split(",")])
