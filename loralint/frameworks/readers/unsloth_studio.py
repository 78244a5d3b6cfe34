"""Unsloth Studio: the file of `unsloth train --config` (2026.8.1 to 2026.10.9 read), in sections.

The trainer builds TRL's SFTTrainer and fixes what the file cannot say: 8-bit AdamW, a linear schedule, bf16 where the
GPU has it, NF4 with double quantisation. The 4-bit switch counts for LoRA only.
Sources: unsloth wheels, unsloth_cli/config.py, unsloth_cli/commands/train.py, studio/backend/core/training/trainer.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, one_to_list, true_for, when_true, words
from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document
from loralint.source.scalars import value

PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
_OFF = ("none", "false", "0", "no", "off")
_FULL_PRECISION = 16


def targets(names: object) -> object:
    """Read `all-linear` alone as the word and beside names as nothing, as the trainer does; no names are its seven."""
    if not isinstance(names, list):
        return SKIP
    if names == ["all-linear"]:
        return "all-linear"
    return [name for name in names if name != "all-linear"] or SKIP


def written_targets(names: object) -> object:
    """Write names with commas between them, which is all that the schema takes."""
    return ",".join(map(str, names)) if isinstance(names, list) else names if names == "all-linear" else SKIP


def checkpointing(word: object) -> object:
    """Read the words and booleans for on and off; an empty text stands for `unsloth`."""
    return SKIP if word is None else str(word).strip().lower() not in _OFF


def written_checkpointing(on: object) -> object:
    """Write the word, which every release takes; a boolean is refused before 2026.9.13."""
    return "unsloth" if on is True else "none"


def bits(switch: object) -> object:
    """Read the switch both ways."""
    return {"true": 4, "false": _FULL_PRECISION}.get(str(switch).lower(), SKIP)


def written_bits(number: object) -> object:
    """Write the switch."""
    return {4: True, _FULL_PRECISION: False}.get(number, SKIP) if isinstance(number, int) else SKIP


def of_lora(answer: object) -> Callable[[Look], object]:
    """Make a default of LoRA."""
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _of_4bit(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("quant.bits").value == 4 else SKIP


def _positive(number: object) -> object:
    """Read 0 as off."""
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _saves(look: Look) -> object:
    return "steps" if look.get("checkpoint.save_steps").known else "no"


def combine(document: Document, values: Values) -> Values:
    """Drop what a full fine-tune ignores, and let `vision_all_linear` stand in for empty targets."""
    fields: dict[str, tuple[Value, ...]] = {}
    method = values.get("adapter.method", ())
    if method and method[0].value == "full":
        fields |= {name: () for name in ("quant.bits", "quant.method") if name in values}
    everywhere = find(document.root, "lora.vision_all_linear") if document.root else None
    named = values.get("adapter.targets", ())
    if everywhere is not None and not named and value(everywhere.value, "pyyaml") is True:
        where = place(document, everywhere, "lora.vision_all_linear")
        fields["adapter.targets"] = (where._replace(value="all-linear", field="adapter.targets"),)
    return fields


def _refused_switch(document: Document, look: Look) -> list[Observation]:
    """Observe a boolean for gradient_checkpointing, which releases before 2026.9.13 refuse."""
    pair = find(document.root, "training.gradient_checkpointing") if document.root else None
    made = value(pair.value, "pyyaml") if pair is not None and pair.value.kind == "scalar" else None
    if pair is None or not isinstance(made, bool) or not look.version_is("unsloth-studio<2026.9.13"):
        return []
    return [
        Observation(
            "rejected",
            place(document, pair, "training.gradient_checkpointing"),
            "crash",
            "Unsloth Studio takes the words unsloth, true and none here, and YAML makes a boolean of this",
            '"true"' if made else "none",
            "value",
            "unsloth-studio",
        )
    ]


def _skipped_loftq(document: Document, _: Look) -> list[Observation]:
    """Observe LoftQ over a base that is loaded in 4 bits."""
    root = document.root
    pair = find(root, "lora.use_loftq") if root else None
    loaded = find(root, "training.load_in_4bit") if root else None
    kind = find(root, "training.training_type") if root else None
    quantised = loaded is None or value(loaded.value, "pyyaml") is True
    full = kind is not None and str(value(kind.value, "pyyaml")).lower() == "full"
    if pair is None or value(pair.value, "pyyaml") is not True or not quantised or full:
        return []
    message = "Unsloth skips LoftQ when the base is loaded in 4 bits, and trains plain LoRA"
    return [Observation("ignored", place(document, pair, "lora.use_loftq"), "lost", message, "", "remove")]


TABLE = (
    # the base model
    Entry("model.base", "model", lambda value: value if isinstance(value, str) else SKIP),
    Entry("kernel.unsloth", "", write=never, default=True),
    Entry("model.rope_scaling", "", write=never, default="linear"),  # to whatever max_seq_length says
    # the adapter
    Entry("adapter.method", "training.training_type", lower, default="lora"),
    Entry("adapter.rank", "lora.lora_r", not_null, default=64),
    Entry("adapter.alpha", "lora.lora_alpha", not_null, default=16),
    Entry("adapter.dropout", "lora.lora_dropout", not_null, default=0.0),
    Entry("adapter.bias", "", write=never, default="none"),
    Entry("adapter.targets", "lora.target_modules", targets, written_targets, of_lora(PROJECTIONS), split=","),
    Entry("adapter.rslora", "lora.use_rslora", not_null, default=False),
    Entry("adapter.dora", "lora.use_dora", not_null, default=False),
    Entry("adapter.init", "lora.use_loftq", never, never, default="true"),
    Entry("adapter.dtype", "", write=never, default=of_lora("fp32")),
    Entry("adapter.task_type", "", write=never, default="CAUSAL_LM"),
    # quantisation of the base
    Entry("quant.bits", "training.load_in_4bit", bits, written_bits,
          lambda look: 4 if look.get("adapter.method").value == "lora" else _FULL_PRECISION),
    Entry("quant.method", "training.load_in_4bit", when_true("bnb"), never, _of_4bit("bnb")),
    Entry("quant.type", "", write=never, default=_of_4bit("nf4")),
    Entry("quant.double", "", write=never, default=_of_4bit(answer=True)),
    # optimizer and schedule; the defaults files of the UI name them
    Entry("optim.name", "training.optim", lower, never, "adamw_8bit"),
    Entry("optim.lr", "training.learning_rate", not_null, default=2e-4),
    Entry("optim.weight_decay", "training.weight_decay", not_null, default=0.01),
    Entry("schedule.name", "training.lr_scheduler_type", lower, never, "linear"),
    Entry("schedule.warmup_steps", "training.warmup_steps", not_null,
          default=lambda look: SKIP if look.get("schedule.warmup_ratio").known else 5),
    Entry("schedule.warmup_ratio", "training.warmup_ratio", not_null, never),
    # batch and length of the run
    Entry("batch.micro", "training.batch_size", not_null, default=2),
    Entry("batch.accumulation", "training.gradient_accumulation_steps", not_null, default=4),
    Entry("train.task", "data.format_type", lambda word: "pt" if lower(word) == "raw" else SKIP, never, "sft"),
    Entry("train.epochs", "training.num_epochs", not_null, default=3),
    Entry("train.max_steps", "training.max_steps", not_null, default=0),
    Entry("train.seed", "training.random_seed", not_null, default=3407),
    Entry("train.report_to", "logging.enable_wandb", when_true(["wandb"]), true_for(["wandb"])),
    Entry("train.report_to", "logging.enable_tensorboard", when_true(["tensorboard"]), true_for(["tensorboard"]), []),
    Entry("train.logging_steps", "", write=never, default=1),
    # precision: bf16 where the GPU has it, else fp16
    Entry("precision.bf16", "", write=never, default="auto"),
    # data
    Entry("data.datasets", "data.local_dataset", one_to_list, never),
    Entry("data.datasets", "data.dataset", one_to_list,
          lambda names: names[0] if isinstance(names, list) and len(names) == 1 else SKIP),
    Entry("data.sequence_len", "training.max_seq_length", not_null, default=2048),
    Entry("data.packing", "training.packing", not_null, default=False),
    Entry("data.train_on_inputs", "training.train_on_completions", words({True: False, False: True}),
          words({True: False, False: True}), default=True),
    # evaluation and checkpoints
    Entry("eval.steps", "training.eval_steps", _positive, never),
    Entry("checkpoint.output_dir", "training.output_dir", not_null),
    Entry("checkpoint.save_steps", "training.save_steps", _positive),
    Entry("checkpoint.save_strategy", "", write=never, default=_saves),
    # memory
    Entry("memory.gradient_checkpointing", "training.gradient_checkpointing", checkpointing, written_checkpointing,
          default=True),
)  # fmt: skip

READER = Reader(
    name="unsloth-studio",
    title="Unsloth Studio",
    dialect="pyyaml",
    table=TABLE,
    keys="unsloth_studio",
    coerces=True,
    packages=("unsloth-studio", "transformers", "trl", "peft"),
    observe=(_refused_switch, _skipped_loftq),
    combine=combine,
)
