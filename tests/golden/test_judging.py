"""Real configs against the golden list, through the readers and facts that a run uses."""

from __future__ import annotations

import pytest

from loralint.checks.golden import golden
from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Unknown
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_bytes

AXOLOTL = """\
base_model: {base}
adapter: lora
lora_r: {rank}
lora_alpha: {alpha}
lora_dropout: {dropout}
lora_target_linear: true
micro_batch_size: 2
gradient_accumulation_steps: 8
num_epochs: 3
optimizer: {optimizer}
learning_rate: {lr}
lr_scheduler: cosine
bf16: true
"""
USUAL = {
    "base": "NousResearch/Llama-2-7b-hf",
    "rank": 16,
    "alpha": 32,
    "dropout": 0.05,
    "optimizer": "adamw_torch",
    "lr": 0.0002,
}


def _scope(text, framework, options=None):
    document = read_bytes(text.encode(), "config.yaml")
    assembled = assemble(document, options or Options(framework=framework))
    assert assembled is not None
    return Scope(assembled.config, FACTS, assembled.observations)


def _judged(scope, parameter):
    answer = golden(scope, {"parameter": parameter}, ())
    return answer if isinstance(answer, Unknown) else [(hit.data["entry"], hit.tier) for hit in answer]


@pytest.mark.parametrize(
    ("change", "parameter", "judged"),
    [
        ({}, "optim.lr", []),
        ({}, "lora.P", []),
        ({}, "lora.E", []),
        ({}, "lora.ratio", []),
        ({}, "adapter.rank", []),
        ({"lr": 0.00002}, "optim.lr", [("lr-sft", "note")]),
        ({"lr": 0.003}, "optim.lr", [("lr-sft", "A")]),
        ({"base": "meta-llama/Llama-2-70b-hf", "lr": 0.001}, "optim.lr", [("lr-sft-wide", "A")]),
        ({"lr": 0.003}, "lora.P", [("step-product", "A")]),
        ({"lr": 0.02}, "lora.P", [("step-product", "S")]),
        ({"lr": 0.02, "optimizer": "sgd"}, "lora.P", []),
        ({"lr": 0.3, "optimizer": "sgd"}, "optim.lr", [("lr-sgd", "A")]),
        ({"lr": 0.0000001}, "lora.E", [("step-first-sft", "A")]),
        ({"alpha": 0}, "adapter.alpha", [("alpha", "S")]),
        ({"alpha": -16}, "adapter.alpha", [("alpha", "B")]),
        ({"alpha": 4}, "lora.ratio", []),
        ({"alpha": 1, "rank": 64}, "lora.ratio", [("ratio", "note")]),
        ({"dropout": 1.0}, "adapter.dropout", [("dropout", "S")]),
        ({"dropout": 0.3}, "adapter.dropout", [("dropout", "A")]),
        ({"dropout": 0.2}, "adapter.dropout", []),
    ],
)
def test_one_setting_changed(change, parameter, judged):
    assert _judged(_scope(AXOLOTL.format(**(USUAL | change)), "axolotl"), parameter) == judged


def test_the_rate_that_brings_the_product_back():
    """P is 160 x 0.002^2 x 4096 = 2.62, a thousand times the usual 0.0026, and holds the square of the rate."""
    scope = _scope(AXOLOTL.format(**(USUAL | {"alpha": 160, "lr": 0.002})), "axolotl")
    args = {"parameter": "lora.P", "side": "above"}
    [plain], [hit] = golden(scope, args, ()), golden(scope, {**args, "lever": "optim.lr", "power": 2}, ())
    assert plain.suggest == hit.data["usual"] == 0.0026
    assert hit.suggest == 6e-5


def test_an_unknown_width_leaves_the_first_step_to_judge():
    scope = _scope(AXOLOTL.format(**(USUAL | {"base": "somebody/something-new", "lr": 0.01})), "axolotl")
    assert isinstance(_judged(scope, "lora.P"), Unknown)
    assert _judged(scope, "lora.E") == [("step-first-sft-width-unknown", "A")]


def test_a_full_fine_tune_is_not_judged_by_lora_values():
    text = AXOLOTL.format(**(USUAL | {"lr": 0.00001})).replace("adapter: lora\n", "")
    assert _judged(_scope(text, "axolotl"), "optim.lr") == []


@pytest.mark.parametrize(
    ("gpu", "judged"), [("T4", [("bf16-unsupported", "S")]), ("V100", [("bf16-unsupported", "S")]), ("A100", [])]
)
def test_bf16_against_the_gpu(gpu, judged):
    scope = _scope(AXOLOTL.format(**USUAL), "axolotl", Options(framework="axolotl", gpu=gpu))
    assert _judged(scope, "precision.bf16") == judged


def test_bf16_without_a_gpu_is_not_checked():
    assert isinstance(_judged(_scope(AXOLOTL.format(**USUAL), "axolotl"), "precision.bf16"), Unknown)


def test_a_rate_that_nobody_set_is_the_frameworks_own():
    text = (
        "model_name_or_path: meta-llama/Llama-2-7b-hf\nstage: sft\ndo_train: true\nfinetuning_type: lora\n"
        "lora_target: all\ndataset: alpaca_en_demo\ntemplate: llama2\noutput_dir: out\n"
    )
    assert _judged(_scope(text, "llamafactory"), "optim.lr") == [("lr-inherited-sft", "A")]
    assert _judged(_scope(text + "learning_rate: 0.0001\n", "llamafactory"), "optim.lr") == []


def test_a_config_that_only_merges_has_no_rate():
    text = "model_name_or_path: huggyllama/llama-7b\nadapter_name_or_path: out\ntemplate: llama2\nexport_dir: merged\n"
    assert _judged(_scope(text, "llamafactory"), "optim.lr") == []
