from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from loralint.cli import main
from loralint.knowledge.data import part


def run(*arguments: str):
    return CliRunner(env={"NO_COLOR": "1"}).invoke(main, ["golden", *arguments])


def test_the_list_names_every_parameter():
    result = run()
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.splitlines()[:-2]] == sorted(part("golden"))
    assert "lora.P                    1  product step, alpha_eff * lr_A * lr_B * width\n" in result.output


@pytest.mark.parametrize("name", ["lora.P", "P"])
def test_one_parameter(name):
    text = run(name).output
    assert text.startswith("lora.P: product step, alpha_eff * lr_A * lr_B * width\n\nAfter one or two steps")
    assert (
        "\n  counts where   lora.on is true\n  recommended    0.0026 (x/÷ 10)\n  fine           1.0e-05 to 0.1\n"
        in text
    )
    assert "\n  above 2.5      tier S: the adapter leaves the base model's loss behind" in text
    assert "\n  above 0.1      note: about one published run in twenty-five diverged here\n" in text
    assert "\n  evidence       measured\n  source         measured here: 46 runs" in text


@pytest.mark.parametrize("name", sorted(part("golden")))
def test_every_parameter_has_a_page(name):
    result = run(name)
    assert result.exit_code == 0, result.output
    assert all(f"\n{entry['id']}: {entry['name']}\n" in result.output for entry in part("golden")[name])


@pytest.mark.parametrize(
    ("key", "title"),
    [
        ("learning_rate", "optim.lr: learning rate"),
        ("lora_alpha", "adapter.alpha: LoRA alpha"),
        ("r", "adapter.rank: LoRA rank r"),
        ("target_modules", "adapter.targets: modules that get an adapter"),
    ],
)
def test_a_trainers_own_key_leads_to_its_parameter(key, title):
    assert run(key).output.startswith(f"{title}\n")


def test_json_joins_numbers_and_sources():
    body = json.loads(run("lora.P", "--format", "json").output)
    entry = body["lora.P"]["entries"][0]
    assert entry["range"] == [1e-5, 0.1]
    assert entry["bounds"][0]["above"] == 2.5
    assert entry["sources"]


def test_an_unknown_parameter_gets_near_names():
    result = run("optim.lrr")
    assert result.exit_code == 2
    assert "no golden parameter is called `optim.lrr`; perhaps optim.lr" in result.output


def test_the_cards():
    lines = run("gpu").output.splitlines()
    assert len(lines) == 1 + len(part("hardware")["gpus"])
    assert "A100                     nvidia    8.0      40, 80     bf16 tf32 flash2" in lines


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("T4", "T4                       nvidia    7.5      16         none of these"),
        ("tesla-t4", "T4                       nvidia    7.5      16         none of these"),
        ("H100-80GB", "H100                     nvidia    9.0      80         bf16 tf32 flash2 fp8"),
    ],
)
def test_one_card(name, line):
    result = run("gpu", name)
    assert result.exit_code == 0
    assert [text.rstrip().replace("-80GB", "     ")[: len(line)] for text in result.output.splitlines()[1:]] == [line]


def test_an_unknown_card():
    result = run("gpu", "T5000")
    assert result.exit_code == 2
    assert "no GPU `T5000` is known" in result.output
