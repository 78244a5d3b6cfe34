"""Optimizer spellings and what they select."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge.data import part
from loralint.knowledge.optimizers import Optimizer, find, names


def optimizer(name: str, framework: str | None = None) -> Optimizer:
    found = find(name, framework)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "family", "bits", "paged", "bnb"),
    [
        ("adamw_torch", "adamw", None, False, False),
        ("adamw_bnb_8bit", "adamw", 8, False, True),
        ("adamw_8bit", "adamw", 8, False, True),
        ("paged_adamw_32bit", "adamw", 32, True, True),
        ("paged_adamw_8bit", "adamw", 8, True, True),
        ("bitsandbytes.optim.PagedAdamW8bit", "adamw", 8, True, True),
        ("torch.optim.AdamW", "adamw", None, False, False),
        ("adamw_torch_4bit", "adamw", 4, False, False),
        ("AdamW8bit", "adamw", 8, False, True),
        ("fused_adam", "adamw", None, False, False),
        ("paged_adam", "adam", 32, True, True),
        ("adafactor", "adafactor", None, False, False),
        ("lion_8bit", "lion", 8, False, True),
        ("rmsprop_bnb", "rmsprop", 32, False, True),
        ("galore_adamw_8bit", "galore", 8, False, False),
        ("schedule_free_adamw", "schedulefree", None, False, False),
        ("muon", "muon", None, False, False),
    ],
)
def test_values(name: str, family: str, bits: int | None, paged: bool, bnb: bool) -> None:
    found = optimizer(name)
    assert (found.family, found.state_bits, found.paged, found.bnb) == (family, bits, paged, bnb)


def test_state_tensors() -> None:
    counts = {name: optimizer(name).states for name in ("adamw_torch", "lion_32bit", "adafactor", "ademamix", "sgd")}
    assert counts == {"adamw_torch": 2, "lion_32bit": 1, "adafactor": 0, "ademamix": 3, "sgd": None}


@pytest.mark.parametrize("name", ["Prodigy", "prodigy", "DAdaptAdam", "DAdaptation", "DAdaptLion"])
def test_optimizers_that_find_their_own_step(name: str) -> None:
    assert optimizer(name).unit_lr
    assert not optimizer("adamw").unit_lr


def test_bf16_rounding() -> None:
    assert optimizer("optimi_adamw").rounding == "kahan"
    assert optimizer("adamw_bf16").rounding == "stochastic"
    assert optimizer("adamw_torch").rounding is None
    assert optimizer("adamw_torch_fused").fused


def test_a_framework_may_mean_something_else() -> None:
    assert optimizer("Adam").family == "adam"
    assert optimizer("Adam", "deepspeed").family == "adamw"
    assert find("offload") is None
    assert optimizer("offload", "diffusion-pipe").family == "adamw"


@pytest.mark.parametrize("name", ["", "adamw_touch", "torch", "8bit"])
def test_unknown_stays_none(name: str) -> None:
    assert find(name) is None


def test_accepted_sets() -> None:
    assert "adamw_torch_fused" in names("transformers")
    assert "adamw_hf" not in names("transformers")
    assert "muon" in names("axolotl")
    assert "ao_adamw_8bit" not in names("axolotl")
    assert names("trl") == names("transformers")
    assert names("torchtune") == ()
    for framework, accepted in part("optimizers")["accepted"].items():
        assert all(find(name, framework) for name in accepted)


@given(st.text())
def test_nothing_raises(text: str) -> None:
    find(text, text)
    names(text)
