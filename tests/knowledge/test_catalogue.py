"""Values: the modules that the classes of Transformers build, as config.json files on the Hub give their sizes."""

from __future__ import annotations

import os
from math import prod

import pytest

from loralint.knowledge import catalogue, models, structure

FOLDER = os.path.join(os.path.dirname(structure.__file__), "..", "_data", "catalogue")
LLAMA_1B = {  # config.json of meta-llama/Llama-3.2-1B
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 2048, "intermediate_size": 8192,
    "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
    "tie_word_embeddings": True,
}  # fmt: skip


def shapes(architecture):
    return {module.path: dict(module.weights) for module in architecture.modules}


def test_a_config_gives_every_module_with_its_shape():
    found = catalogue.from_config(LLAMA_1B)
    made = shapes(found)
    assert found.name == "LlamaForCausalLM"
    assert made["model.layers.15.self_attn.k_proj"] == {"weight": (512, 2048)}
    assert made["model.layers.0.mlp.down_proj"] == {"weight": (2048, 8192)}
    assert "model.layers.16" not in made
    assert (found.head, found.embedding, found.tied) == ("lm_head", "model.embed_tokens", True)
    assert found.whole == ("LlamaDecoderLayer",)


def test_parameters_add_up_to_the_published_number():
    """1,235,814,400: the sizes of the tensors in the checkpoint's safetensors file, where the head is the embedding."""
    found = catalogue.from_config(LLAMA_1B)
    total = sum(prod(shape) for module in found.modules for _, shape in module.weights if module.path != found.head)
    assert total == 1_235_814_400


def test_a_switch_in_the_config_adds_biases():
    made = shapes(catalogue.from_config({**LLAMA_1B, "attention_bias": True}))
    assert made["model.layers.0.self_attn.q_proj"] == {"weight": (2048, 2048), "bias": (2048,)}
    assert made["model.layers.0.mlp.up_proj"] == {"weight": (8192, 2048)}


def test_the_first_layers_of_deepseek_are_dense():
    config = {"model_type": "deepseek_v3", "num_hidden_layers": 4, "first_k_dense_replace": 1, "n_routed_experts": 8}
    made = shapes(catalogue.from_config(config))
    assert "model.layers.0.mlp.gate_proj" in made
    assert "model.layers.1.mlp.gate_proj" not in made
    assert made["model.layers.3.mlp.experts"]["gate_up_proj"] == (8, 4096, 7168)


def test_without_low_rank_queries_deepseek_has_one_matrix_for_them():
    made = shapes(catalogue.from_config({"model_type": "deepseek_v3", "num_hidden_layers": 1, "q_lora_rank": None}))
    assert "model.layers.0.self_attn.q_a_proj" in made, "null means the default, as Transformers has it"
    made = shapes(catalogue.from_config({"model_type": "deepseek_v3", "num_hidden_layers": 1, "q_lora_rank": 0}))
    assert "model.layers.0.self_attn.q_proj" in made


def test_jamba_mixes_attention_and_state_space_layers():
    config = {"model_type": "jamba", "num_hidden_layers": 8, "attn_layer_period": 4, "attn_layer_offset": 1}
    made = shapes(catalogue.from_config(config))
    assert [i for i in range(8) if f"model.layers.{i}.self_attn.q_proj" in made] == [1, 5]


