"""A cut of a model that is too large: the right tensors under the right names, healed, kept, and never raw."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("safetensors")

from loralint.probe import heal as healing  # noqa: E402
from loralint.probe.cut import assembled, cut_config, cut_state, kept_layers  # noqa: E402
from loralint.probe.heal import heal  # noqa: E402
from loralint.probe.local import Pruned  # noqa: E402
from loralint.probe.loss import token_loss  # noqa: E402
from loralint.probe.weights import gguf, named, parsed_once, safetensors  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
TOKENS = torch.tensor([0, 3, 5, 7, 11, 13, 40])


def _config(**more):
    from transformers import LlamaConfig

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaConfig(**sizes, num_hidden_layers=12, vocab_size=64, **more)


def _gemma():
    from transformers import Gemma3TextConfig

    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 1}
    return Gemma3TextConfig(**sizes, num_hidden_layers=12, head_dim=8, vocab_size=64)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """saved(config) -> the model of it, and a folder that holds its weights."""

    def make(config):
        from transformers import AutoModelForCausalLM

        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(config).eval()
        folder = tmp_path_factory.mktemp("model")
        model.save_pretrained(folder)
        return model, str(folder)

    return make


@pytest.mark.parametrize("kind", ["llama", "llama untied", "gemma3"])
def test_a_cut_is_the_model_without_the_layers_between(saved, kind):
    config = _gemma() if kind == "gemma3" else _config(tie_word_embeddings=kind == "llama")
    model, folder = saved(config)
    weights = safetensors(folder)
    layers = kept_layers(weights, 1e9)
    assert layers == (0, 1, 2, 7, 8, 9, 10, 11)
    types = [config.layer_types[layer] for layer in layers] if kind == "gemma3" else None
    small = cut_config(model.config, layers, len(TOKENS))
    if types is not None:
        assert small.layer_types == types
    cut = Pruned(assembled(small, cut_state(weights, layers, TOKENS)).eval(), TOKENS)
    _, folder_again = saved(_gemma() if kind == "gemma3" else _config(tie_word_embeddings=kind == "llama"))
    from transformers import AutoModelForCausalLM

    whole = AutoModelForCausalLM.from_pretrained(folder_again).eval()
    whole.base_model.layers = torch.nn.ModuleList(whole.base_model.layers[layer] for layer in layers)
    whole.config.num_hidden_layers = len(layers)
    if types is not None:
        whole.config.layer_types = types
    numbers = torch.randint(0, len(TOKENS), (2, 9), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        wanted = whole(TOKENS[numbers], use_cache=False).logits[..., TOKENS]
        assert torch.allclose(cut(numbers), wanted, atol=1e-5)


def test_fewer_layers_are_kept_of_a_wider_model_and_none_of_one_that_is_wider_still(saved):
    weights = safetensors(saved(_config())[1])
    each = weights.of_body() / 12
    assert kept_layers(weights, 6.5 * each) == (0, 1, 8, 9, 10, 11)
    assert kept_layers(weights, 4.5 * each) == (0, 9, 10, 11)
    with pytest.raises(ValueError, match="even 4 of its layers have"):
        kept_layers(weights, 3 * each)


def test_experts_are_refused(saved):
    from transformers import MixtralConfig

    with pytest.raises(ValueError, match="mixture of experts"):
        cut_config(MixtralConfig(num_hidden_layers=12), (0, 1, 10, 11), 7)


def test_a_tensor_that_is_missing_is_named(saved):
    model, folder = saved(_config())
    state = cut_state(safetensors(folder), (0, 9, 10, 11), TOKENS)
    del state["model.layers.2.mlp.up_proj.weight"]
    with pytest.raises(ValueError, match=r"no tensor for model\.layers\.2\.mlp\.up_proj\.weight"):
        assembled(cut_config(model.config, (0, 9, 10, 11), len(TOKENS)), state)


def test_what_is_no_causal_language_model_is_refused():
    from transformers import T5Config

    with pytest.raises(ValueError, match="no causal language model of the kind t5"):
        assembled(T5Config(), {})


@pytest.fixture
def cut(monkeypatch, tmp_path):
    """cut() -> a model of two layers that knows nothing; healing takes 40 steps and has a cache of its own."""
    monkeypatch.setattr(healing, "STEPS", 40)
    monkeypatch.setattr(healing, "_PEAK", 1e-2)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def make():
        from transformers import LlamaForCausalLM

        torch.manual_seed(0)
        small = cut_config(_config(), (0, 11), len(TOKENS))
        return Pruned(LlamaForCausalLM(small), torch.arange(len(TOKENS))).eval()

    return make


ROWS = torch.arange(7).repeat(20)[: 4 * 32].view(4, 32)


def test_healing_teaches_it_once_and_the_cache_gives_the_very_same_weights(cut, tmp_path):
    first, second, heard = cut(), cut(), []
    with torch.no_grad():
        before = token_loss(first(ROWS), ROWS).item()
    heal(first, ROWS, 32, heard.append)
    heal(second, ROWS, 32, heard.append)
    assert len(heard) == 1
    assert "healed first" in heard[0]
    with torch.no_grad():
        assert token_loss(first(ROWS), ROWS).item() < before - 1
        assert torch.equal(first(ROWS), second(ROWS))
    assert not any(one.requires_grad for one in first.parameters())
    (kept,) = (tmp_path / "loralint" / "probe").iterdir()
    assert kept.suffix == ".safetensors"


def test_another_text_other_weights_or_a_broken_file_are_healed_anew(cut, tmp_path):
    heard: list[str] = []
    heal(cut(), ROWS, 32, heard.append)
    heal(cut(), ROWS.flip(1), 32, heard.append)
    other = cut()
    with torch.no_grad():
        other.head[0] += 1
    heal(other, ROWS, 32, heard.append)
    assert len(heard) == 3
    for kept in (tmp_path / "loralint" / "probe").iterdir():
        kept.write_bytes(kept.read_bytes()[:100])
    heal(cut(), ROWS, 32, heard.append)
    assert len(heard) == 4


def test_a_cache_that_cannot_be_written_is_done_without(cut, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    heal(model := cut(), ROWS, 32, lambda _: None)
    with torch.no_grad():
        assert token_loss(model(ROWS), ROWS).item() < 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files there")
def test_a_disk_that_is_full_after_healing_costs_nothing_but_the_cache(cut, tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        heal(model := cut(), ROWS, 32, lambda _: None)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with torch.no_grad():
        assert token_loss(model(ROWS), ROWS).item() < 1
    assert not list((tmp_path / "loralint" / "probe").iterdir())


def test_a_gguf_file_gives_the_same_tensors_with_heads_turned_back(saved, tmp_path):
    gguf_package = pytest.importorskip("gguf")
    from transformers import AutoModelForCausalLM

    model, folder = saved(_config(tie_word_embeddings=True))
    path = tmp_path / "model.gguf"
    _write_gguf(gguf_package, path, model)
    with torch.device("meta"):
        names = AutoModelForCausalLM.from_config(_config(tie_word_embeddings=True))
    ours, theirs = gguf(str(path), names), safetensors(folder)
    assert ours.shapes == theirs.shapes
    for name in theirs.shapes:
        assert torch.equal(ours.read(name, None), theirs.read(name, None)), name
    rows = ours.read("model.embed_tokens.weight", TOKENS)
    assert torch.equal(rows, model.get_input_embeddings().weight[TOKENS])


def test_a_gguf_file_is_parsed_once_for_all_who_ask(saved, tmp_path, monkeypatch):
    package = pytest.importorskip("gguf")
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    model, _ = saved(_config(tie_word_embeddings=True))
    path, other = tmp_path / "model.gguf", tmp_path / "other.gguf"
    for one in (path, other):
        _write_gguf(package, one, model)
    own, parsed = package.GGUFReader, []
    before = own.__init__
    monkeypatch.setattr(own, "__init__", lambda self, name: parsed.append(str(name)) or before(self, name))
    with parsed_once():
        for _ in range(2):
            assert load_gguf_checkpoint(str(path))["config"]["model_type"] == "llama"
        gguf(str(path), model)
        gguf(str(other), model)
    assert parsed == [str(path), str(other)]
    assert package.GGUFReader is own


def _write_gguf(package, path: Path, model) -> None:
    """As llama.cpp's converter does: names of its own, and the rows of q and k in another order."""
    writer = package.GGUFWriter(path, "llama")
    names = package.get_tensor_name_map(package.MODEL_ARCH.LLAMA, 12)
    for name, one in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        stem, _, end = name.rpartition(".")
        values = one.detach()
        if stem.endswith(("q_proj", "k_proj")):
            heads = 4 if stem.endswith("q_proj") else 2
            values = values.view(heads, 2, -1, 32).swapaxes(1, 2).reshape(one.shape)
        writer.add_tensor(f"{names.get_name(stem)}.{end}", values.contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def test_the_layers_of_a_cut_keep_their_numbers_for_the_targets(cut):
    from loralint.probe.base import Base
    from loralint.probe.request import _names

    names = _names(Base("", cut(), ROWS, 1.0, "cut", len(TOKENS), layers=(0, 11)))
    assert names["model.layers.11.mlp.up_proj"] == "model.layers.1.mlp.up_proj"
    assert len(names) == 14


@pytest.mark.parametrize("kind", ["bloom", "gpt2", "llama"])
def test_the_names_in_a_gguf_file_are_all_that_transformers_finds_part_by_part(kind):
    pytest.importorskip("gguf")
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers import modeling_gguf_pytorch_utils as theirs

    config = AutoConfig.for_model(kind, num_hidden_layers=2)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    processor = theirs.TENSOR_PROCESSORS.get(kind, theirs.TensorProcessor)(config=config.to_dict())
    found = theirs.get_gguf_hf_weights_map(named(model), processor)
    assert found == theirs.get_gguf_hf_weights_map(model, processor)
    assert len(found) > 20


def test_a_model_too_large_is_cut_healed_and_named_so(saved, tmp_path, monkeypatch):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from loralint.probe.local import local

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(healing, "STEPS", 2)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({one: at for at, one in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    config = _config()
    config.vocab_size = len(alphabet)
    _, folder = saved(config)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)
    base = local(folder, "cpu", whole=0)
    assert (base.kind, base.layers) == ("cut", (0, 1, 2, 7, 8, 9, 10, 11))
    assert base.title.endswith("8 layers of it, healed")
    assert len(base.rows) == 288


@pytest.mark.parametrize(
    ("wide", "device", "rows"), [(7000, "cpu", 12), (8000, "cpu", 4), (8000, "cuda", 12)], ids=["small", "large", "gpu"]
)
def test_a_large_cut_is_healed_with_fewer_rows_a_step_on_a_cpu(wide, device, rows):
    assert healing.rows_a_step(torch.nn.Linear(wide, wide, device="meta"), device) == rows
