"""Rows of Unsloth's two functions, which load a model and put the adapter on it, with the defaults of their own.

Source: unsloth 2026.10.9, models/loader.py, models/llama.py and models/rl.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import device, dtype, never, not_null, true_for, when_true
from loralint.frameworks.readers.unsloth_studio import PROJECTIONS, checkpointing, written_checkpointing
from loralint.frameworks.table import SKIP, Entry, Look

_FULL_PRECISION = 16


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _other_precision(value: object) -> object:
    return _FULL_PRECISION if value is True else SKIP


def _off(value: object) -> object:
    return _FULL_PRECISION if value is False else SKIP


def _init(value: object) -> object:
    return str(value).lower() if isinstance(value, (bool, str)) else SKIP


UNSLOTH_LOAD = (
    Entry("model.base", "model_name", not_null),
    Entry("kernel.unsloth", "", write=never, default=True),
    Entry("model.dtype", "dtype", dtype, never, default="auto"),
    Entry("model.loaded_len", "max_seq_length", not_null, default=2048),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    Entry("adapter.method", "full_finetuning", when_true("full"), never),
    Entry("quant.bits", "full_finetuning", _other_precision, never),
    Entry("quant.bits", "load_in_8bit", when_true(8), true_for(8)),
    Entry("quant.bits", "load_in_4bit", when_true(4), true_for(4), default=4),
    Entry("quant.bits", "load_in_4bit", _off, never),
    Entry("quant.method", "load_in_4bit", when_true("bnb"), never, default=_of_4bit("bnb")),
    Entry("quant.type", "", write=never, default=_of_4bit("nf4")),
    Entry("quant.double", "", write=never, default=_of_4bit(answer=True)),
    Entry("quant.compute_dtype", "dtype", dtype, never, default="auto"),
    Entry("dist.device_map", "device_map", device),
    Entry("rl.vllm", "fast_inference", when_true("colocate"), never),
    Entry("rl.vllm_rank", "max_lora_rank", not_null, default=lambda look: 64 if look.get("rl.vllm").known else SKIP),
)
UNSLOTH_WRAP = (
    Entry("adapter.method", "", write=never, default="lora"),
    Entry("adapter.rank", "r", not_null, default=16),
    Entry("adapter.alpha", "lora_alpha", not_null, default=16),
    Entry("adapter.dropout", "lora_dropout", not_null, default=0.0),
    Entry("adapter.bias", "bias", not_null, default="none"),
    Entry("adapter.targets", "target_modules", not_null, default=PROJECTIONS),
    Entry("adapter.modules_to_save", "modules_to_save", not_null),
    Entry("adapter.layers", "layers_to_transform", not_null),
    Entry("adapter.layers_pattern", "layers_pattern", not_null),
    Entry("adapter.rslora", "use_rslora", not_null, default=False),
    Entry("adapter.dora", "use_dora", not_null, default=False),
    Entry("adapter.init", "init_lora_weights", _init, default="true"),
    Entry("adapter.target_parameters", "target_parameters", lambda names: names or SKIP),
    Entry("adapter.task_type", "task_type", not_null, never, default="CAUSAL_LM"),
    Entry("memory.gradient_checkpointing", "use_gradient_checkpointing", checkpointing, written_checkpointing,
          default=True),
)  # fmt: skip
# what the patched configs of TRL and the Trainer have in place of the library's own defaults
UNSLOTH_DEFAULTS: dict[str, object] = {
    "batch.micro": 4,
    "batch.accumulation": 2,
    "batch.eval_micro": 4,
    "optim.name": "adamw_8bit",
    "optim.lr": 5e-5,
    "optim.weight_decay": 0.001,
    "train.seed": 3407,
    "train.logging_steps": 1,
    "train.report_to": [],
    "schedule.warmup_ratio": 0.1,
}
