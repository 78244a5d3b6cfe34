"""The gate judges by the project's own rules as the base has them."""

from __future__ import annotations

import pytest

from .conftest import GOOD

RULE = """\
- {id: X101, name: house-rank, parameter: adapter.rank, range: [8, 32], tier: S, why: our servers load no more}
"""


@pytest.mark.parametrize(
    "change",
    [
        {"lint/golden.yaml": RULE.replace("32]", "512]")},
        {"loralint.toml": "golden = []\n"},
        {"lint/golden.yaml": "nothing: [\n"},
        {},
    ],
)
def test_a_change_cannot_relax_them(repository, change):
    repository.git("checkout", "-q", "main")
    repository.commit("policy", **{"loralint.toml": 'golden = ["lint/golden.yaml"]\n', "lint/golden.yaml": RULE})
    repository.git("checkout", "-q", "change")
    repository.git("rebase", "-q", "main")
    repository.commit(**{"configs/train.yaml": GOOD.replace("lora_r: 16", "lora_r: 64"), **change})
    assert ("S", "X101") in repository.rules()
