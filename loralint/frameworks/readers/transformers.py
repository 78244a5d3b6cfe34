"""Home-made scripts around Transformers' Trainer: flat files of TrainingArguments, mostly read by HfArgumentParser.

The script's own keys are its author's; those that many scripts share are read, none is ever called unknown, and what
an absent one means is not known. Only TrainingArguments have defaults here.
"""

from __future__ import annotations

import re

from loralint.frameworks.convert import (
    always,
    dtype,
    long_dtype,
    lower,
    never,
    not_null,
    one_to_list,
    true_for,
    when_true,
)
from loralint.frameworks.observe import place
from loralint.frameworks.readers.argument_words import observe_words
from loralint.frameworks.readers.training_arguments import (
    TRAINING_ARGUMENTS,
    observe_schedule,
    observe_strategies,
    observe_texts,
    observe_workers,
)
from loralint.frameworks.readers.trl import method, use_peft
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader
from loralint.knowledge.data import part
from loralint.model import Unknown
from loralint.source.document import Document

_SWITCHES = ("use_peft", "use_lora", "use_peft_lora")
_RANKS = ("lora_r", "lora_rank")
_TRAINERS = frozenset({
    "eval_strategy", "evaluation_strategy", "save_strategy", "logging_strategy", "load_best_model_at_end",
    "metric_for_best_model", "overwrite_output_dir", "optim", "remove_unused_columns", "dataloader_num_workers",
    "per_device_eval_batch_size", "gradient_checkpointing_kwargs", "ddp_find_unused_parameters", "save_total_limit",
})  # fmt: skip
_NAME = re.compile(r"[\w.-]+")


def _targets(value: object) -> object:
    """Names between commas as scripts split them; a single regular expression or `all-linear` stays a text."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        alone = value[0]
        if alone.lower() == "all":  # a word of the script's own, which looks for the linear layers itself
            return SKIP
        return alone if alone.lower() == "all-linear" or not _NAME.fullmatch(alone) else value
    return not_null(value)


def _left_to_script(look: Look) -> object:
    """What a script of one's own adapts where its config names nothing: often every linear layer that it finds."""
    return Unknown("the script may choose the layers itself") if look.get("adapter.method").value == "lora" else SKIP


def _written_targets(value: object) -> object:
    return value if isinstance(value, (str, list)) else SKIP


def _bits(value: object) -> object:
    return value if value in (4, 8, 16) and not isinstance(value, bool) else SKIP


HOMEMADE: tuple[Entry, ...] = (
    Entry("model.base", "model_name_or_path", not_null),
    Entry("model.base", "model_name", not_null, never),
    Entry("model.base", "base_model", not_null, never),
    Entry("model.base", "model_id", not_null, never),
    Entry("model.dtype", "dtype", dtype, long_dtype),
    Entry("model.dtype", "torch_dtype", dtype, long_dtype),
    Entry("model.attention", "attn_implementation", not_null),
    Entry("model.attention", "use_flash_attn", when_true("flash_attention_2"), never),
    Entry("model.attention", "use_flash_attention", when_true("flash_attention_2"), never),
    Entry("model.attention", "use_flash_attention_2", when_true("flash_attention_2"), never),
    Entry("model.trust_remote_code", "trust_remote_code", not_null),
    *(Entry("adapter.method", key, method, use_peft) for key in _SWITCHES),
    Entry("adapter.method", "full_finetune", when_true("full"), never),
    *(Entry("adapter.method", key, always("lora"), never) for key in _RANKS),
    *(Entry("adapter.rank", key, not_null) for key in _RANKS),
    Entry("adapter.alpha", "lora_alpha", not_null),
    Entry("adapter.dropout", "lora_dropout", not_null),
    Entry("adapter.bias", "lora_bias", lambda value: value if isinstance(value, str) else SKIP),
    Entry("adapter.targets", "lora_target_modules", _targets, _written_targets, _left_to_script, split=","),
    Entry("adapter.targets", "target_modules", _targets, _written_targets, split=","),
    Entry("adapter.modules_to_save", "modules_to_save", not_null),
    Entry("adapter.rslora", "use_rslora", not_null),
    Entry("adapter.dora", "use_dora", not_null),
    Entry("quant.bits", "load_in_4bit", when_true(4), true_for(4)),
    Entry("quant.bits", "use_4bit_quantization", when_true(4), true_for(4)),
    Entry("quant.bits", "use_4bit", when_true(4), true_for(4)),
    Entry("quant.bits", "load_in_8bit", when_true(8), true_for(8)),
    Entry("quant.bits", "use_8bit_quantization", when_true(8), true_for(8)),
    Entry("quant.bits", "bits", _bits),
    Entry("quant.type", "bnb_4bit_quant_type", lower),
    Entry("quant.double", "bnb_4bit_use_double_quant", not_null),
    Entry("quant.double", "use_nested_quant", not_null),
    Entry("quant.compute_dtype", "bnb_4bit_compute_dtype", dtype, long_dtype),
    Entry("quant.storage_dtype", "bnb_4bit_quant_storage", dtype, long_dtype),
    Entry("quant.storage_dtype", "bnb_4bit_quant_storage_dtype", dtype, long_dtype),
    Entry("data.datasets", "dataset_name", one_to_list),
    Entry("data.datasets", "train_file", one_to_list),
    Entry("data.sequence_len", "max_seq_length", not_null),
    Entry("data.sequence_len", "max_length", not_null),
    Entry("data.sequence_len", "model_max_length", not_null),
    Entry("data.packing", "packing", not_null),
    Entry("train.enabled", "do_train", not_null),
)


def observe_numbers(document: Document, _: Look) -> list[Observation]:
    """Observe numbers that stay text."""
    return list(observe_texts(document, TABLE))


def observe_moved(document: Document, look: Look) -> list[Observation]:
    """Observe arguments that the Trainer had once, in files that hold a key which only the Trainer has.

    A training loop of the author's own may well know a `warmup_ratio`.
    """
    if not _is_for_trainer(document):
        return []
    pairs = document.root.pairs if document.root is not None else ()
    moved = part("keys-transformers")["moved"]
    return [
        Observation(
            entry["kind"], place(document, pair, pair.key), entry["effect"], entry["message"], entry.get("to", ""),
            package=entry["package"],
        )
        for pair in pairs
        if (entry := moved.get(pair.key)) is not None and look.version_is(entry["when"])
    ]  # fmt: skip


def observe_slips(document: Document, look: Look) -> list[Observation]:
    """Observe slips of the Trainer's words, in the same files: a loop of the author's own may have more words."""
    return observe_words(document, look) if _is_for_trainer(document) else []


def _is_for_trainer(document: Document) -> bool:
    return document.root is not None and not _TRAINERS.isdisjoint(pair.key for pair in document.root.pairs)


TABLE = (*HOMEMADE, *TRAINING_ARGUMENTS)

READER = Reader(
    name="transformers",
    title="Transformers",
    dialect="pyyaml",
    table=TABLE,
    keys="",
    coerces=True,  # whether a script converts is unknown; observe_numbers says so more carefully
    packages=("transformers", "peft"),
    observe=(observe_strategies, observe_schedule, observe_workers, observe_numbers, observe_moved, observe_slips),
)
