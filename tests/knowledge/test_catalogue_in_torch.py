"""The catalogue beside the models that the installed Transformers builds without weights."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch
if not all(map(importlib.util.find_spec, ("torch", "transformers"))):
    pytest.skip("needs torch and transformers", allow_module_level=True)

FOLDER = Path(__file__).parents[2] / "loralint" / "_data" / "catalogue"


@pytest.mark.parametrize("model_type", ["llama", "gpt2", "mistral"])
def test_a_record_is_what_the_classes_give_today(model_type):
    import transformers

    from loralint.authoring.catalogue.__main__ import studied

    if transformers.__version__ != "5.24.0":
        pytest.skip(f"the records were made with Transformers 5.24.0, and this is {transformers.__version__}")
    warnings.simplefilter("ignore")
    assert studied(model_type, older=False) == (FOLDER / f"{model_type}.json").read_text("utf-8")


@pytest.mark.parametrize(
    ("model_type", "change"),
    [
        ("llama", {"num_hidden_layers": 5, "attention_bias": True, "num_key_value_heads": 4}),
        ("qwen2_moe", {"num_hidden_layers": 6, "decoder_sparse_step": 2, "num_experts": 12}),
        ("deepseek_v3", {"num_hidden_layers": 7, "first_k_dense_replace": 2, "hidden_size": 512}),
        ("jamba", {"num_hidden_layers": 12, "attn_layer_period": 6, "attn_layer_offset": 2}),
        ("qwen3_next", {"num_hidden_layers": 10, "hidden_size": 256}),
        ("t5", {"num_layers": 2, "num_decoder_layers": 3, "feed_forward_proj": "gated-gelu"}),
        ("gpt2", {"n_layer": 3, "n_embd": 96}),
        ("bert", {"num_hidden_layers": 2, "hidden_size": 60}),
        ("falcon", {"num_hidden_layers": 2, "bias": True, "new_decoder_architecture": True}),
        ("whisper", {"encoder_layers": 2, "decoder_layers": 3}),
        ("qwen2_vl", {"text_config.num_hidden_layers": 3, "vision_config.depth": 2}),
        ("wav2vec2", {"num_hidden_layers": 2, "do_stable_layer_norm": True}),
    ],
)
def test_several_fields_changed_at_once(model_type, change):
    """The rows were learned from one change at a time."""
    from loralint.authoring.catalogue.learn import alike
    from loralint.authoring.catalogue.mappings import subjects
    from loralint.knowledge import catalogue

    warnings.simplefilter("ignore")
    for task, subject in subjects(model_type).items():
        sample = subject.sample(change)
        config = {**sample.tree, "model_type": model_type, "architectures": None}
        assert alike(catalogue.from_config(config, task).modules, sample), task


@pytest.mark.parametrize(
    "published",
    [
        {"model_type": "qwen3_vl", "vision_config": {"model_type": "qwen3_vl", "depth": 2},
         "text_config": {"model_type": "qwen3_vl_text", "num_hidden_layers": 2}},
        {"model_type": "qwen3_5", "vision_config": {"model_type": "qwen3_5", "depth": 2},
         "text_config": {"model_type": "qwen3_5_text", "num_hidden_layers": 2,
                         "layer_types": ["linear_attention", "full_attention"]}},
        {"model_type": "nemotron_h", "hybrid_override_pattern": "MEM*-", "num_hidden_layers": 5, "n_routed_experts": 4},
        {"model_type": "nemotron_h", "layers_block_type": ["mamba", "moe", "attention"], "moe_latent_size": 512},
        {"model_type": "nemotron_h"},
        {"model_type": "granitemoehybrid", "num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"]},
        {"model_type": "bamba", "num_hidden_layers": 3, "attn_layer_indices": [1]},
        {"model_type": "llama4_text", "interleave_moe_layer_step": 2, "num_hidden_layers": 4, "num_local_experts": 4},
        {"model_type": "deepseek_v4", "num_hidden_layers": 4, "compress_ratios": [128, 4, 128, 4, 0],
         "num_hash_layers": 1},
        {"model_type": "gemma4_text", "num_hidden_layers": 6, "hidden_size_per_layer_input": 0,
         "enable_moe_block": True, "num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 64},
        {"model_type": "gemma4_text", "num_hidden_layers": 6, "attention_k_eq_v": True, "global_head_dim": 128,
         "num_global_key_value_heads": 2, "num_key_value_heads": 8, "num_attention_heads": 16, "head_dim": 64},
        {"model_type": "gemma4_text", "num_hidden_layers": 6, "num_global_key_value_heads": 2},
        {"model_type": "gemma4_text", "num_hidden_layers": 6, "attention_k_eq_v": True},
        {"model_type": "gemma4_unified_text", "num_hidden_layers": 6, "num_global_key_value_heads": 1,
         "global_head_dim": 128},
        {"model_type": "gemma4", "text_config": {"model_type": "gemma4_text", "num_hidden_layers": 6,
         "attention_k_eq_v": True, "num_global_key_value_heads": 4, "num_key_value_heads": 16, "global_head_dim": 256}},
    ],
)  # fmt: skip
def test_what_published_files_leave_to_the_config_classes(published):
    """The layouts of config.json files on the Hub, with few layers."""
    import torch
    import transformers

    from loralint.knowledge import catalogue

    built = catalogue.from_config(published)
    config = {name: value for name, value in published.items() if name != "model_type"}
    with torch.device("meta"):
        made = transformers.AutoConfig.for_model(published["model_type"], **config)
        model = getattr(transformers, built.name)(made)
    wanted = {name: tuple(weight.shape) for name, weight in model.named_parameters(remove_duplicate=False)}
    told = {f"{one.path}.{name}": shape for one in built.modules for name, shape in one.weights if name != "groups"}
    assert told == wanted
