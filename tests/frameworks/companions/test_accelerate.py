"""What accelerate's file says of processes, precision, DeepSpeed and FSDP, and what the launcher refuses."""

from __future__ import annotations

import pytest

from loralint.frameworks.readers.accelerate import READER
from loralint.frameworks.readers.fsdp import READER as OPTIONS

DS = "distributed_type: DEEPSPEED\nnum_processes: 4\n"
FSDP = "distributed_type: FSDP\nnum_processes: 4\nfsdp_config:\n"
DDP = "distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 4\n"


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (DDP, "dist.launcher_processes", 4),
        (DDP, "dist.launcher_type", "multi_gpu"),
        (DDP, "dist.fsdp", None),
        (DDP + "mixed_precision: bf16\n", "precision.bf16", True),
        (DDP + "mixed_precision: bf16\n", "precision.fp16", None),
        (DDP + "mixed_precision: 'no'\n", "precision.bf16", None),
        (DDP + "mixed_precision: 'no'\n", "dist.launcher_precision", "no"),
        (DDP + "gpu_ids: all\n", "dist.visible_devices", None),
        (DDP + "gpu_ids: 0,2,3\n", "dist.visible_devices", 3),
        (DDP + "gpu_ids: 4\n", "dist.visible_devices", 1),
        (DS + "deepspeed_config:\n  gradient_accumulation_steps: 4\n", "dist.ds_accumulation", 4),
        (DS + "deepspeed_config:\n  gradient_accumulation_steps: auto\n", "dist.ds_accumulation", None),
        (DS + "deepspeed_config:\n  zero_stage: 3\n", "dist.ds_gather", False),
        (DS + "deepspeed_config:\n  zero_stage: 3\n  zero3_save_16bit_model: true\n", "dist.ds_gather", True),
        (DS, "dist.deepspeed", "accelerate's own"),
        (FSDP + "  fsdp_use_orig_params: false\n", "dist.fsdp", True),
        (FSDP + "  use_orig_params: false\n", "dist.fsdp_use_orig_params", False),
        (
            FSDP + "  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer\n",
            "dist.fsdp_wrap_class",
            "LlamaDecoderLayer",
        ),
        (FSDP + "  fsdp_use_orig_params: false\n", "dist.fsdp_version", 1),
        (FSDP + "  fsdp_version: 2\n", "dist.fsdp_version", 2),
        (FSDP + "  fsdp_activation_checkpointing: true\n", "dist.fsdp_checkpointing", True),
        ("distributed_type: 'NO'\nnum_processes: -1\n", "dist.launcher_processes", None),
    ],
)
def test_what_it_says(reading, text, field, value) -> None:
    assert reading(READER, text).get(field).value == value


@pytest.mark.parametrize("section", ["deepspeed_config:\n  zero_stage: 3\n", "fsdp_config:\n  fsdp_version: 2\n"])
def test_a_section_of_another_way_is_left_from_another_time(reading, section) -> None:
    config = reading(READER, DDP + section)
    assert config.get("dist.zero_stage").value is None
    assert config.get("dist.fsdp_version").value is None


@pytest.mark.parametrize(
    ("text", "key", "kind"),
    [
        (DS + "deepspeed_config:\n  deepspeed_config_file: ds.json\n  zero_stage: 3\n", "deepspeed_config.zero_stage",
         "rejected"),
        (DS + "deepspeed_config:\n  deepspeed_config_file: ds.json\nmixed_precision: bf16\n", "mixed_precision",
         "rejected"),
        (FSDP + "  fsdp_cpu_ram_efficient_loading: true\n  fsdp_sync_module_states: false\n",
         "fsdp_config.fsdp_sync_module_states", "rejected"),
        (FSDP + "  fsdp_version: 2\n  fsdp_reshard_after_forward: FULL_SHARD\n",
         "fsdp_config.fsdp_reshard_after_forward", "rejected"),
        (DDP + "mixed_precision: no\n", "mixed_precision", "coerced"),
        (DDP + "mixed_precision: bfloat16\n", "mixed_precision", "rejected"),
        (DDP + "gpu_ids: '0'\n", "gpu_ids", "rejected"),
        (DDP + "zero_stage: 3\n", "zero_stage", "renamed"),
        (DDP + "num_proceses: 3\n", "num_proceses", "unknown"),
        ("distributed_type: MULTIGPU\nnum_processes: 4\n", "distributed_type", "rejected"),
    ],
)  # fmt: skip
def test_what_the_launcher_refuses(reading, observed, text, key, kind) -> None:
    found = observed(reading(READER, text))[key]
    assert (found.kind, found.effect) == (kind, "crash")


@pytest.mark.parametrize(
    "text",
    [
        FSDP + "  fsdp_version: 2\n  fsdp_reshard_after_forward: true\n",
        FSDP + "  fsdp_version: 1\n  fsdp_reshard_after_forward: FULL_SHARD\n",
        FSDP + "  fsdp_cpu_ram_efficient_loading: false\n  fsdp_sync_module_states: false\n",
        DS + "deepspeed_config:\n  deepspeed_config_file: ds.json\n  zero3_init_flag: true\n",
        "compute_environment: AMAZON_SAGEMAKER\ndistributed_type: NO\nec2_instance_type: x\niam_role_name: y\n",
        "compute_environment: AMAZON_SAGEMAKER\ndistributed_type: DATA_PARALLEL\nec2_instance_type: x\n",
    ],
)
def test_what_it_takes(reading, observed, text) -> None:
    assert observed(reading(READER, text)) == {}


@pytest.mark.parametrize("prefix", ["", "fsdp_"])
def test_a_file_of_options_alone(reading, prefix) -> None:
    text = '{"@transformer_layer_cls_to_wrap": ["LlamaDecoderLayer"], "@activation_checkpointing": true, "@version": 2}'
    config = reading(OPTIONS, text.replace("@", prefix), "fsdp.json")
    assert config.get("dist.fsdp_wrap_class").value == "LlamaDecoderLayer"
    assert config.get("dist.fsdp_checkpointing").value is True
    assert config.get("dist.fsdp_version").value == 2
