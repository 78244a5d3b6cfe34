"""Values: the models' own config.json on the Hub."""

from __future__ import annotations

import pytest

LLAMA = {"model.base": "meta-llama/Llama-3.2-1B-Instruct"}


def test_a_listed_model(fact):
    assert fact("model.family", LLAMA).startswith("llama")
    assert fact("model.hidden", LLAMA) == 2048
    assert fact("model.layers", LLAMA) == 16
    assert fact("model.billions", LLAMA) == pytest.approx(1.24, abs=0.01)
    assert fact("model.native_dtype", LLAMA) == "bf16"
    assert fact("model.context", LLAMA) == 131072
    assert fact("model.tied", LLAMA) is True
    assert fact("model.kind", LLAMA) == "instruct"
    assert fact("model.vision", LLAMA) is False
    assert fact("model.fp16_unsafe", LLAMA) is False
    assert fact("model.prequantized", LLAMA) == "none"


def test_gemma_overflows_in_fp16(fact):
    """Its residual stream exceeds 65504; measured on Gemma 3 270M."""
    assert fact("model.fp16_unsafe", {"model.base": "google/gemma-3-270m"}) is True


@pytest.mark.parametrize(
    ("base", "method"),
    [
        ("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "bnb-4bit"),
        ("TheBloke/Llama-2-7B-GPTQ", "gptq"),
        ("someone/unheard-of-AWQ", "awq"),
        ("someone/unheard-of", "none"),
    ],
)
def test_prequantized_by_name(fact, base, method):
    assert fact("model.prequantized", {"model.base": base}) == method


def test_prequantized_by_method(fact):
    assert fact("model.prequantized", {"quant.method": "awq", "model.base": "./local"}) == "awq"
    assert fact("model.prequantized", {"quant.method": "bnb", "model.base": "./local"}) == "none"
    assert fact("model.prequantized", {}) == "none"


def test_a_quantised_copy_has_the_width_of_the_original(fact):
    assert fact("model.hidden", {"model.base": "unsloth/Llama-3.2-1B-Instruct-bnb-4bit"}) == 2048


def test_the_size_may_come_from_the_name(fact):
    assert fact("model.billions", {"model.base": "someone/unheard-of-7b"}) == 7
    assert fact("model.billions", {"model.base": "someone/unheard-of"}) == (
        "the size of base model `someone/unheard-of` is unknown",
    )


@pytest.mark.parametrize("name", ["family", "hidden", "layers", "context", "tied", "kind", "vision", "fp16_unsafe"])
def test_reasons(fact, name):
    assert fact(f"model.{name}", {}) == ("the config names no base model",)
    assert fact(f"model.{name}", {"model.base": "someone/unheard-of"}) == (
        "base model `someone/unheard-of` is not in the catalogue (give --model-config)",
    )


def test_layers_behind_a_norm(fact):
    behind = fact("model.normalised", LLAMA)
    assert "model.layers.*.self_attn.q_proj" in behind
    assert "model.layers.*.self_attn.o_proj" not in behind
    assert fact("model.normalised", {"model.base": "internlm/internlm2-7b"}) == (
        "the catalogue does not say the layers behind norms of `internlm/internlm2-7b`",
    )
