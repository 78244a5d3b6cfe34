"""The JSON that `fsdp_config` of TrainingArguments may name: options of FSDP alone, with or without their prefix.

Source: transformers 5.24.0 training_args.py (_process_fsdp_args).
"""

from __future__ import annotations

from loralint.frameworks.convert import lower
from loralint.frameworks.readers.accelerate import fsdp_options
from loralint.frameworks.readers.training_arguments import fsdp_classes
from loralint.frameworks.table import Entry, Reader

TABLE: tuple[Entry, ...] = (
    *fsdp_options("", "dist.fsdp_version", "version"),
    *fsdp_options("", "dist.fsdp_wrap_class", "transformer_layer_cls_to_wrap", fsdp_classes),
    *fsdp_options("", "dist.fsdp_use_orig_params", "use_orig_params"),
    *fsdp_options("", "dist.fsdp_offload", "cpu_offload"),
    *fsdp_options("", "dist.fsdp_cpu_ram_efficient", "cpu_ram_efficient_loading"),
    *fsdp_options("", "dist.fsdp_state_dict", "state_dict_type", lower),
    *fsdp_options("", "dist.fsdp_checkpointing", "activation_checkpointing"),
)

READER = Reader(
    name="fsdp",
    title="FSDP's options",
    dialect="json",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("transformers", "accelerate"),
)