def test_a_vision_model_takes_the_text_model_that_its_config_names():
    """llava-hf/llava-1.5-7b-hf has a Llama, llava-hf/bakLlava-v1-hf a Mistral inside."""
    text = {"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 2, "num_attention_heads": 14}
    made = shapes(catalogue.from_config({"model_type": "llava", "text_config": text}))
    assert made["model.language_model.layers.1.self_attn.q_proj"]["bias"] == (896,)
    assert "model.language_model.layers.2" not in made
    assert any(path.startswith("model.vision_tower.") for path in made)


def test_another_task_has_another_head():
    made = shapes(
        catalogue.from_config({**LLAMA_1B, "id2label": {"0": "a", "1": "b", "2": "c"}}, "sequence-classification")
    )
    assert made["score"] == {"weight": (3, 2048)}
    assert "lm_head" not in made


def test_sizes_of_the_golden_list_are_enough_for_a_plain_model():
    known = models.find("unsloth/Llama-3.2-1B-Instruct-bnb-4bit")
    found = catalogue.from_sizes(
        catalogue.type_of(known.family),
        {
            "hidden_size": known.hidden_size, "num_hidden_layers": known.num_layers, "head_dim": known.head_dim,
            "intermediate_size": known.intermediate_size, "num_attention_heads": known.num_heads,
            "num_key_value_heads": known.num_kv_heads, "vocab_size": known.vocab_size,
        },
    )  # fmt: skip
    assert shapes(found) == shapes(catalogue.from_config(LLAMA_1B))


def test_a_shape_that_the_sizes_do_not_give_is_unknown():
    sizes = {"hidden_size": 2048, "num_hidden_layers": 2, "num_attention_heads": 32}
    made = shapes(catalogue.from_sizes("llama", sizes))
    assert made["model.layers.1.mlp.down_proj"] == {"weight": None}
    assert made["model.layers.1.self_attn.q_proj"] == {"weight": (2048, 2048)}
    assert made["model.norm"] == {"weight": (2048,)}


def test_where_layers_differ_by_an_unknown_number_nothing_is_known():
    with pytest.raises(catalogue.Unsolved, match="decoder_sparse_step"):
        catalogue.from_sizes("qwen3_moe", {"hidden_size": 2048, "num_hidden_layers": 2, "num_attention_heads": 32})


def test_without_the_number_of_layers_nothing_is_known():
    with pytest.raises(catalogue.Unsolved, match="num_hidden_layers"):
        catalogue.from_sizes("llama", {"hidden_size": 2048})


@pytest.mark.parametrize("config", [{}, {"model_type": "../models"}, {"model_type": "no_such"}, {"model_type": 7}])
def test_what_is_not_in_the_catalogue_is_told(config):
    with pytest.raises(catalogue.Unsolved, match="not in the catalogue"):
        catalogue.from_config(config)


@pytest.mark.parametrize(
    "config",
    [
        {"num_hidden_layers": 10**9},
        {"hidden_size": "wide"},
        {"num_attention_heads": 0, "head_dim": None},
        {"hidden_size": float("nan")},
        {"num_hidden_layers": [1, 2]},
    ],
)
def test_a_hostile_config_ends_in_a_reason(config):
    with pytest.raises(catalogue.Unsolved):
        catalogue.from_config({**LLAMA_1B, **config})


def test_the_whole_catalogue_is_small():
    files = [os.path.join(folder, name) for folder, _, names in os.walk(FOLDER) for name in names]
    assert sum(map(os.path.getsize, files)) < 2_000_000
    assert max(map(os.path.getsize, files)) < 60_000


def test_every_record_can_be_expanded_or_says_why_not():
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".json"):
            try:
                found = catalogue.from_config({"model_type": name.removesuffix(".json")})
            except catalogue.Unsolved:
                continue
            assert found.modules


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("sd15", 859_520_964),  # as the model card of CompVis counts the UNet: 860M
        ("sdxl", 2_567_463_684),
        ("flux", 11_901_408_320),
    ],
)
def test_denoising_models_have_the_parameters_of_their_checkpoints(family, parameters):
    """The tensors of unet/ or transformer/ in the published repositories, counted from their safetensors headers."""
    found = catalogue.from_config({"model_type": f"diffusion-{family}"})
    assert (
        sum(prod(shape) for module in found.modules for name, shape in module.weights if name != "groups") == parameters
    )


