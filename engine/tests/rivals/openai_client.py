"""OpenAI's own client against a server: chats and completions, whole and streamed, errors, models.

usage: openai_client.py BASE_URL KEY
"""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key=sys.argv[2], max_retries=0)
models = [model.id for model in client.models.list()]
assert models == ["tiny"], models

messages = [{"role": "system", "content": "abc"}, {"role": "user", "content": "hello world"}]
settings = {"model": "tiny", "messages": messages, "temperature": 0, "max_tokens": 12}
whole = client.chat.completions.create(**settings)
assert whole.choices[0].message.role == "assistant" and whole.choices[0].finish_reason == "length", whole
assert whole.usage.completion_tokens == 12, whole
text = whole.choices[0].message.content
assert text, whole

parts = list(client.chat.completions.create(**settings, stream=True, stream_options={"include_usage": True}))
streamed = "".join(part.choices[0].delta.content or "" for part in parts if part.choices)
assert streamed == text, (streamed, text)
assert parts[-1].usage.completion_tokens == 12, parts[-1]
assert len(parts) > 4, parts

stop = text[len(text) // 2 :][:2]
cut = client.chat.completions.create(**settings, stop=stop)
assert cut.choices[0].finish_reason == "stop" and cut.choices[0].message.content == text.split(stop)[0], cut

random = {"model": "tiny", "prompt": "abc def", "max_tokens": 8, "temperature": 1.5, "top_p": 0.9}
same = [client.completions.create(**random, seed=7).choices[0].text for _ in range(2)]
assert same[0] == same[1], same
by_tokens = client.completions.create(**{**random, "prompt": [1, 260, 261]}, seed=7, stream=True)
assert "".join(part.choices[0].text for part in by_tokens)

for arguments, status in (
    ({"temperature": -1}, 400),
    ({"max_tokens": 0}, 400),
    ({"n": 3}, 400),
    ({"messages": []}, 400),
    ({"messages": [{"role": "user", "content": "x" * 4000}]}, 400),
):
    try:
        client.chat.completions.create(**{**settings, **arguments})
        raise SystemExit(f"{arguments} was taken")
    except openai.APIStatusError as error:
        assert error.status_code == status and error.body["message"], error
try:
    client.with_options(api_key="wrong").models.list()
    raise SystemExit("a wrong key was taken")
except openai.AuthenticationError:
    pass
print("all right")
