"""NeMo-RL: two backends of which one counts, files that build on others, references."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.nemo_rl import DTENSOR, MEGATRON, READER, backend
from loralint.model import Unknown
from loralint.source.read import read_bytes

ALONE = """\
sft: {max_num_epochs: 1, max_num_steps: 60, val_period: 10, seed: 42}
checkpointing: {enabled: true, checkpoint_dir: out, save_period: 10, keep_top_k: 3}
policy:
  model_name: org/m
  train_global_batch_size: 32
  train_micro_batch_size: 1
  max_total_sequence_length: 1024
  precision: bfloat16
  max_grad_norm: 1.0
  dtensor_cfg:
    enabled: true
    activation_checkpointing: false
    tensor_parallel_size: 1
    lora_cfg: {enabled: true, match_all_linear: true, target_modules: [], dim: 8, alpha: 32, use_triton: true}
  megatron_cfg:
    enabled: false
    peft: {enabled: true, dim: 64, alpha: 64}
    optimizer: {lr: 5e-6}
  optimizer:
    name: torch.optim.AdamW
    kwargs: {lr: 2e-4, weight_decay: 0.1, betas: [0.9, 0.98]}
data:
  train: {dataset_name: squad}
"""


def test_reads_the_enabled_backend(reading, observed):
    config = reading(READER, ALONE)
    expected = {
        "model.base": "org/m",
        "adapter.method": "lora",
        "adapter.rank": 8,
        "adapter.alpha": 32,
        "adapter.targets": "all-linear",
        "adapter.dtype": "fp32",
        "optim.name": "adamw",
        "optim.lr": 2e-4,
        "optim.beta2": 0.98,
        "optim.max_grad_norm": 1.0,
        "batch.micro": 1,
        "batch.global": 32,
        "train.task": "sft",
        "train.epochs": 1,
        "train.max_steps": 60,
        "train.seed": 42,
        "precision.bf16": True,
        "precision.fp16": False,
        "data.datasets": ["squad"],
        "data.sequence_len": 1024,
        "eval.strategy": "steps",
        "eval.steps": 10,
        "checkpoint.save_steps": 10,
        "quant.bits": 16,
    }
    assert {field: config.get(field).value for field in expected} == expected
    assert config.get("adapter.rank").shadowed == ()
    assert observed(config) == {}


def test_reads_megatron_where_that_is_enabled(reading):
    text = (
        "dpo: {reference_policy_kl_penalty: 0.05}\npolicy:\n  optimizer: {kwargs: {lr: 1.0}}\n  megatron_cfg:\n"
        "    enabled: true\n    peft: {enabled: true, dim: 64, alpha: 128, target_modules: [], lora_dtype: None}\n"
        "    optimizer: {optimizer: adam, lr: 5e-6, min_lr: 5e-7}\n"
        "    scheduler: {lr_decay_style: constant, lr_warmup_iters: 13}\n"
    )
    config = reading(READER, text)
    expected = {
        "adapter.rank": 64,
        "adapter.alpha": 128,
        "adapter.targets": "all-linear",
        "optim.name": "adam",
        "optim.lr": 5e-6,
        "schedule.min_lr": 5e-7,
        "schedule.name": "constant",
        "schedule.warmup_steps": 13,
        "train.task": "dpo",
        "pref.beta": 0.05,
        "adapter.dtype": None,
    }
    assert {field: config.get(field).value for field in expected} == expected


def test_an_adapter_that_is_off_says_nothing(reading):
    text = "policy:\n  dtensor_cfg:\n    enabled: true\n    lora_cfg: {enabled: false, dim: 8, alpha: 32}\n"
    config = reading(READER, text)
    assert config.get("adapter.method").value == "full"
    assert config.get("adapter.rank").origin == "absent"


def test_what_is_inherited_is_unknown(reading):
    config = reading(READER, "defaults: ../grpo.yaml\npolicy:\n  dtensor_cfg: {lora_cfg: {enabled: true, dim: 128}}\n")
    assert config.get("adapter.rank").value == 128
    for field in ("optim.lr", "adapter.alpha", "train.max_steps", "adapter.targets"):
        value = config.get(field)
        assert isinstance(value.value, Unknown), field
        assert "it may come from the inherited `defaults`" in value.value.reason
        assert (value.origin, value.known) == ("derived", False)
    assert config.get("kernel.unsloth").origin == "absent"  # nothing of the kind exists here
    assert (config.get("quant.bits").value, config.get("quant.bits").origin) == (16, "default")  # nobody can set it


def test_only_itself_is_no_inheritance(reading):
    assert reading(READER, "defaults: [_self_]\nsft: {seed: 1}\n").get("optim.lr").origin == "absent"


def test_follows_references(reading):
    text = "grpo: {seed: 5}\npolicy:\n  train_micro_batch_size: ${grpo.seed}\n  max_grad_norm: ${mul:2,3}\n"
    config = reading(READER, text)
    assert config.get("batch.micro").value == 5
    assert isinstance(config.get("optim.max_grad_norm").value, Unknown)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("{megatron_cfg: {enabled: true}}", MEGATRON),
        ("{megatron_cfg: {enabled: false}}", DTENSOR),
        ("{dtensor_cfg: {enabled: false}}", MEGATRON),
        ("{dtensor_cfg: {lora_cfg: {enabled: true}}}", DTENSOR),
        ("{dtensor_cfg: {lora_cfg: {enabled: true}}, megatron_cfg: {peft: {enabled: true}}}", ""),
        ("{dtensor_cfg: {lora_cfg: {dim: 8}}}", ""),
    ],
)
def test_tells_the_backend(policy, expected):
    root = read_bytes(f"policy: {policy}\n".encode(), "c.yaml").root
    assert root is not None
    assert backend(root) == expected


@pytest.mark.parametrize(
    ("policy", "key"),
    [
        ("{dtensor_cfg: {enabled: true}, megatron_cfg: {enabled: true}}", "policy.megatron_cfg.enabled"),
        (
            "{dtensor_cfg: {tensor_parallel_size: 2, lora_cfg: {enabled: true, use_triton: true}}}",
            "policy.dtensor_cfg.lora_cfg.use_triton",
        ),
        (
            "{dtensor_cfg: {lora_cfg: {enabled: true, match_all_linear: true, exclude_modules: ['*o']}}}",
            "policy.dtensor_cfg.lora_cfg.exclude_modules",
        ),
        ("{megatron_cfg: {enabled: true, peft: {enabled: true, dim: 8}}}", "policy.megatron_cfg.peft.enabled"),
    ],
)
def test_observes_what_stops_the_run(reading, observed, policy, key):
    assert observed(reading(READER, f"policy: {policy}\n"))[key].effect == "crash"


def test_a_size_may_be_inherited(reading, observed):
    text = "defaults: a.yaml\npolicy: {megatron_cfg: {enabled: true, peft: {enabled: true, dim: 8}}}\n"
    assert observed(reading(READER, text)) == {}


def test_tells_slips_only(reading, observed):
    text = "policy:\n  my_key: 1\n  dtensor_cfg: {lora_cfg: {enabled: true, match_all_linears: true}}\n"
    assert set(observed(reading(READER, text))) == {"policy.dtensor_cfg.lora_cfg.match_all_linears"}


@pytest.mark.parametrize(("size", "slip"), [("${policy.tensor_model_parallel_size}", False), ("1", True)])
def test_a_key_that_others_refer_to_is_no_slip(reading, observed, size, slip):
    text = f"policy:\n  tensor_model_parallel_size: 2\n  dtensor_cfg: {{tensor_parallel_size: '{size}'}}\n"
    assert ("policy.tensor_model_parallel_size" in observed(reading(READER, text))) == slip


def test_writes_back(reading):
    config = reading(READER, "policy:\n  megatron_cfg: {enabled: true, optimizer: {lr: 1e-5}}\n")
    assert config.write("optim.lr", 1e-4) == ("policy.megatron_cfg.optimizer.lr", 1e-4)
    assert config.write("adapter.method", "lora") == ("policy.dtensor_cfg.lora_cfg.enabled", True)
    assert config.write("precision.bf16", True) == ("policy.precision", "bfloat16")
    assert config.write("precision.fp16", True) == ("policy.precision", "float16")


BARE = """\
dpo: {}
checkpointing: {enabled: true, checkpoint_dir: out}
policy:
  model_name: org/m
  precision: bfloat16
  dtensor_cfg:
    enabled: true
    lora_cfg: {enabled: true, match_all_linear: true}
  optimizer: {name: torch.optim.AdamW, kwargs: {}}
