"""The same settings to PEFT and to us, for tiny models of many architectures: what is adapted, and how much trains.

LORALINT_EXAMPLES sets how many settings each architecture gets.
"""

from __future__ import annotations

import importlib.util
import os
import warnings

import pytest

pytestmark = pytest.mark.torch
if not all(map(importlib.util.find_spec, ("torch", "transformers", "peft", "re2", "hypothesis"))):
    pytest.skip("needs torch, transformers, peft and google-re2", allow_module_level=True)

ARCHITECTURES = [
    "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "qwen3_next", "gemma", "gemma2",
    "gemma3_text", "phi", "phi3", "gpt2", "gpt_neo", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon",
    "mpt", "codegen", "starcoder2", "stablelm", "olmo", "olmo2", "olmoe", "cohere", "granite", "granitemoe",
    "deepseek_v2", "deepseek_v3", "gpt_oss", "jamba", "mamba", "falcon_h1", "smollm3", "t5", "mt5", "bart", "mbart",
    "bert", "roberta", "distilbert", "electra", "modernbert", "whisper", "wav2vec2", "vit", "qwen2_vl", "qwen2_5_vl",
    "llava", "paligemma", "qwen3_vl", "qwen3_5", "nemotron_h", "llama4_text", "granitemoehybrid",
]  # fmt: skip


@pytest.mark.parametrize("model_type", ARCHITECTURES)
def test_what_peft_adapts(model_type):
    from hypothesis import HealthCheck, given, settings

    from tests.knowledge.differential import Pair

    warnings.simplefilter("ignore")
    pair = Pair(model_type)

    @settings(
        max_examples=int(os.environ.get("LORALINT_EXAMPLES", "5")),
        database=None,
        deadline=None,
        derandomize="LORALINT_EXAMPLES" not in os.environ,
        suppress_health_check=list(HealthCheck),
    )
    @given(pair.specs())
    def agree(spec):
        assert pair.told(spec) == pair.real(spec), spec

    agree()
