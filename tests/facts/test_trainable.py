"""Counts of what trains. The first two are what PEFT and Unsloth print of these runs."""

from __future__ import annotations

import pytest

LLAMA = {"model.base": "meta-llama/Llama-3.1-8B", "adapter.method": "lora", "adapter.rank": 16}
MOE = {**LLAMA, "model.base": "Qwen/Qwen3-30B-A3B"}


def test_all_linear_layers_of_llama_8b(fact):
    assert fact("lora.trainable", {**LLAMA, "adapter.targets": "all-linear"}) == 41_943_040


def test_gpt_oss_with_rank_8(fact):
    run = {"model.base": "openai/gpt-oss-20b", "adapter.method": "lora", "adapter.rank": 8}
    assert fact("lora.trainable", {**run, "adapter.targets": "all-linear"}) == 3_981_312


def test_by_module_adds_up_and_starts_with_the_most(fact):
    run = {**LLAMA, "adapter.targets": ["q_proj", "down_proj"], "adapter.modules_to_save": ["lm_head"]}
    parts = fact("lora.trainable_by_module", run)
    assert list(parts) == ["lm_head", "down_proj", "q_proj"]
    assert parts["lm_head"] == 128256 * 4096
    assert sum(parts.values()) == fact("lora.trainable", run)


def test_absent_targets_are_the_usual_ones_of_peft(fact):
    named = fact("lora.trainable", {**LLAMA, "adapter.targets": ["q_proj", "v_proj"]})
    assert fact("lora.trainable", LLAMA) == named == 32 * 16 * (4096 + 4096 + 4096 + 1024)


def test_of_jamba_every_eighth_layer_has_attention(fact):
    run = {**LLAMA, "adapter.targets": ["q_proj"], "model.base": "ai21labs/Jamba-v0.1"}
    assert fact("lora.trainable", run) == 4 * 16 * (4096 + 4096)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"adapter.targets": ["nothing"]}, "no module matches"),
        ({"adapter.targets": ["q_proj"], "model.base": "me/mine"}, "not in the catalogue"),
        ({"adapter.method": "full"}, "no LoRA"),
    ],
)
def test_what_cannot_be_counted_says_why(fact, settings, reason):
    assert reason in fact("lora.trainable", {**LLAMA, **settings})[0]


def test_a_config_of_its_own_gives_exact_sizes(fact, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(
        '{"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_size": 64, "intermediate_size": 128,'
        ' "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100}'
    )
    run = {**LLAMA, "run.model_config": str(file), "adapter.targets": ["k_proj"], "adapter.rank": 2}
    assert fact("lora.trainable", run) == 3 * 2 * (64 + 32)
    assert fact("targets.narrowest", run) == 32


def test_packed_experts(fact):
    assert fact("targets.packed", {**MOE, "adapter.targets": ["q_proj", "up_proj"]}) == ["up_proj"]
    assert fact("targets.packed_missing", {**MOE, "adapter.targets": ["q_proj", "up_proj"]}) == ["gate_proj"]
    assert fact("targets.packed", {**MOE, "adapter.targets": ["q_proj"]}) is None
    assert fact("targets.packed_missing", {**MOE, "adapter.targets": ["down_proj"]}) is None
    assert fact("targets.packed", {**LLAMA, "adapter.targets": ["up_proj"]}) is None


def test_experts_that_no_target_means(fact):
    run = {**LLAMA, "model.base": "openai/gpt-oss-20b", "adapter.targets": "all-linear"}
    assert fact("targets.experts_left", run) == ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]
    assert fact("targets.experts_left", {**run, "adapter.target_parameters": ["experts.down_proj"]}) is None


def test_everything_excluded(fact):
    pytest.importorskip("re2")
    run = {**LLAMA, "adapter.targets": ["q_proj"]}
    assert fact("targets.all_excluded", {**run, "adapter.exclude": ["q_proj"]}) is True
    assert fact("targets.all_excluded", {**run, "adapter.exclude": ".*"}) is True
    assert fact("targets.all_excluded", {**run, "adapter.exclude": ["layers.0.self_attn.q_proj"]}) is False
    assert fact("targets.all_excluded", {**run, "adapter.exclude": r".*\.0\..*"}) is False
    assert fact("targets.all_excluded", run) is False


@pytest.mark.parametrize(
    ("base", "shape"),
    [
        ("google-t5/t5-base", "encoder-decoder"),
        ("openai/whisper-small", "encoder-decoder"),
        ("bert-base-uncased", "encoder"),
        ("meta-llama/Llama-3.1-8B", "decoder"),
    ],
)
def test_shape(fact, base, shape):
    assert fact("model.shape", {"model.base": base}) == shape


def test_towers(fact):
    run = {**LLAMA, "adapter.targets": ["q_proj"]}
    assert fact("targets.towers", {**run, "model.base": "google/gemma-3-4b-it"}) == ["model.vision_tower"]
    assert fact("targets.towers", {**run, "model.base": "Qwen/Qwen2.5-VL-7B-Instruct"}) is None
    assert fact("targets.towers", run) is None


def test_shared_experts_that_lose_their_names(fact):
    run = {**LLAMA, "model.base": "deepseek-ai/DeepSeek-V2-Lite", "adapter.targets": ["q_proj", "down_proj"]}
    assert fact("targets.shared_left", run) == ["mlp.down_proj", "shared_experts.down_proj"]
    mixtral = {**run, "model.base": "mistralai/Mixtral-8x7B-v0.1", "adapter.targets": ["w2"]}
    assert fact("targets.shared_left", mixtral) is None


def test_settings_that_would_take_minutes_are_not_counted(fact):
    many = {f"x{n}": 4 for n in range(20_000)}
    run = {**LLAMA, "adapter.targets": "all-linear", "adapter.rank_pattern": many}
    assert "more entries" in fact("lora.trainable", run)[0]
