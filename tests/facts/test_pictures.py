"""Tokens of a picture."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("base", "pixels", "tokens"),
    [
        ("Qwen/Qwen2-VL-7B-Instruct", 768 * 768, 752),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 262144, 334),
        ("Qwen/Qwen3-VL-8B-Instruct", 768 * 768, 576),
        ("mistral-community/pixtral-12b", 768 * 768, 2304),
        ("llava-hf/llava-1.5-7b-hf", 768 * 768, 576),
    ],
)
def test_a_picture_of_the_largest_size(fact, base, pixels, tokens):
    assert fact("data.picture_tokens", {"model.base": base, "data.picture_pixels": pixels}) == tokens


@pytest.mark.parametrize(
    "base", ["Qwen/Qwen2.5-7B-Instruct", "google/gemma-3-4b-it", "llava-hf/llava-v1.6-mistral-7b-hf"]
)
def test_of_other_models_nothing_is_known(fact, base):
    assert fact("data.picture_tokens", {"model.base": base, "data.picture_pixels": 589824}) == 0