def test_layers_behind_a_norm():
    """A norm's output goes to queries, keys, values and the first half of the feed-forward layer, and to the head."""
    layer = "model.layers.*"
    assert set(catalogue.normalised("llama")) == {
        *(f"{layer}.self_attn.{name}_proj" for name in "qkv"), f"{layer}.mlp.gate_proj", f"{layer}.mlp.up_proj",
        "lm_head",
    }  # fmt: skip
    assert f"{layer}.self_attn.q_proj" in catalogue.normalised("llama", "sequence-classification")
    assert "layers.*.self_attn.q_proj" in catalogue.normalised("llama", "base")
    assert set(catalogue.normalised("gpt2")) == {"transformer.h.*.attn.c_attn", "transformer.h.*.mlp.c_fc", "lm_head"}
    assert catalogue.normalised("diffusion-flux") == ()
    layer = "vit.layers.*"  # which takes a picture
    assert set(catalogue.normalised("vit")) == {
        f"{layer}.attention.q_proj", f"{layer}.attention.k_proj", f"{layer}.attention.v_proj", f"{layer}.mlp.fc1",
        "classifier",
    }  # fmt: skip
    assert "wav2vec2.encoder.layers.*.attention.q_proj" in catalogue.normalised("wav2vec2")  # which takes sound


def test_layers_of_a_unet():
    made = shapes(catalogue.from_config({"model_type": "diffusion-sdxl"}))
    path = "down_blocks.2.attentions.1.transformer_blocks.9.attn2.to_k"
    assert made[path] == {"weight": (1280, 2048)}
    assert made["conv_in"] == {"weight": (320, 4, 3, 3), "bias": (320,)}


def test_a_tower_that_goes_by_the_type_of_the_whole_is_its_own_tower():
    """Published configs of Qwen 3 VL and 3.5 call `vision_config` qwen3_vl and qwen3_5 as well."""
    for model_type in ("qwen3_vl", "qwen3_5"):
        named = {"model_type": model_type, "vision_config": {"model_type": model_type, "depth": 2}}
        plain = {"model_type": model_type, "vision_config": {"depth": 2}}
        assert catalogue.from_config(named).modules == catalogue.from_config(plain).modules
        assert "model.visual.blocks.1.attn.qkv" in shapes(catalogue.from_config(named))


def test_a_pattern_of_letters_says_what_the_layers_of_nemotron_h_are():
    config = {"model_type": "nemotron_h", "hybrid_override_pattern": "ME*-" * 3, "moe_latent_size": 512}
    made = shapes(catalogue.from_config(config))
    for name, at in (("in_proj", 0), ("experts", 1), ("q_proj", 2), ("up_proj", 3)):
        assert [i for i in range(13) if f"model.layers.{i}.mixer.{name}" in made] == [at, at + 4, at + 8]
    assert made["model.layers.1.mixer.fc1_latent_proj"] == {"weight": (512, 4096)}
    older = {"model_type": "nemotron_h", "layers_block_type": ["mamba", "attention"]}
    newer = {"model_type": "nemotron_h", "layers_block_type": ["linear_attention", "full_attention"]}
    assert catalogue.from_config(older).modules == catalogue.from_config(newer).modules
    with pytest.raises(structure.Unsolved, match="other letters"):
        catalogue.from_config({**config, "hybrid_override_pattern": "MX"})


def test_every_second_layer_of_llama_4_maverick_has_experts():
    text = {"interleave_moe_layer_step": 2, "num_hidden_layers": 4}
    made = shapes(catalogue.from_config({"model_type": "llama4", "text_config": text}))
    layer = "language_model.model.layers.{}.feed_forward.experts"
    assert [i for i in range(4) if layer.format(i) in made] == [1, 3]


def test_what_a_list_of_layers_may_say_is_known():
    with pytest.raises(structure.Unsolved, match="'sliding_attention' of layer_types"):
        catalogue.from_config({"model_type": "deepseek_v4", "num_hidden_layers": 2, "compress_ratios": [0, 128]})
    with pytest.raises(structure.Unsolved, match="index_topk_freq"):
        catalogue.from_config({"model_type": "glm_moe_dsa", "index_topk_freq": 4})
    assert catalogue.from_config({"model_type": "glm_moe_dsa", "index_topk_freq": 1})


def test_the_blocks_of_stages_are_counted_one_by_one():
    """microsoft/swin-base has 2, 2, 18 and 2, where swin-tiny and the default have 6 in the third stage."""
    made = shapes(catalogue.from_config({"model_type": "swin", "depths": [2, 2, 18, 2]}))
    assert "swin.encoder.layers.2.blocks.17.attention.q_proj" in made
    assert "swin.encoder.layers.3.blocks.2" not in made
    with pytest.raises(structure.Unsolved, match="depths"):
        catalogue.from_config({"model_type": "segformer", "depths": [3, 4, 6, 3]})


