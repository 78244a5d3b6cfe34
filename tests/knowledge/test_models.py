"""The model catalogue: right values, mirrors and copies, families, and what a name alone says."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.facts.memory.census import census
from loralint.knowledge import catalogue
from loralint.knowledge.data import part
from loralint.knowledge.models import ROW, ModelFacts, config_of, find, key, prequantized, size_from_name
from loralint.knowledge.structure import SIZES

DENSE = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "smollm3", "granite", "olmo")


def facts(base: str) -> ModelFacts:
    found = find(base)
    assert found is not None
    return found


def test_llama_2_7b() -> None:
    model = facts("meta-llama/Llama-2-7b-hf")
    assert (model.family, model.params, model.hidden_size, model.num_layers) == ("llama", 6.74, 4096, 32)
    assert (model.intermediate_size, model.num_heads, model.num_kv_heads, model.head_dim) == (11008, 32, 32, 128)
    assert (model.dtype, model.context, model.tied, model.by_name) == ("fp16", 4096, False, False)
    assert "q_proj" in model.modules
    assert model.source == "config.json of meta-llama/Llama-2-7b-hf"


@pytest.mark.parametrize(
    ("base", "hidden", "layers", "dtype", "tied"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 4096, 32, "bf16", False),
        ("meta-llama/Llama-3.2-1B", 2048, 16, "bf16", True),
        ("mistralai/Mistral-7B-v0.1", 4096, 32, "bf16", False),
        ("Qwen/Qwen2.5-0.5B-Instruct", 896, 24, "bf16", True),
        ("Qwen/Qwen2.5-7B", 3584, 28, "bf16", False),
        ("Qwen/Qwen3-4B", 2560, 36, "bf16", True),
        ("google/gemma-2-9b-it", 3584, 42, "bf16", True),
        ("microsoft/Phi-3-mini-4k-instruct", 3072, 32, "bf16", False),
        ("HuggingFaceTB/SmolLM2-135M", 576, 30, "bf16", True),
        ("openai-community/gpt2", 768, 12, "fp32", True),
        ("google/flan-t5-base", 768, 12, "fp32", False),
    ],
)
def test_values(base: str, hidden: int, layers: int, dtype: str, tied: bool) -> None:
    model = facts(base)
    assert (model.hidden_size, model.num_layers, model.dtype, model.tied) == (hidden, layers, dtype, tied)


@pytest.mark.parametrize(
    ("base", "listed"),
    [
        ("NousResearch/Llama-2-7b-hf", "meta-llama/Llama-2-7b-hf"),
        ("TheBloke/Llama-2-7B-GPTQ", "meta-llama/Llama-2-7b-hf"),
        ("NousResearch/Meta-Llama-3-8B", "meta-llama/Meta-Llama-3-8B"),
        ("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "meta-llama/Llama-3.2-1B"),
        ("unsloth/Qwen2.5-7B-Instruct-unsloth-bnb-4bit", "Qwen/Qwen2.5-7B-Instruct"),
        ("mlx-community/Meta-Llama-3.1-8B-Instruct-4bit", "meta-llama/Llama-3.1-8B"),
        ("Qwen/Qwen2-72B-Instruct-GPTQ-Int8", "Qwen/Qwen2-72B"),
        ("./Meta-Llama-3-8B-Instruct/", "meta-llama/Meta-Llama-3-8B"),
        ("/data/models/Qwen2.5-7B", "Qwen/Qwen2.5-7B"),
        ("C:\\models\\gemma-2-2b", "google/gemma-2-2b"),
        ("gpt2", "openai-community/gpt2"),
        ("/tmp/Meta-Llama-3-8B-Instruct/original/", "meta-llama/Meta-Llama-3-8B"),
        ("/tmp/Qwen2_5-0_5B-Instruct", "Qwen/Qwen2.5-0.5B"),
        ("unsloth/Llama-3.1-8B-Instruct-FP8-Block", "meta-llama/Llama-3.1-8B"),
        ("someone/glm-4-9b-chat-hf-AWQ", "zai-org/glm-4-9b-hf"),
        ("someone/glm-4-9b-chat-AWQ", "zai-org/glm-4-9b"),
    ],
)
def test_mirrors_copies_and_folders_are_matched_by_name(base: str, listed: str) -> None:
    model = facts(base)
    assert (model.id, model.by_name) == (listed, True)


def test_a_hub_cache_folder_is_the_id_it_holds() -> None:
    model = facts("/root/.cache/huggingface/hub/models--Qwen--Qwen2.5-7B/snapshots/0123abc")
    assert (model.id, model.by_name) == ("Qwen/Qwen2.5-7B", False)


@pytest.mark.parametrize("base", ["", "/", "./model", "/data/x", "out/checkpoint-500", "someone/secret-model", "$BASE"])
def test_unknown_stays_none(base: str) -> None:
    assert find(base) is None


def test_an_unlisted_member_of_a_family_has_no_sizes() -> None:
    model = facts("someone/gemma-3-12b-custom-it")
    assert (model.id, model.by_name, model.family, model.fp16_unsafe) == (None, True, "gemma3", True)
    assert (model.params, model.hidden_size, model.dtype, model.context) == (None, None, None, None)


def test_a_local_folder_is_not_given_a_family_by_how_its_name_begins() -> None:
    assert find("./gemma-3-12b-custom-it") is None


@pytest.mark.parametrize(
    ("base", "family"),
    [
        ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "qwen3"),
        ("deepseek-ai/DeepSeek-R1", "deepseek_v3"),
        ("google/gemma-4-12B-it", "gemma4_unified"),
        ("google/gemma-4-E4B-it", "gemma4"),
        ("OpenGVLab/InternVL3-8B-hf", "internvl"),
        ("OpenGVLab/InternVL3-8B", "internvl_chat"),
        ("llava-hf/llava-v1.6-mistral-7b-hf", "llava_next"),
        ("unsloth/llava-v1.6-mistral-7b-hf-bnb-4bit", "llava_next"),
        ("LLM-Research/Meta-Llama-3.1-8B-Instruct", "llama"),
        ("shenzhi-wang/Llama3.1-8B-Chinese-Chat", "llama"),
        ("qwen/Qwen-72B-Chat", "qwen"),
        ("Qwen/Qwen-VL-Chat", "qwen_vl"),
        ("mistralai/Ministral-3-8B-Instruct-2512", "mistral3"),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "nemotron_h"),
        ("/workspace/models/Qwen3-VL-8B-Instruct", "qwen3_vl"),
        ("/models/Salesforce/blip2-opt-2.7b", "blip_2"),
        ("facebook/xlm-roberta-xl", "xlm_roberta_xl"),
    ],
)
def test_the_family_of_models_without_sizes(base: str, family: str) -> None:
    assert facts(base).family == family


@pytest.mark.parametrize(
    "base",
    ["LnL-AI/dbrx-base-converted-v2", "regisss/llama2-70b-fused-qkv-mlperf", "stabilityai/stablelm-base-alpha-7b-v2"],
)
def test_a_rebuilt_model_is_not_taken_for_the_one_it_came_from(base: str) -> None:
    assert find(base) is None


@pytest.mark.parametrize(
    ("base", "unsafe"),
    [
        ("google/gemma-3-4b-it", True),
        ("google/gemma-2-9b", True),
        ("google-t5/t5-small", False),
        ("google-t5/t5-base", True),
        ("google-t5/t5-large", True),
        ("openai/gpt-oss-20b", True),
        ("THUDM/glm-4-9b-chat", True),
        ("THUDM/chatglm3-6b", False),
        ("meta-llama/Llama-2-7b-hf", False),
        ("Qwen/Qwen2.5-7B", False),
    ],
)
def test_fp16_overflow_is_said_with_its_source(base: str, unsafe: bool) -> None:
    model = facts(base)
    assert model.fp16_unsafe is unsafe
    assert bool(model.fp16_source) is unsafe


@pytest.mark.parametrize(
    ("base", "kind"),
    [
        ("meta-llama/Llama-2-7b-chat-hf", "chat"),
        ("Qwen/Qwen2.5-7B-Instruct", "instruct"),
        ("google/gemma-2-9b-it", "instruct"),
        ("google/gemma-3-4b-pt", "base"),
        ("Qwen/Qwen3-8B-Base", "base"),
        ("Qwen/Qwen3-8B", None),
        ("google/flan-t5-base", None),
        ("google-bert/bert-base-uncased", None),
    ],
)
def test_kind_is_what_the_name_says(base: str, kind: str | None) -> None:
    assert facts(base).kind == kind


def test_a_quantised_copy_has_no_published_dtype() -> None:
    model = facts("TheBloke/Llama-2-7B-AWQ")
    assert (model.quantized, model.dtype) == ("awq", None)
    assert facts("openai/gpt-oss-20b").quantized == "mxfp4"
    assert facts("casperhansen/llama-3-70b-fp16").dtype == "fp16"


@pytest.mark.parametrize(
    ("base", "method"),
    [
        ("TheBloke/Llama-2-7B-GPTQ", "gptq"),
        ("Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4", "gptq"),
        ("Qwen/Qwen-7B-Chat-Int4", "gptq"),
        ("Qwen/Qwen1.5-32B-Chat-AWQ", "awq"),
        ("unsloth/llama-3-8b-bnb-4bit", "bnb-4bit"),
        ("hugging-quants/Meta-Llama-3.1-405B-BNB-NF4-BF16", "bnb-4bit"),
        ("bartowski/Qwen2.5-7B-Instruct-GGUF", "gguf"),
        ("./model.Q4_K_M.gguf", "gguf"),
        ("neuralmagic/Meta-Llama-3.1-8B-Instruct-FP8", "fp8"),
        ("mlx-community/Qwen2.5-7B-Instruct-4bit", "mlx"),
        ("mlx-community/Llama-3.2-1B-Instruct-bf16", None),
        ("meta-llama/Llama-2-7b-hf", None),
        ("/awq/plain-model", None),
        ("decapoda-research/llama-7b-hf-int4", None),
    ],
)
def test_prequantized(base: str, method: str | None) -> None:
    assert prequantized(base) == method


@pytest.mark.parametrize(
    ("base", "billions"),
    [
        ("Qwen/Qwen2.5-7B", 7.0),
        ("Qwen/Qwen2.5-0.5B-Instruct", 0.5),
        ("HuggingFaceTB/SmolLM2-135M", 0.135),
        ("Qwen/Qwen3-30B-A3B", 30.0),
        ("stabilityai/stablelm-2-1_6b", 1.6),
        ("openlm-research/open_llama_3b_600bt_preview", 3.0),
        ("internlm/internlm2_5-7b", 7.0),
        ("mistralai/Mixtral-8x7B-v0.1", None),
        ("meta-llama/Llama-4-Scout-17B-16E", None),
        ("Qwen/Qwen1.5-MoE-A2.7B", None),
        ("x/llama-2_7b", None),
        ("unsloth/llama-bnb-4bit", None),
        ("microsoft/phi-2", None),
        ("", None),
    ],
)
def test_size_from_name(base: str, billions: float | None) -> None:
    assert size_from_name(base) == billions


def test_every_listed_id_finds_its_row_and_agrees_with_its_family_pattern() -> None:
    rows, patterns = part("models"), part("models_named")["patterns"]
    assert len({known[0] for _, *known in rows.values()}) >= 100
    for listed, *known in rows.values():
        for base in listed.split():
            model, row = facts(base), dict(zip(ROW, known, strict=True))
            assert (model.id, model.by_name, model.family) == (row["id"], False, row["family"])
            families = [name for name, _, pattern in patterns if re.match(pattern, key(base))]
            converted = base.endswith("-hf") and row["family"] == "glm"  # of a chatglm, by whose name it goes
            assert families[:1] in ([], ["chatglm4"] if converted else [model.family]), base


def test_a_pattern_begins_with_its_literal_prefix() -> None:
    for family, prefix, pattern in part("models_named")["patterns"]:
        assert prefix, f"{family}: {pattern} would be compiled for every name"
        assert re.match(re.escape(prefix[:-1]), re.sub(r"\\", "", pattern)), pattern


def test_params_follow_from_the_shape() -> None:
    checked = 0
    for name in sorted({known[0] for _, *known in part("models").values()}):
        model = facts(name)
        numbers = (model.params, model.vocab_size, model.num_kv_heads, model.intermediate_size, model.num_layers)
        if model.family in DENSE and all(numbers):
            checked += 1
            assert shape_params(model) == pytest.approx(model.params, rel=0.01), model.id
    assert checked >= 60


def test_params_follow_from_the_rest_of_the_config() -> None:
    """Of mixtures and models with towers all weights are counted, from the fields of their config.json."""
    for name in part("models_config"):
        model = facts(name)
        sizes = {theirs: getattr(model, ours) for ours, theirs in {**SIZES, "tied": "tie_word_embeddings"}.items()}
        found = census(catalogue.from_sizes(str(catalogue.type_of(model.family)), sizes | config_of(name)))
        whole = found.parameters / 1e9
        assert model.params is None or whole == pytest.approx(model.params, rel=0.004), name


def shape_params(model: ModelFacts) -> float:
    """Billions of weights in a decoder with grouped-query attention and a gated feed-forward layer."""
    hidden, layers, inner = model.hidden_size or 0, model.num_layers or 0, model.intermediate_size or 0
    queries, keys = ((heads or 0) * (model.head_dim or 0) for heads in (model.num_heads, model.num_kv_heads))
    block = 2 * hidden * (queries + keys) + 3 * hidden * inner
    return ((model.vocab_size or 0) * hidden * (1 if model.tied else 2) + layers * block) / 1e9


@given(st.one_of(st.text(), st.from_regex(r"(models--)?[\w./\\:$~-]{0,40}")))
def test_nothing_raises(text: str) -> None:
    find(text)
    prequantized(text)
    size = size_from_name(text)
    assert size is None or size >= 0


@given(st.sampled_from(sorted(part("models"))), st.sampled_from(["", "-AWQ", "-GGUF", "-bnb-4bit", "-FP8"]))
def test_a_copy_is_the_same_model(name: str, suffix: str) -> None:
    assert facts(f"someone/{name}{suffix}").id == facts(f"another/{name}").id


@pytest.mark.parametrize("base", ['bf16",null,null],"llama-2-7b', "id", "vocab_size", "\udc80", '"', "a\\"])
def test_a_name_that_looks_like_the_catalogue_itself_is_no_model(base: str) -> None:
    assert find(base) is None
