"""Whatever bytes a file holds, `check` gives a report that every format can render."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import loralint
from loralint.engine.settings import Settings
from loralint.frameworks.detect import NAMES
from loralint.render import render

FILES = st.sampled_from(["c.yaml", "c.yml", "c.json", "adapter_config.json", "c.toml", "c"])
FRAMEWORKS = sorted(NAMES)
LAX = settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def _survives(data: bytes, name: str, **given_options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        report = loralint.check(path, settings=Settings(preview=True), show_settings=True, **given_options)
    text = data.decode("utf-8", "replace")
    for run in report.runs:
        assert 0 <= run.score <= 100
        for finding in run.findings:
            span = finding.span
            assert 0 <= span.start <= span.end <= len(text)
            assert 1 <= span.line <= text.count("\n") + text.count("\r") + 1
            assert finding.message
            assert finding.message.isprintable()
            assert finding.help.isprintable()
    for format_ in ("full", "concise", "statistics"):
        out = render(format_, report, color=False)
        assert all(char.isprintable() or char == "\n" for char in out)
    json.loads(render("json", report, color=False))


@LAX
@given(st.binary(max_size=400), FILES, st.sampled_from(["", *FRAMEWORKS]))
def test_any_bytes(data, name, framework):
    _survives(data, name, framework=framework)


@LAX
@given(st.text(max_size=300), FILES, st.sampled_from(FRAMEWORKS))
def test_any_text(text, name, framework):
    _survives(text.encode("utf-8", "surrogatepass"), name, framework=framework)


# Real-looking configs, with any value under any key.
WORDS = [
    "auto", "1e-4", "2e-4", "all-linear", "q_proj,v_proj", "${X}", "{{ x }}", "lora", "cosine", "no", "steps", "bf16",
    "T4",
    "full", "-1", "", " ", "1:30", "0x10", "nan", ".inf", "null", "adamw_torch", "nf4", "2024-01-01",
]  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(max_size=8) | st.sampled_from(["path", "type", "_component_"]), inner, max_size=3),
    ),
    max_leaves=6,
)
KEYS = {
    "axolotl": """
        base_model adapter lora_r lora_alpha lora_dropout lora_target_modules lora_target_linear learning_rate
        datasets optimizer lr_scheduler warmup_steps warmup_ratio num_epochs max_steps micro_batch_size
        gradient_accumulation_steps bf16 fp16 load_in_4bit load_in_8bit sequence_len sample_packing save_steps
        eval_steps saves_per_epoch val_set_size weight_decay max_grad_norm lora_modules_to_save peft_use_dora
        peft_use_rslora loraplus_lr_ratio rl deepspeed fsdp special_tokens tokens early_stopping_patience
        plugins""",
    "llamafactory": """
        model_name_or_path finetuning_type stage lora_rank lora_alpha lora_target lora_dropout learning_rate
        dataset template cutoff_len quantization_bit optim lr_scheduler_type warmup_steps num_train_epochs bf16
        fp16 save_steps per_device_train_batch_size gradient_accumulation_steps eval_steps pissa_init use_dora
        packing flash_attn deepspeed additional_target""",
    "trl": """
        model_name_or_path use_peft lora_r lora_alpha lora_target_modules dataset_name learning_rate packing
        max_length bf16 fp16 load_in_4bit load_best_model_at_end eval_strategy save_strategy eval_steps
        save_steps optim beta lora_modules_to_save""",
    "transformers": """
        output_dir learning_rate per_device_train_batch_size gradient_accumulation_steps num_train_epochs
        max_steps warmup_ratio warmup_steps lr_scheduler_type optim bf16 fp16 eval_strategy save_strategy
        eval_steps save_steps load_best_model_at_end""",
    "peft": """
        peft_type r lora_alpha lora_dropout target_modules modules_to_save bias use_rslora use_dora
        init_lora_weights rank_pattern alpha_pattern layers_to_transform layers_pattern base_model_name_or_path
        task_type loftq_config exclude_modules inference_mode peft_version""",
    "torchtune": """
        model tokenizer dataset optimizer lr_scheduler loss epochs batch_size gradient_accumulation_steps dtype
        device max_steps_per_epoch compile enable_activation_checkpointing checkpointer seed
        resume_from_checkpoint""",
}


@pytest.mark.parametrize("framework", KEYS)
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_under_any_key(framework, data):
    config = data.draw(st.dictionaries(st.sampled_from(KEYS[framework].split()), ODD, max_size=8))
    gpu, rows = data.draw(st.sampled_from(["", "T4", "8xH100"])), data.draw(st.sampled_from([None, 1, 10_000]))
    text = json.dumps(config, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=data.draw(st.booleans()))
    name = "adapter_config.json" if framework == "peft" else data.draw(st.sampled_from(["c.yaml", "c.json"]))
    _survives(text.encode("utf-8", "surrogatepass"), name, framework=framework, gpu=gpu, rows=rows)


# Configs of benchmarks/ and examples/, mutated.
ROOT = Path(__file__).parents[2]
SEEDS = [path.read_bytes() for folder in ("benchmarks", "examples") for path in sorted((ROOT / folder).glob("*.yaml"))]


CUTS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=6)), min_size=1, max_size=5)
SPECIAL = st.sampled_from([
    b"[", b"]", b"{", b"}", b":", b"-", b"&a ", b"*a", b"!x ", b"|", b">", b"'", b'"', b"#", b"---\n", b"\t", b"\r",
    b"%",
    b"@", b"`", b"\\", b"? ", b"<<: ", b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8", b"\x00",
])  # fmt: skip


@LAX
@given(st.sampled_from(SEEDS), CUTS)
def test_any_mutation_of_a_real_config(seed, cuts):
    for at, length, put in cuts:
        start = int(at * len(seed))
        seed = seed[:start] + put + seed[start + length :]
    _survives(seed, "c.yaml", gpu="T4")


@LAX
@given(st.sampled_from(SEEDS), SPECIAL, st.floats(0, 1))
def test_any_special_character_anywhere(seed, special, at):
    start = int(at * len(seed))
    _survives(seed[:start] + special + seed[start:], "c.yaml")
