from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("adamw_torch", "adamw"),
        ("adamw_torch_fused", "adamw"),
        ("adamw_bnb_8bit", "adamw"),
        ("adamw_8bit", "adamw"),
        ("paged_adamw_32bit", "adamw"),
        ("sgd", "sgd"),
        ("lion_8bit", "lion"),
        ("adafactor", "adafactor"),
        ("prodigy", "prodigy"),
        ("muon", "muon"),
        ("schedule_free_adamw", "schedulefree"),
        ("rmsprop", "other"),
    ],
)
def test_families(fact, name, family):
    assert fact("optim.family", {"optim.name": name}) == family


def test_what_bitsandbytes_names_say(fact):
    values = {"optim.name": "paged_adamw_8bit"}
    assert fact("optim.bnb", values) is True
    assert fact("optim.paged", values) is True
    assert fact("optim.state_bits", values) == 8
    assert fact("optim.bnb", {"optim.name": "adamw_torch"}) is False
    assert fact("optim.paged", {"optim.name": "adamw_bnb_8bit"}) is False


def test_state_is_as_wide_as_the_adapter_unless_the_name_says_more(fact):
    values = {"optim.name": "adamw_torch"}
    assert fact("optim.state_bits", values) == 32
    assert fact("optim.state_bits", values | {"adapter.dtype": "bf16"}) == 16
    assert fact("optim.state_bits", values | {"adapter.dtype": "auto"}) == (
        "the dtype of the adapter weights is unknown",
    )


def test_optimizers_that_find_their_own_step(fact):
    assert fact("optim.unit_lr", {"optim.name": "prodigy"}) is True
    assert fact("optim.unit_lr", {"optim.name": "adamw_torch"}) is False


def test_compensation_is_known_by_name(fact):
    assert fact("optim.compensated", {"optim.name": "optimi_adamw"}) is True
    assert fact("optim.compensated", {"optim.name": "adamw_bf16"}) is True
    assert fact("optim.compensated", {"optim.name": "adamw_torch"}) is False


@pytest.mark.parametrize("args", [{"scale_parameter": True}, {"relative_step": "True"}])
def test_an_adafactor_that_scales_its_step_has_no_e(fact, args):
    values = {"adapter.method": "lora", "adapter.alpha": 16, "adapter.rank": 8, "optim.lr": 1e-4}
    values["optim.name"] = "adafactor"
    assert fact("lora.E", values) == pytest.approx(1.6e-3)
    assert fact("lora.E", values | {"optim.args": args}) is None


@pytest.mark.parametrize("name", ["family", "unit_lr", "bnb", "paged", "state_bits", "compensated"])
def test_reasons(fact, name):
    assert fact(f"optim.{name}", {}) == ("the config names no optimizer",)
    assert fact(f"optim.{name}", {"optim.name": "adamwx"}) == ("optimizer `adamwx` is not in the list",)
