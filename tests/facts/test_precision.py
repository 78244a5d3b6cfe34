from __future__ import annotations

import pytest

from loralint.model import Unknown


@pytest.mark.parametrize(
    ("values", "compute"),
    [
        ({"precision.bf16": True}, "bf16"),
        ({"precision.fp16": True}, "fp16"),
        ({"precision.pure_bf16": True}, "bf16"),
        ({"precision.bf16": False, "precision.fp16": False}, "fp32"),
        ({"model.dtype": "bf16"}, "bf16"),
        ({"model.dtype": "bf16", "precision.fp16": True}, "fp16"),
        ({"model.dtype": "auto", "model.native_dtype": "fp16"}, "fp16"),
        ({"precision.bf16": "auto", "gpu.bf16": True}, "bf16"),
        ({"precision.bf16": "auto", "gpu.bf16": False}, "fp16"),
        ({"quant.bits": 4, "quant.compute_dtype": "bf16", "model.dtype": "fp16"}, "bf16"),
        ({"quant.bits": 4, "model.dtype": "bf16"}, "fp32"),
        ({"quant.bits": 4, "precision.bf16": True}, "bf16"),
    ],
)
def test_compute(fact, values, compute):
    assert fact("precision.compute", values) == compute


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"precision.bf16": True, "precision.fp16": True}, "bf16 and fp16 are both on"),
        ({"precision.bf16": "auto"}, "no --gpu given"),
        ({"precision.bf16": Unknown("set by ${BF16}")}, "set by ${BF16}"),
        ({"model.dtype": "fp8"}, "dtype `fp8` is none that loralint knows"),
        ({"model.dtype": "auto"}, "the config names no base model"),
        ({}, "the config says nothing of its precision"),
    ],
)
def test_compute_reasons(fact, values, reason):
    assert fact("precision.compute", values) == (reason,)


@pytest.mark.parametrize(
    ("values", "on"),
    [
        ({}, False),
        ({"quant.bits": 16}, False),
        ({"quant.bits": 8}, True),
        ({"quant.bits": 4, "model.base": Unknown("set by ${BASE}")}, True),
        ({"model.base": "unsloth/Llama-3.2-1B-Instruct-bnb-4bit"}, True),
        ({"model.base": "meta-llama/Llama-3.2-1B-Instruct"}, False),
        ({"quant.method": "gptq", "model.base": "./model"}, True),
        ({"quant.bits": 16, "model.base": Unknown("set by ${BASE}")}, ("set by ${BASE}",)),
    ],
)
def test_quantised(fact, values, on):
    assert fact("quant.on", values) == on
