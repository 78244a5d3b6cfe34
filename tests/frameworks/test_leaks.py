from __future__ import annotations

import pytest

from loralint.frameworks.leaks import leaks
from loralint.source.read import read_bytes

TOKEN = "hf_" + "aB3dE6gH9j" * 4  # built at run time, so that no scanner takes this file for a leak


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"hub_token: {TOKEN}\n", [("hub_token", "/hub_token", TOKEN)]),
        (f"env:\n  a/b~c: {TOKEN}\n", [("env.a/b~c", "/env/a~1b~0c", TOKEN)]),
        (f"args:\n  - --token\n  - {TOKEN}\n", [("args[1]", "/args/1", TOKEN)]),
        (f"jobs:\n  - {{name: a, hf_token: {TOKEN}}}\n", [("jobs[0].hf_token", "/jobs/0/hf_token", TOKEN)]),
        ("hub_token: ${HF_TOKEN}\nlearning_rate: 2e-4\n", []),
        ("- a\n- b\n", []),
    ],
)
def test_where_a_secret_stands(text, found):
    document = read_bytes(text.encode(), "c.yaml")
    seen = [one.value for one in leaks(document)]
    assert [(one.key, one.pointer, document.text[one.span.start : one.span.end]) for one in seen] == found


def test_an_observation_does_not_hold_the_secret():
    (one,) = leaks(read_bytes(f"hub_token: {TOKEN}\n".encode(), "c.yaml"))
    assert TOKEN not in repr(one)
    assert one.value.value == "***"
    assert one.message == "`hub_token` holds a Hugging Face token"
