"""Facts of a config.json on this machine. Sizes are those that the table of known models has, with its sources."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loralint.knowledge import catalogue, local_model
from loralint.knowledge.models import find
from loralint.knowledge.structure import Unsolved

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
    "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
    "max_position_embeddings": 131072, "tie_word_embeddings": True, "torch_dtype": "bfloat16",
}  # fmt: skip
QWEN_VL = {  # in the flat layout in which it was published
    "architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl", "hidden_size": 3584,
    "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
    "vocab_size": 152064, "max_position_embeddings": 128000, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "out_hidden_size": 3584},
}  # fmt: skip
T5 = {"model_type": "t5", "d_model": 512, "d_ff": 1024, "num_layers": 2, "feed_forward_proj": "gated-gelu"}


@pytest.fixture
def facts(tmp_path):
    def of(config, base="acme/model"):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(config))
        return local_model.facts(str(path), base)

    return of


def test_the_same_as_the_table_says_of_a_known_model(facts):
    mine, listed = facts(LLAMA, "meta-llama/Llama-3.2-1B-Instruct"), find("meta-llama/Llama-3.2-1B-Instruct")
    assert mine.params == pytest.approx(listed.params, abs=0.01)
    own = {"id", "source", "params"}
    assert {k: v for k, v in mine._asdict().items() if k not in own} == {
        k: v for k, v in listed._asdict().items() if k not in own
    }


def test_fields_of_the_text_model_beside_the_others(facts):
    model = facts(QWEN_VL)
    assert (model.family, model.hidden_size, model.num_layers, model.context) == ("qwen2_5_vl", 3584, 28, 128000)
    assert model.params == pytest.approx(8.29, abs=0.01)
    assert model.vision
    assert model.blocks[0] == "Qwen2_5_VLDecoderLayer"


def test_a_gated_t5_says_so_in_one_word(facts):
    built = catalogue.from_config(T5)
    assert any(module.path == "decoder.block.0.layer.2.DenseReluDense.wi_1" for module in built.modules)
    assert facts(T5).family == "t5_small"


def test_glm_4_is_told_from_the_glm_before_it(facts):
    made = {"model_type": "chatglm", "padded_vocab_size": 65024, "hidden_size": 4096, "num_layers": 28}
    older, newer = facts(made), facts({**made, "padded_vocab_size": 151552, "num_layers": 40})
    assert (older.family, older.fp16_unsafe) == ("chatglm", False)
    assert (newer.family, newer.fp16_unsafe) == ("chatglm4", True)


@pytest.mark.parametrize(
    ("said", "method", "bits"),
    [
        ({"quantization_config": {"quant_method": "gptq", "bits": 8, "group_size": 128}}, "gptq", 8),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, "awq", 4),
        ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}}, "bnb-4bit", 4),
        ({"quantization_config": {"load_in_4bit": False, "load_in_8bit": True}}, "bnb-8bit", 8),
        ({"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}, "fp8", 8),
        ({"quantization_config": {"quant_method": "mxfp4"}}, "mxfp4", 4),
        ({"text_config": {"quantization_config": {"quant_method": "compressed-tensors"}}}, "compressed-tensors", None),
        ({"quantization": {"group_size": 64, "bits": 4}}, "mlx", 4),
        ({"quantization_config": "gptq"}, None, None),
        ({"quantization_config": {}}, None, None),
        ({}, None, None),
    ],
)
def test_quantised_weights(facts, said, method, bits):
    model = facts(LLAMA | said)
    assert (model.quantized, model.bits) == (method, bits)
    assert model.dtype == (None if method else "bf16")
    assert model.hidden_size == 2048


def test_a_type_that_is_not_known_has_no_sizes_and_says_why(facts):
    model = facts({"model_type": "made_up", "hidden_size": 64})
    assert (model.family, model.hidden_size, model.unsolved) == (
        "made_up", None, "models of type `made_up` are not in the catalogue",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"model_type": "llama", "vision_config": {"hidden_size": 64}}, "from vision_config"),
        ({"model_type": "llama", "intermediate_size": 0}, "a size of 0"),
    ],
)
def test_what_the_catalogue_did_not_learn_is_not_told(facts, config, why):
    assert why in (facts(config).unsolved or "")


def test_code_that_comes_with_a_model_is_not_asked(facts, tmp_path):
    (tmp_path / "modeling_x.py").write_text("raise SystemExit")
    model = facts({"model_type": "made_up", "auto_map": {"AutoModelForCausalLM": "modeling_x.X"}})
    assert model.unsolved is not None


def test_a_file_that_changes_is_read_again(facts):
    assert facts(LLAMA).num_layers == 16
    assert facts(LLAMA | {"num_hidden_layers": 2}).num_layers == 2


def test_paths_for_targets_hold_stars_for_layers_only(facts, tmp_path):
    facts(
        {
            "model_type": "llava",
            "text_config": {"model_type": "mistral"},
            "vision_config": {"model_type": "clip_vision_model"},
        }
    )
    paths = local_model.adaptable(str(tmp_path / "config.json"))
    assert "model.language_model.layers.*.self_attn.q_proj" in paths
    assert "model.multi_modal_projector.linear_1" in paths


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size", "head_dim",
         "intermediate_size", "num_local_experts", "n_routed_experts", "num_experts", "d_model",
         "moe_intermediate_size", "first_k_dense_replace")  # fmt: skip
OTHERS = ("text_config", "vision_config", "layer_types", "mlp_layer_types", "architectures", "id2label", "torch_dtype",
          "quantization_config", "tie_word_embeddings", "_num_labels")  # fmt: skip
FIELDS = st.sampled_from((*SIZES, *OTHERS))
TYPES = ("llama", "qwen2_5_vl", "mixtral", "deepseek_v3", "gemma3", "llava", "t5", "qwen3_next", "bert")


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(FIELDS, HOSTILE, max_size=6), st.sampled_from(TYPES))
def test_nothing_in_a_config_raises_anything_else(tmp_path, config, model_type):
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": model_type}))
    path = str(tmp_path / "config.json")
    model = local_model.facts(path, "")
    assert model.hidden_size is None or isinstance(model.hidden_size, int)
    with suppress(Unsolved):
        local_model.architecture(path)


def test_layers_that_no_model_has_are_refused_before_they_are_made():
    catalogue.from_config({"model_type": "qwen2", "num_hidden_layers": 2})  # which reads the catalogue
    began = time.process_time()
    with pytest.raises(Unsolved, match="more modules than are listed"):
        catalogue.from_config({"model_type": "qwen2", "num_hidden_layers": 1_000_000})
    assert time.process_time() - began < 0.05  # the first 60,000 take three times as long


def test_sizes_that_no_model_has_are_told_at_once(facts):
    huge = dict.fromkeys(SIZES, 10**9)
    for model_type in set(TYPES) - {"gemma3", "llava"}:  # whose sizes stand in text_config only
        assert facts(huge | {"model_type": model_type}).params is None, model_type
    many = {"model_type": "glm4_moe", "num_hidden_layers": 50_000, "n_routed_experts": 50_000}
    with pytest.raises(Unsolved, match="more modules than are listed"):
        catalogue.from_config(many, version="4")


@pytest.mark.torch
@pytest.mark.parametrize("config", [LLAMA, QWEN_VL, {**T5, "architectures": ["T5ForConditionalGeneration"]}])
def test_modules_are_those_that_transformers_builds_from_the_file(tmp_path, config):
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        read = transformers.AutoConfig.from_pretrained(tmp_path)
        model = getattr(transformers, config["architectures"][0])(read)
    real = {name: tuple(weight.shape) for name, weight in model.named_parameters(remove_duplicate=False)}
    built = local_model.architecture(str(tmp_path / "config.json"))
    ours = {f"{one.path}.{name}": shape for one in built.modules for name, shape in one.weights}
    assert {name: ours.get(name) for name in real} == real
    assert ours.keys() - real.keys() <= {name for name, _ in model.named_buffers()}
