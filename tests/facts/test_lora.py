from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ADAMW = {"optim.name": "adamw_torch"}


def lora(alpha, rank, lr=2e-4, **more):
    values = {"adapter.method": "lora", "adapter.alpha": alpha, "adapter.rank": rank, "optim.lr": lr}
    return values | ADAMW | {key.replace("__", "."): value for key, value in more.items()}


# Published settings and their E and P, as computed by hand from alpha * lr and alpha * lr^2 * n.
PUBLISHED = [
    (32, 4, 2e-4, 1024, 6.4e-3, 1.31e-3),  # LoRA paper, GPT-2 medium
    (16, 64, 2e-4, 4096, 3.2e-3, 2.62e-3),  # QLoRA 7B
    (16, 64, 1e-4, 8192, 1.6e-3, 1.31e-3),  # QLoRA 65B
    (16, 64, 3e-4, 4096, 4.8e-3, 5.90e-3),  # Qwen
    (32, 8, 1e-4, 4096, 3.2e-3, 1.31e-3),  # llama-cookbook
]


@pytest.mark.parametrize(("alpha", "rank", "lr", "n", "e", "p"), PUBLISHED)
def test_published_settings(fact, alpha, rank, lr, n, e, p):
    values = lora(alpha, rank, lr, model__hidden=n)
    assert fact("lora.E", values) == pytest.approx(e)
    assert fact("lora.P", values) == pytest.approx(p, rel=0.01)


def test_scale_of_lora_is_alpha_over_r(fact):
    values = lora(16, 64)
    assert fact("lora.on", values) is True
    assert fact("lora.ratio", values) == 0.25
    assert fact("lora.scale", values) == 0.25
    assert fact("lora.alpha_eff", values) == 16


def test_scale_of_rslora_is_alpha_over_sqrt_r(fact):
    values = lora(16, 64, adapter__rslora=True)
    assert fact("lora.ratio", values) == 0.25
    assert fact("lora.scale", values) == 2.0
    assert fact("lora.alpha_eff", values) == 128  # 16 * 8, as in GOLDEN row 13


@pytest.mark.parametrize(("rank", "factor"), [(4, 24.0), (16, 6.0), (128, 0.75)])
def test_a_gaussian_start_is_larger_at_small_rank(fact, rank, factor):
    """sqrt(3 * 3072) / r; measured 20.6, 5.6 and 0.74."""
    values = lora(8, rank, adapter__init="gaussian", model__hidden=3072)
    assert fact("lora.alpha_eff", values) == pytest.approx(8 * factor)
    assert fact("lora.E", values) == pytest.approx(8 * factor * 2e-4)


def test_a_gaussian_start_leaves_the_product_alone(fact):
    usual, gaussian = lora(8, 4, model__hidden=3072), lora(8, 4, model__hidden=3072, adapter__init="gaussian")
    assert fact("lora.P", usual) == fact("lora.P", gaussian) == pytest.approx(8 * 4e-8 * 3072)


def test_lora_plus_ratio_multiplies_both(fact):
    """GOLDEN row 15: ratio 16 on lr 2e-4, alpha 32, n 4096."""
    values = lora(32, 16, adapter__loraplus_ratio=16, model__hidden=4096)
    assert fact("lora.lr_b", values) == pytest.approx(3.2e-3)
    assert fact("lora.E", values) == pytest.approx(0.1024)
    assert fact("lora.P", values) == pytest.approx(0.0839, rel=1e-3)


def test_without_a_known_model_only_what_needs_the_width_is_unknown(fact):
    values = lora(16, 8)
    assert fact("lora.E", values) == pytest.approx(3.2e-3)
    assert fact("lora.P", values) == ("the config names no base model",)
    assert fact("lora.alpha_eff", values | {"adapter.init": "gaussian"}) == ("the config names no base model",)


def test_zero_and_negative_alpha_are_values(fact):
    assert fact("lora.scale", lora(0, 8)) == 0
    assert fact("lora.scale", lora(-8, 8)) == -1


def test_a_minus_before_alpha_leaves_the_step_as_large_as_it_is(fact):
    for name in ("lora.E", "lora.P"):
        assert fact(name, lora(-16, 8, model__hidden=512)) == fact(name, lora(16, 8, model__hidden=512))


@pytest.mark.parametrize(("alpha", "rate"), [(0, 2e-4), (16, 0.0), (16, -2e-4)])
def test_without_alpha_or_rate_there_is_no_step_to_judge(fact, alpha, rate):
    values = lora(alpha, 8, rate, model__hidden=512)
    assert (fact("lora.E", values), fact("lora.P", values)) == (None, None)


@pytest.mark.parametrize("name", ["ratio", "scale", "alpha_eff", "lr_b", "E", "P"])
def test_without_lora_there_is_nothing_to_say(fact, name):
    assert fact("lora.on", {"adapter.method": "full"}) is False
    assert fact(f"lora.{name}", {"adapter.method": "full"}) is None
    assert fact(f"lora.{name}", {}) is None


@pytest.mark.parametrize("optimizer", ["sgd", "prodigy", "schedule_free_sgd", "muon", "rmsprop"])
def test_e_and_p_are_for_steps_as_large_as_the_rate(fact, optimizer):
    values = lora(16, 8, model__hidden=4096, optim__name=optimizer)
    assert fact("lora.E", values) is None
    assert fact("lora.P", values) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"adapter.rank": None}, "the config has no LoRA rank"),
        ({"adapter.alpha": None}, "the config has no LoRA alpha"),
        ({"optim.lr": None}, "the config has no learning rate"),
        ({"optim.lr": "2e-4"}, "optim.lr is not a usable number"),
        ({"adapter.rank": 0}, "adapter.rank is not above 0"),
        ({"optim.name": None}, "the config names no optimizer"),
        ({"optim.name": "adamwx"}, "optimizer `adamwx` is not in the list"),
    ],
)
def test_reasons(fact, change, reason):
    assert fact("lora.E", lora(16, 8) | change) == (reason,)


def test_reads_name_the_values_a_finding_can_point_at(whole):
    reads = {value.field for value in whole("lora.E", lora(16, 8)).reads}
    assert {"lora.alpha_eff", "lora.lr_b", "lora.on"} <= reads


@settings(deadline=None)
@given(st.floats(0.1, 1e3), st.integers(1, 512), st.floats(1e-7, 1e-1), st.floats(1.01, 100))
def test_e_is_linear_in_alpha_and_p_quadratic_in_the_rate(fact, alpha, rank, lr, factor):
    at = lora(alpha, rank, lr, model__hidden=2048)
    assert fact("lora.E", at | {"adapter.alpha": alpha * factor}) == pytest.approx(factor * fact("lora.E", at))
    assert fact("lora.P", at | {"optim.lr": lr * factor}) == pytest.approx(factor**2 * fact("lora.P", at))


@settings(deadline=None)
@given(st.integers(1, 512))
def test_at_equal_alpha_rank_is_nothing_to_lora_and_its_root_to_rslora(fact, rank):
    assert fact("lora.E", lora(16, rank)) == pytest.approx(3.2e-3)
    assert fact("lora.E", lora(16, rank, adapter__rslora=True)) == pytest.approx(3.2e-3 * sqrt(rank))
