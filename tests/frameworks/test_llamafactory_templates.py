"""Templates of LLaMA-Factory against the tuned models that they are for."""

from __future__ import annotations

import pytest

import loralint


def _told(folder, **given):
    settings = {
        "model_name_or_path": "Qwen/Qwen2.5-7B-Instruct", "template": "llama3", "stage": "sft", "do_train": "true",
        "finetuning_type": "lora", "dataset": "identity", "output_dir": "out", "learning_rate": "1.0e-4",
        "bf16": "true", **given,
    }  # fmt: skip
    (folder / "sft.yaml").write_text("".join(f"{key}: {value}\n" for key, value in settings.items()), encoding="utf-8")
    (run,) = loralint.check(folder / "sft.yaml").runs
    return [(one.key, one.tier, one.help.partition(";")[0]) for one in run.findings if one.rule == "LL498"]


@pytest.mark.parametrize(
    ("model", "template", "own"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "llama3", "qwen"),
        ("Qwen/Qwen3-8B", "llama3", "qwen3"),
        ("Qwen/Qwen3-4B-Instruct-2507", "gemma3", "qwen3_nothink"),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "mllama", "qwen2_vl"),
        ("/data/models/Meta-Llama-3.1-8B-Instruct/", "qwen", "llama3"),
        ("unsloth/llama-3.2-1b-instruct-bnb-4bit", "qwen", "llama3"),
        ("meta-llama/Llama-2-13b-chat-hf", "llama3", "llama2"),
        ("meta-llama/Llama-3.2-11B-Vision-Instruct", "qwen2_vl", "mllama"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "llama3", "mistral"),
        ("google/gemma-3-4b-it", "gemma4", "gemma3"),
        ("google/gemma-4-31B-it", "gemma3", "gemma4"),
        ("microsoft/Phi-3.5-mini-instruct", "phi4", "phi"),
        ("zai-org/glm-4-9b-chat", "qwen", "glm4"),
        ("openai/gpt-oss-20b", "qwen3", "gpt_oss"),
    ],
)
def test_a_tuned_model_wants_its_own_marks(tmp_path, model, template, own):
    assert _told(tmp_path, model_name_or_path=model, template=template) == [
        ("template", "A", f"write template: {own}")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "template"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "qwen"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen3"),  # the same marks under another name
        ("Qwen/Qwen2.5-7B-Instruct", "yi"),
        ("meta-llama/Llama-2-7b-chat-hf", "mistral"),
        ("mistralai/Mistral-Nemo-Instruct-2407", "mistral"),
        ("google/gemma-3-1b-it", "gemma"),
        ("microsoft/Phi-4-mini-instruct", "phi"),
        ("Qwen/Qwen2.5-7B-Instruct", "alpaca"),  # general ones belong to nobody
        ("Qwen/Qwen2.5-7B-Instruct", "vicuna"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "chatml"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "default"),
        ("meta-llama/Meta-Llama-3-8B-Instruct", "mine"),  # registered by the user
        ("Qwen/Qwen2.5-7B", "llama3"),  # base models have none of their own
        ("Qwen/Qwen3-8B-Base", "llama3"),
        ("google/gemma-3-4b-pt", "qwen"),
        ("meta-llama/Llama-3.2-1B", "qwen"),
        ("mistralai/Mistral-7B-v0.1", "qwen"),
        ("org/my-qwen2.5-7b-instruct-tuned-on-llama3", "llama3"),  # whose marks nobody knows
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "qwen"),
        ("${MODEL}", "llama3"),
    ],
)
def test_other_pairs_are_left_alone(tmp_path, model, template):
    assert _told(tmp_path, model_name_or_path=model, template=template) == []


@pytest.mark.parametrize("given", [{"stage": "pt"}, {"resize_vocab": "true"}, {"do_train": "false"}])
def test_runs_without_turns_or_with_new_ones_on_purpose_are_left_alone(tmp_path, given):
    assert _told(tmp_path, **given) == []
