"""`show` says how many parameters the adapter trains, and where."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from loralint.cli import main

RUN = (
    "base_model: {base}\nadapter: {adapter}\nlora_r: 16\nlora_alpha: 16\nlora_target_modules: [q_proj, v_proj]\n"
    "micro_batch_size: 1\nlearning_rate: 0.0002\n"
)


@pytest.fixture
def show(tmp_path):
    def run(*options: str, base: str = "meta-llama/Llama-3.1-8B", adapter: str = "lora") -> str:
        file = tmp_path / "config.yaml"
        file.write_text(RUN.format(base=base, adapter=adapter), encoding="utf-8")
        result = CliRunner().invoke(main, ["show", str(file), *options])
        assert result.exit_code == 0, result.output
        return result.output

    return run


def test_the_count_and_where_it_lies(show):
    assert "trainable parameters: 6,815,744 (q_proj 4,194,304, v_proj 2,621,440)" in show()


def test_what_cannot_be_counted_says_why(show):
    assert "trainable parameters: unknown: base model `me/mine` is not in the catalogue" in show(base="me/mine")


def test_json_has_the_numbers(show):
    rows = {row["parameter"]: row for row in json.loads(show("--format", "json"))["runs"][0]["settings"]}
    assert rows["lora.trainable"]["value"] == 6_815_744
    assert rows["lora.trainable_by_module"]["value"] == {"q_proj": 4_194_304, "v_proj": 2_621_440}


def test_without_lora_there_is_no_such_line(show):
    assert "trainable parameters" not in show(adapter="")


def test_a_trainer_without_peft_is_not_counted_by_its_rules(tmp_path):
    file = tmp_path / "config.yaml"
    file.write_text(
        "model: mlx-community/Qwen2.5-7B-Instruct-4bit\ntrain: true\niters: 600\nlearning_rate: 1e-4\n"
        "lora_parameters:\n  keys: [self_attn.q_proj]\n  rank: 8\n  scale: 20.0\n  dropout: 0.0\n",
        encoding="utf-8",
    )
    output = CliRunner().invoke(main, ["show", str(file)]).output
    assert "trainable parameters: unknown: this trainer builds its adapter without PEFT" in output