"""


def told(config, fields):
    values = {field: config.get(field) for field in fields}
    return {name: None if isinstance(one.value, Unknown) else one.value for name, one in values.items()}


def test_what_no_file_has_is_what_the_classes_have(reading):
    expected = {
        "train.epochs": 1, "train.max_steps": 150, "train.seed": 42, "eval.steps": 25, "pref.beta": 0.05,
        "adapter.rank": 8, "adapter.alpha": 32, "adapter.dropout": 0.0, "adapter.init": "xavier",
        "optim.lr": 1e-3, "optim.weight_decay": 0.01, "optim.beta2": 0.999, "optim.eps": 1e-8,
        "schedule.name": "constant", "schedule.warmup_steps": 0, "dist.tensor_parallel": 1,
    }  # fmt: skip
    assert told(reading(READER, BARE), expected) == expected


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        (("dpo: {}", "sft: {}"), "train.max_steps", 60),
        (("dpo: {}", "sft: {}"), "pref.beta", None),
        (("dpo: {}", "grpo: {}"), "train.max_steps", None),  # 0.7.0 wants it
        (("kwargs: {}}", "kwargs: {}}\n  scheduler: {name: torch.optim.lr_scheduler.LinearLR}"), "schedule.name", None),
        (("torch.optim.AdamW", "torch.optim.Adam"), "optim.weight_decay", 0),
        (("torch.optim.AdamW", "my.Own"), "optim.lr", None),
        (("enabled: true, match", "enabled: false, match"), "adapter.rank", None),
        (("dpo: {}", "dpo: {}\ndefaults: dpo.yaml"), "train.max_steps", None),
    ],
)
def test_a_default_holds_only_where_it_is_sure(reading, change, field, value):
    assert told(reading(READER, BARE.replace(*change)), [field]) == {field: value}
