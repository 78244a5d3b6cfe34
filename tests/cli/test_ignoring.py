from __future__ import annotations

import pytest

HEAD = """base_model: meta-llama/Llama-3.1-8B
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
