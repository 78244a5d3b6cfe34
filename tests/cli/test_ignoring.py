from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HEAD = """base_model: meta-llama/Llama-3.1-8B
special_tokens: {pad_token: '<|end_of_text|>'}
datasets: [{path: a/b, type: alpaca}]
adapter: lora
lora_r: 16
lora_alpha: 16
micro_batch_size: 1
num_epochs: 1
learning_rate: 2e-4
"""


@pytest.fixture
def told(invoke, tmp_path):
    def lint(text, *arguments):
        file = tmp_path / "config.yaml"
        file.write_text(HEAD + text, encoding="utf-8")
        return invoke("check", str(file), "--isolated", *arguments).output

    return lint


def test_an_ignore_of_a_rule_that_was_not_checked_is_not_called_unused(told):
    text = "lora_target_linear: true\nbf16: true  # loralint: ignore[LL214] runs on a TPU\n"
    assert "LL005" not in told(text)  # no --gpu: nobody knows
    assert "LL005" in told(text, "--gpu", "A100")
    assert "LL005" not in told(text, "--gpu", "A100", "--select", "LL3,LL005")


def test_an_ignore_quiets_a_note(told):
    text = "bf16: true\nlora_target_modules: [q_proj, v_proj]"
    assert "only attention gets an adapter" in told(f"{text}\n")
    quiet = told(f"{text}  # loralint: ignore[LL326] so did the paper\n")
    assert "only attention" not in quiet
    assert "LL005" not in quiet


@pytest.mark.parametrize("comment", ["loralint: disable=LL206", "loralint ignore[LL206] old", "loralint: noqa LL206"])
def test_an_ignore_in_the_words_of_another_tool_is_not_silent(told, comment):
    assert "LL006" in told(f"lora_target_linear: true  # {comment}\n")


@pytest.mark.parametrize("comment", ["loralint finds nothing here", "E501 noqa: LL206", "see loralint: ignore[LL206]"])
def test_other_comments_are_left_alone(told, comment):
    assert "LL00" not in told(f"lora_target_linear: true  # {comment}\n")


@pytest.mark.parametrize("page", ["README.md", "docs/settings.md"])
def test_the_ignores_that_the_documentation_shows_are_all_needed(invoke, tmp_path, page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    (block,) = (block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "loralint: ignore[" in block)
    file = tmp_path / "config.yaml"
    file.write_text(HEAD.replace("learning_rate: 2e-4\n", "lora_target_linear: true\n") + block, encoding="utf-8")
    (run,) = json.loads(invoke("check", str(file), "--isolated", "--format", "json").output)["runs"]
    named = {code for codes in re.findall(r"ignore\[([^]]*)\]", block) for code in codes.split(", ")}
    assert {one["rule"]: bool(one["suppressed"]) for one in run["findings"]} == dict.fromkeys(named, True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('ignore = ["LL999"]', "no rule matches `LL999`"),
        ('[per-file-ignores]\n"*" = ["rate"]', "no rule has the code or name `rate`"),
        ('[per-file-ignores]\n"*" = [""]', "no rule has the code or name ``"),
        (
            '[[exceptions]]\nrule = "LL999"\npath = "*"\nreason = "old"\nexpires = 2099-01-01',
            "no rule has the code or name `LL999`",
        ),
        ('gpu = "T5"', "GPU `T5` is not in the list"),
    ],
)
def test_a_name_in_the_settings_that_is_nobodys_is_told_with_the_file(invoke, folder, settings, message):
    (folder / "loralint.toml").write_text(settings)
    result = invoke("check", "good.yaml")
    assert result.exit_code == 2
    assert f"Error: {folder / 'loralint.toml'}: {message}" in result.stderr


def test_settings_lift_by_code_by_prefix_and_by_name(invoke, folder):
    for code in ("LL301", "LL30", "rank-not-positive", "LL304"):
        (folder / "loralint.toml").write_text(
            f'[[exceptions]]\nrule = "{code}"\npath = "*"\nreason = "old"\nexpires = 2099-01-01\n'
        )
        assert invoke("check", "block.yaml").exit_code == (1 if code == "LL301" else 0)