def test_a_number_of_layers_that_was_not_learned_is_not_guessed():
    """Kinds of attention have to fit it, in GPT-Neo and in Reformer."""
    assert "transformer.h.12" not in shapes(catalogue.from_config({"model_type": "gpt_neo", "num_layers": 12}))
    with pytest.raises(structure.Unsolved, match="num_hidden_layers"):
        catalogue.from_config({"model_type": "reformer", "num_hidden_layers": 12})
    assert catalogue.from_config({"model_type": "stablelm", "num_hidden_layers": 24})  # has 32 heads as well


@pytest.mark.parametrize(
    ("model_type", "layer"),
    [("deepseek_v2", 1), ("flex_olmo", 0), ("glm4v_moe", 1), ("qwen2_moe", 0), ("qwen3_moe", 0)],
)
def test_an_expert_is_a_module_of_its_own_for_transformers_4(model_type, layer):
    few = {"num_hidden_layers": 2, "n_routed_experts": 4, "num_experts": 4, "first_k_dense_replace": 1}
    config = {"model_type": model_type, **few, **({"text_config": few} if "4v" in model_type else {})}
    older, newer = (shapes(catalogue.from_config(config, version=version)) for version in ("4", "5"))
    ends = [path for path in older if path.endswith(f"layers.{layer}.mlp.experts.3.gate_proj")]
    assert len(ends) == 1
    assert "gate_up_proj" in newer[ends[0].removesuffix(".3.gate_proj")]
    assert len(older[ends[0]]["weight"]) == 2


def test_older_names_of_fields_count():
    made = shapes(catalogue.from_config({"model_type": "bloom", "n_embed": 2048, "n_layer": 1, "n_head": 16}))
    assert made["transformer.h.0.mlp.dense_h_to_4h"] == {"weight": (8192, 2048), "bias": (8192,)}
    made = shapes(catalogue.from_config({"model_type": "lfm2", "num_hidden_layers": 1, "block_ff_dim": 6656}))
    assert made["model.layers.0.feed_forward.w1"] == {"weight": (4608, 2560)}  # two thirds of it, in steps of 256


def test_the_words_of_each_transformers_for_a_layer():
    config = {"model_type": "granitemoehybrid", "num_hidden_layers": 3, "layer_types": ["mamba", "attention", "mamba"]}
    for version in ("4", "5"):
        made = shapes(catalogue.from_config(config, version=version))
        assert [i for i in range(3) if f"model.layers.{i}.self_attn" in made] == [1]
        assert [i for i in range(3) if f"model.layers.{i}.mamba" in made] == [0, 2]


def test_a_default_list_that_repeats_itself_is_whole_when_it_counts():
    """Qwen3.5 has full attention in every fourth layer, which its record says by four words."""
    made = shapes(catalogue.from_config({"model_type": "qwen3_5_text", "num_hidden_layers": 32}))
    full = [i for i in range(32) if f"model.layers.{i}.self_attn.q_proj" in made]
    assert full == list(range(3, 32, 4))
    assert structure.whole({"cycle": ["a", "b"], "of": 5}) == ["a", "b", "a", "b", "a"]
    assert structure.Fields({}, {"kinds": {"cycle": [0, 1], "of": 3}}, {}).get("kinds") == [0, 1, 0]
    assert structure.Fields({}, {"kinds": {"cycle": [0, 1], "of": 3}}, {}, partial=True).get("kinds") is None


def test_of_a_mixture_that_both_transformers_build_alike_that_is_known():
    assert catalogue.of_version("gpt_oss", "4.57")
    assert not catalogue.of_version("glm4_moe_lite", "4.57")  # which it does not have
    older, newer = (catalogue.from_config({"model_type": "gpt_oss"}, version=version) for version in ("4", "5"))
    assert older.modules == newer.modules
