"""What DeepSpeed's JSON says, what it leaves to the trainer, and what DeepSpeed makes of its keys."""

from __future__ import annotations

import json

import pytest

from loralint.frameworks.readers.deepspeed import READER

AUTO = {
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": "auto",
    "gradient_accumulation_steps": "auto",
    "gradient_clipping": "auto",
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 2},
}


def text(**changed: object) -> str:
    return json.dumps({**AUTO, **changed}, indent=1)


@pytest.mark.parametrize(
    ("changed", "field", "value"),
    [
        ({"train_batch_size": 64}, "dist.ds_train_batch", 64),
        ({"gradient_accumulation_steps": 4}, "dist.ds_accumulation", 4),
        ({"gradient_clipping": 0.3}, "dist.ds_clipping", 0.3),
        ({"zero_optimization": {"stage": 3}}, "dist.zero_stage", 3),
        ({"zero_optimization": {"stage": 3}}, "dist.ds_gather", False),
        (
            {"zero_optimization": {"stage": 3, "stage3_gather_16bit_weights_on_model_save": True}},
            "dist.ds_gather",
            True,
        ),
        ({"zero_optimization": {"stage": 3, "stage3_gather_fp16_weights_on_model_save": True}}, "dist.ds_gather", True),
        (
            {"zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}}},
            "dist.ds_offload_optimizer",
            "cpu",
        ),
        ({"fp16": {"enabled": True}}, "dist.ds_fp16", True),
        ({"bf16": {"enabled": False}}, "dist.ds_bf16", False),
        ({"optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "betas": [0.9, 0.95]}}}, "dist.ds_beta2", 0.95),
        ({"optimizer": {"type": "AdamW", "params": {"lr": 1e-4}}}, "dist.ds_lr", 1e-4),
        ({"scheduler": {"type": "WarmupDecayLR"}}, "dist.ds_scheduler", "linear"),
        ({"scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 5}}}, "dist.ds_warmup_steps", 5),
    ],
)
def test_what_is_fixed(reading, changed, field, value) -> None:
    assert reading(READER, text(**changed), "ds.json").get(field).value == value


def test_auto_says_nothing(reading) -> None:
    config = reading(READER, text(optimizer={"type": "AdamW", "params": {"lr": "auto", "betas": "auto"}}), "ds.json")
    for field in ("train_batch", "micro", "accumulation", "clipping", "bf16", "fp16", "lr", "beta1", "gather"):
        assert config.get(f"dist.ds_{field}").value in (None, False), field
    assert config.get("dist.ds_lr").origin == "absent"
    assert config.get("dist.ds_clips").value is True


def test_a_missing_clipping_is_told_from_auto(reading) -> None:
    assert reading(READER, text().replace("gradient_clipping", "steps_per_print"), "ds.json").get(
        "dist.ds_clips"
    ).value is False  # fmt: skip


def test_what_no_gather_points_at(reading) -> None:
    value = reading(READER, text(zero_optimization={"stage": 3}), "ds.json").get("dist.ds_gather")
    assert value.key == "zero_optimization.stage3_gather_16bit_weights_on_model_save"
    assert value.span.line == 10


@pytest.mark.parametrize(
    ("changed", "key", "kind", "effect", "replacement"),
    [
        ({"gradient_accumulation_steps": "8"}, "gradient_accumulation_steps", "coerced", "crash", "8"),
        ({"optimizer": {"params": {"lr": "1e-4"}}}, "optimizer.params.lr", "coerced", "crash", "0.0001"),
        ({"zero_optimization": {"stage": "3"}}, "zero_optimization.stage", "coerced", "changed", "3"),
        ({"zero_optimization": {"stage": 5}}, "zero_optimization.stage", "rejected", "crash", ""),
        ({"zero_optimization": {"stage": 2, "overlap_com": True}}, "zero_optimization.overlap_com", "unknown", "crash",
         "overlap_comm"),
        ({"steps_per_prin": 1}, "steps_per_prin", "unknown", "lost", "steps_per_print"),
        ({"stage3_gather_16bit_weights_on_model_save": True}, "stage3_gather_16bit_weights_on_model_save", "ignored",
         "lost", "zero_optimization.stage3_gather_16bit_weights_on_model_save"),
        ({"max_grad_norm": 1.0}, "max_grad_norm", "ignored", "lost", "gradient_clipping"),
        ({"zero_optimization": {"stage": 2, "offload_param": {"device": "cpu"}}},
         "zero_optimization.offload_param.device", "ignored", "harmless", ""),
    ],
)  # fmt: skip
def test_faults_of_keys(reading, observed, changed, key, kind, effect, replacement) -> None:
    found = observed(reading(READER, text(**changed), "ds.json"))[key]
    assert (found.kind, found.effect, found.replacement) == (kind, effect, replacement)


@pytest.mark.parametrize("zero", [
    {"stage": 3, "offload_param": {"device": "cpu"}},
    {"stage": 2, "offload_param": {"device": "none"}},
    {"stage": 2, "offload_optimizer": {"device": "cpu"}},
    {"stage": "auto", "offload_param": {"device": "cpu"}},
    {"offload_param": {"device": "cpu"}},
])  # fmt: skip
def test_weights_that_zero_3_may_keep_elsewhere(reading, observed, zero) -> None:
    assert observed(reading(READER, text(zero_optimization=zero), "ds.json")) == {}


def test_texts_in_sections_that_convert_are_no_fault(reading, observed) -> None:
    sections = {"stage": 2, "reduce_bucket_size": "500000000"}
    changed = {"fp16": {"enabled": True, "loss_scale_window": "1000"}, "zero_optimization": sections}
    assert observed(reading(READER, text(**changed), "ds.json")) == {}
    params = {"warmup_type": "linear", "warmup_max_lr": "auto"}
    assert observed(reading(READER, text(scheduler={"type": "WarmupLR", "params": params}), "ds.json")) == {}


@pytest.mark.parametrize(("version", "effect"), [("0.14.0", "lost"), ("0.17.1", "crash"), ("", "crash")])
def test_a_key_unknown_inside_fp16_stops_the_releases_that_check_it(reading, observed, version, effect) -> None:
    given = text(fp16={"enabled": "auto", "fp16_opt_level": "O2"})
    found = observed(reading(READER, given, "ds.json", {"deepspeed": version}))
    assert found["fp16.fp16_opt_level"].effect == effect
