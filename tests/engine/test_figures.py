"""What the facts say of a run in numbers, for formats that draw."""

from __future__ import annotations

from typing import Any

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.model import Table, Unknown

CONFIG = """base_model: meta-llama/Llama-3.1-8B
adapter: lora
lora_r: 16
lora_alpha: 32
lora_target_modules: [q_proj, down_proj]
micro_batch_size: 2
gradient_accumulation_steps: 8
max_steps: 1000
warmup_steps: 100
lr_scheduler: cosine
learning_rate: 0.0002
optimizer: adamw_torch
sequence_len: 1024
sample_packing: false
gradient_checkpointing: true
bf16: true
"""


@pytest.fixture
def figures(tmp_path):
    """figures(text, ...) -> name -> Table, of the one run of that text."""

    def build(text: str, **given: Any) -> dict[str, Table]:
        file = tmp_path / "config.yaml"
        file.write_text(text, encoding="utf-8")
        (run,) = loralint.check(file, settings=Settings(), figures=True, **given).runs
        return {one.name: one for one in run.figures}

    return build


def test_a_check_without_them_pays_for_none(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(CONFIG, encoding="utf-8")
    (run,) = loralint.check(file, settings=Settings()).runs
    assert (run.figures, run.settings) == ((), ())


def test_each_value_stands_beside_the_entry_that_counts(figures):
    rows = {setting.parameter: (setting.value, entry) for setting, entry, _ in figures(CONFIG)["golden"].rows}
    value, entry = rows["optim.lr"]
    assert (value.value, value.key, entry) == (0.0002, "learning_rate", "lr-sft")
    assert (rows["lora.E"][0].value, rows["lora.E"][1]) == (pytest.approx(32 * 0.0002), "step-first-sft")
    assert rows["lora.P"][0].value == pytest.approx(32 * 0.0002**2 * 4096)
    assert rows["steps.warmup_share"][0].value == pytest.approx(0.1)
    assert rows["optim.weight_decay"][0].key == "weight_decay"  # absent, so it is the key that one would write


def test_what_cannot_be_held_against_the_list_says_why(figures):
    rows = figures(CONFIG.replace("max_steps: 1000", "num_epochs: 1"))["golden"].rows
    (reason,) = [reason for setting, entry, reason in rows if setting.parameter == "steps.total" and not entry]
    assert "--rows" in reason


def test_the_rate_rises_to_its_peak_and_falls(figures):
    points = dict(figures(CONFIG)["schedule"].rows)
    assert points[0] == 0
    assert points[100] == pytest.approx(0.0002)
    assert max(points.values()) == points[100]
    assert min(points) == 0
    assert points[1000] == pytest.approx(0, abs=1e-12)
    middle = min(points, key=lambda step: abs(step - 550))
    assert points[middle] == pytest.approx(0.0001, rel=0.02)  # half of the way down the cosine


def test_a_schedule_ends_where_it_is_told_to(figures):
    points = dict(figures(CONFIG + "cosine_min_lr_ratio: 0.1\n")["schedule"].rows)
    assert points[1000] == pytest.approx(0.00002)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [("cosine", "my_own", "my_own"), ("max_steps: 1000", "num_epochs: 1", "--rows"), ("0.0002", "0.0", "not above 0")],
)
def test_a_schedule_that_is_not_known_says_why(figures, old, new, reason):
    table = figures(CONFIG.replace(old, new))["schedule"]
    assert (table.rows, reason in table.title) == ((), True)


def test_every_layer_of_the_model_is_counted(figures):
    rows = {row[0].rpartition(".")[2]: row[1:] for row in figures(CONFIG)["targets"].rows}
    assert rows["q_proj"] == (32, 32, 0, 32 * 16 * (4096 + 4096))
    assert rows["down_proj"] == (32, 32, 0, 32 * 16 * (14336 + 4096))
    assert rows["up_proj"] == (32, 0, 0, 0)
    assert rows["lm_head"] == (1, 0, 0, 0)


def test_layers_that_are_named_by_number_are_part_of_their_kind(figures):
    text = CONFIG.replace("[q_proj, down_proj]", "[q_proj]\npeft_layers_to_transform: [0, 1, 2]")
    rows = {row[0].rpartition(".")[2]: row[1:] for row in figures(text)["targets"].rows}
    assert rows["q_proj"][:2] == (32, 3)


QWEN = CONFIG.replace("meta-llama/Llama-3.1-8B", "Qwen/Qwen2.5-0.5B")
ADAPTER = (
    '{"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen2.5-0.5B", "r": 8, "lora_alpha": 16, '
    '"target_modules": ["q_proj", "v_proj"], "bias": "all"}'
)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (CONFIG, "q_proj"),
        (CONFIG + "lora_modules_to_save: [embed_tokens, lm_head]\n", "lm_head"),
        (QWEN + "peft_layers_to_transform: [1, 3]\n", "down_proj"),
        (ADAPTER, "biases"),
    ],
)
def test_what_is_drawn_adds_up_to_what_trains(figures, tmp_path, text, named):
    rows = figures(text)["targets"].rows
    (run,) = loralint.check(tmp_path / "config.yaml", settings=Settings(), show_settings=True).runs
    total = next(one.value.value for one in run.settings if one.parameter == "lora.trainable")
    assert sum(row[4] for row in rows) == total
    assert next(row[4] for row in rows if row[0].rpartition(".")[2] == named) > 0


def test_packed_experts_are_drawn_by_their_matrices(figures):
    text = CONFIG.replace("meta-llama/Llama-3.1-8B", "mistralai/Mixtral-8x7B-v0.1").replace("down_proj", "w1, w2, w3")
    rows = {row[0].rpartition(".")[2]: row[1:3] for row in figures(text)["targets"].rows}
    assert rows["gate_up_proj"] == rows["down_proj"] == rows["q_proj"] == (32, 32)


def test_a_model_that_nobody_knows_has_no_layers_to_draw(figures):
    table = figures(CONFIG.replace("meta-llama/Llama-3.1-8B", "someone/something"))["targets"]
    assert table.rows == ()
    assert table.title


def test_a_run_without_lora_has_no_targets(figures):
    lines = [line for line in CONFIG.splitlines() if not line.startswith(("adapter", "lora"))]
    assert "targets" not in figures("\n".join([*lines, "trust_remote_code: false", ""]), framework="axolotl")


def test_memory_is_what_show_memory_says(figures):
    from loralint.api import options
    from loralint.engine.sizes import sizes
    from loralint.run.project import Project
    from loralint.source.read import read_bytes

    rows = dict(figures(CONFIG, gpu="T4")["memory"].rows)
    document = read_bytes(CONFIG.encode(), "config.yaml")
    (one,) = sizes(document, options(gpu="T4", settings=Settings()), Project())
    assert {name: rows[name] for name in one.parts} == {name: value.value for name, value in one.parts.items()}
    assert (rows["peak"], rows["band"], rows["card"]) == (one.peak.value, one.band.value, 16.0)


def test_memory_without_a_card_is_drawn_too(figures):
    rows = dict(figures(CONFIG)["memory"].rows)
    assert rows["weights"] > 14
    assert isinstance(rows["card"], Unknown)
