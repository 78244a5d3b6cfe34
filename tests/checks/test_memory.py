"""Which tier a run gets that may not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from loralint.api import check
from loralint.model import Run

TEXT = """\
model_name_or_path: meta-llama/Llama-3.1-8B
stage: sft
finetuning_type: lora
lora_target: all
cutoff_len: 2048
packing: false
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
learning_rate: 0.0001
bf16: true
"""


@pytest.fixture
def run(tmp_path: Path):
    """run(text, gpu) -> the run that the text starts."""

    def one(text: str, gpu: str = "") -> Run:
        path = tmp_path / "run.yaml"
        path.write_text(text, "utf-8")
        (found,) = check(str(path), gpu=gpu, select_rules=["LL541", "LL542"]).runs
        return found

    return one


def tiers(found: Run) -> list[tuple[str, str, int]]:
    return [(one.tier, one.key, one.span.line) for one in found.findings]


def test_weights_alone_are_too_much(run):
    """16-bit weights of a 70B model are 131 GiB."""
    found = run(TEXT.replace("Llama-3.1-8B", "Llama-3.1-70B") + "infer_dtype: auto\n", "A100-80GB")
    assert [one.key for one in found.findings] == ["model_name_or_path"]
    assert "whatever the rows" in found.findings[0].message


def test_rows_of_full_length_may_not_come(run):
    assert tiers(run(TEXT, "T4")) == [("A", "per_device_train_batch_size", 7)]


def test_packed_rows_do_come(run):
    packed = TEXT.replace("packing: false", "packing: true") + "quantization_bit: 4\n"
    packed = packed.replace("batch_size: 1", "batch_size: 8")
    assert tiers(run(packed, "T4x1")) == [("S", "per_device_train_batch_size", 7)]
    assert tiers(run(packed, "T4")) == [("A", "per_device_train_batch_size", 7)]  # of which there may be several


@pytest.mark.parametrize(("length", "says"), [(5120, "may well run"), (8192, "runs")])
def test_the_headline_is_as_sure_as_the_band(run, length, says):
    """25.2 ± 2.2 and 30.5 ± 2.6 GiB on a card of 24."""
    packed = TEXT.replace("packing: false", "packing: true").replace("2048", str(length))
    (found,) = run(packed, "RTX 4090").findings
    assert found.message.startswith(f"training {says} out of memory in its first full batch: ")


def test_what_nobody_wrote_is_not_sure(run):
    packed = TEXT.replace("packing: false", "packing: true") + "quantization_bit: 4\n"
    packed = packed.replace("per_device_train_batch_size: 1\n", "").replace("cutoff_len: 2048", "cutoff_len: 20480")
    assert [one.tier for one in run(packed, "T4x1").findings] == ["A"]


def test_a_mirror_of_the_model_is_not_sure(run):
    packed = TEXT.replace("packing: false", "packing: true").replace("batch_size: 1", "batch_size: 8")
    packed = packed.replace("meta-llama/", "/data/models/") + "quantization_bit: 4\n"
    assert [one.tier for one in run(packed, "T4x1").findings] == ["A"]


def test_close_to_the_edge_is_a_note(run):
    found = run(TEXT.replace("cutoff_len: 2048", "cutoff_len: 3584"), "A10")
    assert not found.findings
    assert [note.message.split(":")[0] for note in found.notes if note.kind == "info"] == [
        "training may run out of memory once a batch holds rows of full length"
    ]


def test_a_whole_model_may_be_sharded_at_launch(run):
    whole = TEXT.replace("finetuning_type: lora\nlora_target: all", "finetuning_type: full")
    assert not run(whole, "A100-80GB").findings
    assert [one.tier for one in run(whole, "A100-80GBx1").findings] == ["A"]  # which dtype is the framework's choice


def test_it_fits(run):
    assert run(TEXT, "A100-80GB").findings == ()


def test_without_a_card_nothing_is_said(run):
    found = run(TEXT)
    assert not found.findings
    assert [note.message for note in found.notes if note.kind == "not-checked"] == ["no --gpu given"]


def test_help_speaks_as_the_framework_does(run):
    (found,) = run(TEXT.replace("batch_size: 1", "batch_size: 4"), "RTX 4090").findings
    assert "per_device_train_batch_size: 1 and gradient_accumulation_steps: 16" in found.help
    assert "GiB" in found.help


def test_nothing_is_left_to_change(run):
    text = TEXT.replace("Llama-3.1-8B", "Llama-3.1-70B").replace("2048", "512") + "enable_liger_kernel: true\n"
    found = run(text + "quantization_bit: 4\n", "RTX 4090").findings
    assert [one.rule for one in found] == ["LL542"]
    assert "larger" in found[0].help or "more memory" in found[0].help


def test_a_limit_that_no_row_reaches_is_a_note(run):
    wide = TEXT.replace("cutoff_len: 2048", "cutoff_len: 131072")
    found = run(wide, "A100-80GB")
    assert not found.findings
    assert any("may run out of memory" in note.message for note in found.notes)
    packed = run(wide.replace("packing: false", "packing: true"), "A100-80GB")
    assert tiers(packed) == [("A", "per_device_train_batch_size", 7)]


def test_a_compiler_lays_out_the_step_of_a_tpu(run):
    found = run(TEXT.replace("batch_size: 1", "batch_size: 64"), "TPU v5e")
    assert not found.findings
    assert [note.message for note in found.notes if note.kind == "not-checked"] == [
        "how much memory a step takes that a compiler laid out is not known here"
    ]


def test_of_a_mixture_the_least_is_told(run):
    found = run(TEXT.replace("meta-llama/Llama-3.1-8B", "mistralai/Mixtral-8x7B-v0.1"), "A100-80GB")
    assert [(one.rule, one.tier, one.key) for one in found.findings] == [("LL542", "A", "model_name_or_path")]
    assert "it needs 85.2 GiB" in found.findings[0].message
