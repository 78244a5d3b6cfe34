"""SimpleTuner (4.8.0 read): a flat `config.json` or `config.toml` whose keys become flags, with or without `--`.

Every value goes through argparse, so that texts become numbers; null, and the text "false", leave the flag out. With
`lora_type: lycoris` a second file says everything about the adapter. Resolutions and latents are the data file's.
Sources: simpletuner/helpers/configuration/{cmd_args,cli_utils}.py, the field registry, helpers/training/adapter.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, words
from loralint.frameworks.readers.diffusion import KNOWN_TASK, TASK, arguments, family, mixed, positive, written_mixed
from loralint.frameworks.readers.simpletuner_faults import REQUIRED, observe_faults
from loralint.frameworks.readers.training_arguments import path, trackers, written_trackers
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_BITS = re.compile(r"^(?:int|uint|nf|fp)(\d+)")
_ATTENTION = {
    "diffusers": "sdpa", "native": "sdpa", "flash-attn": "flash_attention_2", "flash-attn-2": "flash_attention_2",
    "flash-attn-3": "flash_attention_3", "flash-attn-3-hub": "flash_attention_3", "flex": "flex_attention",
}  # fmt: skip
_FULL_PRECISION = 16


def _bits(word: object) -> object:
    """Read `int8-quanto` as 8 bits, `no_change` as none."""
    if word == "no_change":
        return _FULL_PRECISION
    found = _BITS.match(word) if isinstance(word, str) else None
    return int(found[1]) if found else SKIP


def _quantiser(word: object) -> object:
    """Read the library behind the bits; sdnq, quanto, torchao, bnb."""
    return word.rpartition("-")[2] if isinstance(word, str) and "-" in word else SKIP


# Schedules of its own, to which `lr_warmup_steps` is the length of a wave: helpers/training/custom_schedule.py
_WAVES = frozenset({"cosine", "cosine_with_restarts", "sine"})


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _rank(look: Look) -> object:
    """Give the rank, which alpha is unless it is set."""
    return look.get("adapter.rank").value


def combine(document: Document, values: Values) -> Values:
    """Leave the adapter of a LyCORIS run open, clip by norm only where that is meant, turn to a warm-up that is set."""
    assert document.root is not None
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    lycoris = _scalar(document, "lora_type") == "lycoris"
    if lycoris and _word(values, "adapter.method") == "lora":
        told = values["adapter.method"][0]._replace(value=Unknown("`lycoris_config` names the file that says it"))
        fields["adapter.method"] = (told,)
        fields |= dict.fromkeys(("adapter.rank", "adapter.alpha", "adapter.dropout", "adapter.dora"), ())
    if _word(values, "adapter.method") == "full":  # what is quantised then is not known
        fields |= {"quant.bits": (), "quant.method": ()}
    if _scalar(document, "grad_clip_method") != "norm":  # by default single entries are cut, which bounds no norm
        fields["optim.max_grad_norm"] = ()
    warmup = _word(values, "schedule.warmup_steps")
    if _word(values, "schedule.name") == "constant" and isinstance(warmup, (int, float)) and warmup > 0:
        fields["schedule.name"] = (values["schedule.name"][0]._replace(value="constant_with_warmup"),)
    if _scalar(document, "lr_scheduler") in _WAVES and values.get("schedule.warmup_steps"):
        fields["schedule.warmup_steps"] = (values["schedule.warmup_steps"][0]._replace(value=0),)
    return fields


def _word(values: Values, field: str) -> object:
    return values[field][0].value if values.get(field) else None


def _scalar(document: Document, key: str) -> str:
    pair = document.root and (document.root.pair(key) or document.root.pair(f"--{key}"))
    return pair.value.raw.lower() if pair else ""


def partial(document: Document) -> str:
    """Why a file is but a part of a config: a flag that no run can do without is missing."""
    missing = next((key for key in REQUIRED if not _scalar(document, key)), "")
    return f"`{missing}`, which SimpleTuner cannot do without, is missing too" if missing else ""


_ROWS = (
    TASK,
    Entry("model.base", "pretrained_model_name_or_path", not_null),
    Entry("model.diffusion_family", "model_family", family, never),
    Entry("model.attention", "attention_mechanism", lambda word: _ATTENTION.get(str(word), SKIP), never, "sdpa"),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    Entry("model.prediction", "prediction_type", words({"flow_matching": "flow"}), words({"flow": "flow_matching"})),
    # the adapter
    Entry("adapter.method", "model_type", lower, default="full"),
    Entry("adapter.rank", "lora_rank", not_null, default=16),
    Entry("adapter.alpha", "lora_alpha", not_null, default=_rank),
    Entry("adapter.dropout", "lora_dropout", not_null, default=_lora(0.1)),
    Entry("adapter.targets", "peft_lora_target_modules", lambda names: names if isinstance(names, list) else SKIP),
    Entry("adapter.dora", "use_dora", not_null, default=False),
    Entry("adapter.init", "lora_init_type", words({"default": "true", None: SKIP}), words({"true": "default"}),
          _lora("true")),
    Entry("adapter.bias", "", write=never, default=_lora("none")),
    # quantisation of the base
    Entry("quant.bits", "base_model_precision", _bits, words({16: "no_change"}), _FULL_PRECISION),
    Entry("quant.method", "base_model_precision", _quantiser, never),
    # optimizer and schedule
    Entry("optim.name", "optimizer", lower, default="adamw_bf16"),
    Entry("optim.lr", "learning_rate", not_null, default=4e-7),
    Entry("optim.text_encoder_lr", "text_encoder_lr", not_null),
    Entry("optim.weight_decay", "adam_weight_decay", not_null),
    Entry("optim.beta1", "optimizer_beta1", not_null),
    Entry("optim.beta2", "optimizer_beta2", not_null),
    Entry("optim.args", "optimizer_config", arguments, never),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null),
    Entry("schedule.name", "lr_scheduler", words({"cosine_with_warmup": "cosine", None: SKIP}),
          default="constant_with_warmup"),
    Entry("schedule.warmup_steps", "lr_warmup_steps", not_null, default=0),
    # batch and length of the run
    Entry("batch.micro", "train_batch_size", not_null, default=4),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.epochs", "num_train_epochs", not_null, default=1),
    Entry("train.max_steps", "max_train_steps", not_null),
    Entry("train.seed", "seed", not_null),
    Entry("train.report_to", "report_to", trackers, written_trackers, []),
    Entry("train.text_encoder", "train_text_encoder", not_null, default=False),
    Entry("train.min_snr_gamma", "snr_gamma", not_null),
    # precision
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16"), default=True),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16"), default=False),
    # data, checkpoints, memory and devices
    Entry("data.caption_dropout", "caption_dropout_probability", not_null, default=0.1),
    Entry("checkpoint.output_dir", "output_dir", not_null, default="simpletuner-results"),
    Entry("checkpoint.save_steps", "checkpoint_step_interval", positive, default=500),
    Entry("checkpoint.save_steps", "checkpointing_steps", positive, never),
    Entry("checkpoint.save_total_limit", "checkpoints_total_limit", not_null),
    Entry("checkpoint.save_total_limit", "save_total_limit", not_null, never),
    Entry("checkpoint.resume_from", "resume_from_checkpoint", path),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=True),
    Entry("dist.fsdp", "fsdp_enable", not_null, default=False),
    Entry("dist.deepspeed", "deepspeed_config", path),
)  # fmt: skip
TABLE = (*_ROWS, *(row._replace(key=f"--{row.key}", default=SKIP) for row in _ROWS if row.key))

READER = Reader(
    name="simpletuner",
    title="SimpleTuner",
    dialect="json",
    table=TABLE,
    keys="simpletuner",
    coerces=True,
    packages=("simpletuner",),
    observe=(observe_faults,),
    combine=combine,
    partial=partial,
)
