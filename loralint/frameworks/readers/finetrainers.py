"""finetrainers (0.2 at f476c371 read): flags of `train.py`, and a JSON file of datasets beside them.

The base weights are bf16 unless a flag says otherwise, the adapter's fp32 but under FSDP; only the denoiser trains.
Rank and alpha are 64 each and do not follow one another.
Sources: finetrainers/args.py, trainer/sft_trainer/{config,trainer}.py, trainer/control_trainer/config.py.
"""

from __future__ import annotations

from loralint.frameworks.convert import dtype, lower, never, not_null
from loralint.frameworks.readers.diffusion import TASK, family
from loralint.frameworks.table import SKIP, Entry, Look, Reader

_TARGETS = "(transformer_blocks|single_transformer_blocks).*(to_q|to_k|to_v|to_out.0)"
_METHODS = {"lora": "lora", "control-lora": "lora", "full-finetune": "full", "control-full-finetune": "full"}


def _targets(names: object) -> object:
    """Read one name as the regular expression that it is."""
    return names[0] if isinstance(names, list) and len(names) == 1 else names


def _default_targets(look: Look) -> object:
    return _TARGETS if look.get("adapter.method").value == "lora" else SKIP


TABLE = (
    TASK,
    Entry("model.base", "pretrained_model_name_or_path", not_null),
    Entry("model.diffusion_family", "model_name", family, never),
    Entry("model.dtype", "transformer_dtype", dtype, not_null, "bf16"),
    Entry("model.prediction", "", write=never),
    Entry("adapter.method", "training_type", lambda word: _METHODS.get(str(word), word), never),
    Entry("adapter.rank", "rank", not_null, default=64),
    Entry("adapter.alpha", "lora_alpha", not_null, default=64),
    Entry("adapter.targets", "target_modules", _targets, default=_default_targets),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("quant.fp8", "layerwise_upcasting_modules", bool, never, False),
    Entry("optim.name", "optimizer", lower, default="adam"),
    Entry("optim.lr", "lr", not_null, default=1e-4),
    Entry("optim.beta1", "beta1", not_null, default=0.9),
    Entry("optim.beta2", "beta2", not_null, default=0.95),
    Entry("optim.weight_decay", "weight_decay", not_null, default=1e-4),
    Entry("optim.eps", "epsilon", not_null, default=1e-8),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
    Entry("schedule.name", "lr_scheduler", lower, default="constant"),
    Entry("schedule.warmup_steps", "lr_warmup_steps", not_null, default=500),
    Entry("batch.micro", "batch_size", not_null, default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.max_steps", "train_steps", not_null, default=1000),
    Entry("train.seed", "seed", not_null),
    Entry("train.text_encoder", "", write=never, default=False),
    Entry("train.flow_shift", "flow_shift", not_null, default=1.0),
    Entry("precision.tf32", "allow_tf32", not_null, default=False),
    Entry("data.config", "dataset_config", not_null, never),
    Entry("data.cache_latents", "enable_precomputation", not_null, default=False),
    Entry("checkpoint.output_dir", "output_dir", not_null, default="finetrainers-training"),
    Entry("checkpoint.save_steps", "checkpointing_steps", not_null, default=500),
    Entry("checkpoint.save_total_limit", "checkpointing_limit", not_null),
    Entry("checkpoint.resume_from", "resume_from_checkpoint", not_null),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=False),
)  # fmt: skip

READER = Reader(
    name="finetrainers",
    title="finetrainers",
    dialect="flags",
    table=TABLE,
    keys="finetrainers",
    coerces=True,
    packages=("finetrainers", "peft"),
)
