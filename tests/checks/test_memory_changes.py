"""The changes that LL541 proposes: each can be written in the framework's own words, and their sum is what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from loralint.api import around, check, options
from loralint.engine.settings import Settings
from loralint.engine.sizes import sizes
from loralint.facts.scope import number
from loralint.source.read import read_file

LORA = "model_name_or_path: meta-llama/Llama-3.1-8B\nlearning_rate: 0.0001\nbf16: true\n"
RUNS = {
    "axolotl": "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 16\nlora_alpha: 32\n"
    "lora_target_linear: true\nsequence_len: 4096\nsample_packing: true\nmicro_batch_size: 4\n"
    "gradient_accumulation_steps: 2\noptimizer: adamw_torch\nlearning_rate: 0.0002\nbf16: true\n"
    "flash_attention: true\ngradient_checkpointing: false\n",
    "llamafactory": f"{LORA}stage: sft\nfinetuning_type: lora\nlora_target: all\ncutoff_len: 4096\npacking: true\n"
    "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\ndisable_gradient_checkpointing: true\n",
    "llamafactory, preferences": f"{LORA}stage: dpo\nfinetuning_type: lora\nlora_target: all\ncutoff_len: 2048\n"
    "per_device_train_batch_size: 4\n",
    "trl": f"{LORA}use_peft: true\nlora_target_modules: all-linear\nmax_length: 4096\npacking: true\n"
    "per_device_train_batch_size: 4\ngradient_checkpointing: false\ndtype: bfloat16\n",
    "ms-swift": "model: meta-llama/Llama-3.1-8B\ntrain_type: lora\ntarget_modules: all-linear\nmax_length: 4096\n"
    "per_device_train_batch_size: 4\ngradient_checkpointing: false\nlearning_rate: 0.0001\ntorch_dtype: bfloat16\n",
    "mlx-lm": "model: meta-llama/Llama-3.1-8B\ntrain: true\nfine_tune_type: lora\nbatch_size: 4\nmax_seq_length: 4096\n"
    "lora_parameters: {rank: 8, scale: 20.0, dropout: 0.0}\nlearning_rate: 1.0e-5\n",
    "litgpt": "checkpoint_dir: checkpoints/meta-llama/Llama-3.1-8B\nlora_r: 8\nlora_alpha: 16\n"
    "precision: bf16-true\ntrain: {global_batch_size: 8, micro_batch_size: 4, max_seq_length: 4096}\n",
}  # fmt: skip


def put(tree: dict, key: str, value: object) -> None:
    """Set a dotted key."""
    *outer, last = key.split(".")
    for word in outer:
        tree = tree.setdefault(word, {})
    tree[last] = value


def peak(path: Path, gpu: str) -> tuple[float, float] | None:
    (one,) = sizes(read_file(str(path), path.name), options(gpu=gpu, settings=Settings()), around([str(path)]))
    low, half = number(one.peak), number(one.band)
    return None if low is None or half is None else (low, half)


@pytest.mark.parametrize("gpu", ["T4x1", "RTX 4090x1", "A100-40GBx1"])
@pytest.mark.parametrize("name", RUNS)
def test_what_is_proposed_can_be_written_and_adds_up(tmp_path, name, gpu):
    path = tmp_path / "run.yaml"
    path.write_text(RUNS[name], "utf-8")
    (run,) = check(str(path), gpu=gpu, select_rules=["LL541", "LL542"]).runs
    proposed = [one for one in run.findings if one.rule == "LL541"]
    if not proposed:
        assert peak(path, gpu) is None or run.findings or peak(path, gpu)[0] < 40
        return
    written, reached = re.fullmatch(r"write (.+), which brings it to (.+) GiB", proposed[0].help).groups()
    tree = yaml.safe_load(RUNS[name])
    for pair in written.split(" and "):
        key, _, value = pair.partition(": ")
        assert value, proposed[0].help
        put(tree, key, yaml.safe_load(value))
    path.write_text(yaml.safe_dump(tree, sort_keys=False), "utf-8")
    middle, half = peak(path, gpu)
    promised, error = map(float, reached.split(" ± "))
    assert abs(middle - promised) < 0.4  # what 4-bit constants take is the framework's default, which is known then
    assert middle + half < promised + error + 0.06
    assert not check(str(path), gpu=gpu, select_rules=["LL541", "LL542"]).runs[0].findings
