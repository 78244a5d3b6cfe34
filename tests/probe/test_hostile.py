"""Weights, configs and tokenizers made to hang the probe, to fill memory, or to have something downloaded and run."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

from loralint.probe.asked import few_parts, refuse_large_tables, refuse_odd_config  # noqa: E402
from loralint.probe.cut import refuse_much  # noqa: E402
from loralint.probe.gguf_header import refuse_odd_head  # noqa: E402
from loralint.probe.local import local  # noqa: E402
from loralint.probe.quantised import dequantised, sizes  # noqa: E402
from loralint.probe.tokens import ids_of  # noqa: E402
from loralint.probe.weights import Weights, parsed_once  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture
def folder(tmp_path) -> Path:
    """A tiny untrained Llama with a tokenizer of bytes."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({"<s>": 0, **{one: at for at, one in enumerate(alphabet, 1)}}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>").save_pretrained(tmp_path)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    LlamaForCausalLM(LlamaConfig(**sizes, vocab_size=len(alphabet) + 1)).save_pretrained(tmp_path)
    return tmp_path


def _change(file: Path, **changed: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changed), encoding="utf-8")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "qwen2", "num_hidden_layers": 10**9}, "its config names 1000000000 layers"),
        ({"model_type": "llava", "text_config": {"n_layer": 10**9}}, "its config names 1000000000 layer"),
        ({"model_type": "bart", "decoder_layers": 10**9}, "its config names 1000000000 layers"),
        ({"model_type": "llama", "num_labels": 10**8}, "its config names 100000000 labels"),
        ({"model_type": "xlm", "max_position_embeddings": 10**8}, "its config names 100000000 position"),
    ],
)
def test_a_config_of_which_lists_would_be_made_for_hours_is_refused(tmp_path, config, said):
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        refuse_odd_config(str(tmp_path))


@pytest.mark.parametrize(
    "config",
    [
        {"num_hidden_layers": 126, "max_position_embeddings": 10_485_760, "vocab_size_per_layer_input": 262_144},
        {"layer_norm_eps": 1e-5, "layer_types": ["a"] * 99, "model_type": ["xlm"], "max_window_layers": None},
        [1],
    ],
)
def test_configs_as_they_are_pass(tmp_path, config):
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    refuse_odd_config(str(tmp_path))


def test_a_model_without_end_is_stopped_while_it_is_made():
    with few_parts(), pytest.raises(ValueError, match="more than 100,000"):
        torch.nn.ModuleList(torch.nn.Identity() for _ in range(10**9))
    torch.nn.ModuleList(torch.nn.Identity() for _ in range(10))


def test_tables_that_no_tensor_gives_are_bounded():
    with torch.device("meta"):
        model = torch.nn.Module()
        model.register_buffer("positions", torch.zeros(10**9, 16))
    with pytest.raises(ValueError, match="tables of positions"):
        refuse_large_tables(model)


@pytest.mark.parametrize("key", ["attn_implementation", "_attn_implementation"])
def test_what_runs_attention_is_not_the_config_s_to_say(folder, key):
    before = set(sys.modules)
    _change(folder / "config.json", **{key: "kernels-community/flash-attn2"})
    used = local(str(folder), "cpu").model.model.config._attn_implementation  # noqa: SLF001 - no public name for it
    assert used == "sdpa"
    assert "kernels" not in set(sys.modules) - before


def test_a_config_of_quantised_weights_asks_for_no_library(folder):
    _change(folder / "config.json", quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True})
    assert local(str(folder), "cpu").kind == "own"


def _replaced(content: str, times: int) -> dict[str, object]:
    step = {"type": "Replace", "pattern": {"String": "e"}, "content": content}
    return {"type": "Sequence", "normalizers": [step] * times}


@pytest.mark.parametrize(
    "normalizer",
    [
        _replaced("e" * 1000, 2),
        _replaced("ee", 40),
        {"type": "Sequence", "normalizers": [{"type": "Replace", "pattern": {"Regex": ""}, "content": "x"}] * 40},
        {"type": "Prepend", "prepend": "a" * 1000},
    ],
)
def test_a_tokenizer_that_blows_a_text_up_is_refused(folder, normalizer):
    _change(folder / "tokenizer.json", normalizer=normalizer)
    with pytest.raises(ValueError, match="makes a text many times as long"):
        local(str(folder), "cpu")


def test_usual_normalizers_pass(folder):
    steps = [{"type": "NFKC"}, {"type": "Prepend", "prepend": "▁"}, _replaced("▁", 1)]
    steps += [{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
    _change(folder / "tokenizer.json", normalizer={"type": "Sequence", "normalizers": steps})
    assert local(str(folder), "cpu").kind == "own"


def test_a_tokenizer_that_panics_is_told_by_its_path(folder):
    expression = {"Regex": "((a|aa)+|(.|..)+)+$(?<=zzz)"}
    split = {"type": "Split", "pattern": expression, "behavior": "Isolated", "invert": False}
    _change(folder / "tokenizer.json", pre_tokenizer=split)
    with pytest.raises(ValueError, match=r"it cannot be read .PanicException"):
        local(str(folder), "cpu")


def test_a_tokenizer_without_end_is_given_up(monkeypatch):
    from threading import Event

    never = Event()
    monkeypatch.setattr("loralint.probe.tokens._SECONDS", 0.1)
    with pytest.raises(ValueError, match="takes more than"):
        ids_of(lambda *_, **__: never.wait(20), "text")
    never.set()


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors.index.json"])
def test_a_text_of_gigabytes_is_not_read(folder, name):
    (folder / name).touch()
    os.truncate(folder / name, 2**31)
    with pytest.raises(ValueError, match=f"{name}: it is larger than 128 MiB"):
        local(str(folder), "cpu")


@pytest.mark.skipif(not os.path.exists("/proc/kmsg"), reason="a file of Linux")
def test_what_the_kernel_makes_up_is_not_read(folder):
    (folder / "tokenizer_config.json").unlink()
    (folder / "tokenizer_config.json").symlink_to("/proc/kmsg")
    with pytest.raises(ValueError, match="it leads to what lies on no disk"):
        local(str(folder), "cpu")


def test_tensors_in_no_layer_count_too():
    shapes = {"layers.0.a": (10, 10), "x.embed_tokens.weight": (1000, 7), "extra": (10**6, 10**6)}
    weights = Weights(shapes, lambda *_: torch.zeros(0))
    with pytest.raises(ValueError, match=r"1000.0 B of its numbers"):
        refuse_much(weights, (0,), 5, 1e9)
    refuse_much(weights._replace(shapes=shapes | {"extra": (3,)}), (0,), 5, 100 + 35 + 3)


@pytest.mark.parametrize(
    ("state", "beside"),
    [
        ({"shape": [10**6, 10**6], "blocksize": 64}, 4),
        ({"shape": [1], "blocksize": 64}, 4),
        ({"shape": [-8, -8], "blocksize": 64}, 4),
        ({"shape": [8, float("nan")], "blocksize": 64}, 4),
        ({"shape": [8, 8], "blocksize": 2**40}, 4),
        ({"shape": [8, 8], "blocksize": 0}, 4),
        ({"shape": [8, 8], "blocksize": 64}, 10**6),
    ],
)
def test_what_says_how_weights_were_quantised_must_fit_them(state, beside):
    said = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
    tensors = {
        "a.weight": torch.zeros(32, 1, dtype=torch.uint8),
        "a.weight.quant_state.bitsandbytes__nf4": said,
        "a.weight.quant_map": torch.zeros(16),
        "a.weight.absmax": torch.ones(beside),
    }
    raw = {name: tuple(one.shape) for name, one in tensors.items()}
    with pytest.raises(ValueError, match="quantised"):  # noqa: PT012 - the one or the other
        sizes(raw, tensors.__getitem__)
        dequantised("a.weight", raw, tensors.__getitem__)


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _array(kind: int, count: int) -> bytes:
    return _text(b"a") + struct.pack("<IIQ", 9, kind, count)


def _head(tensors: int, fields: int, rest: bytes = b"", version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, fields) + rest


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (_head(0, 2**60), "names 1,152,921,504,606,846,976 fields"),
        (_head(2**60, 0), "names 1,152,921,504,606,846,976 tensors"),
        (_head(0, 1, _array(0, 2**60)), "entries of an array"),
        (_head(0, 1, _array(0, 10**6)), "cut short or damaged"),
        (_head(0, 1, _array(8, 10**6)), "cut short or damaged"),
        (_head(0, 1, _array(9, 1)), "of a type that is not read"),
        (_head(0, 2, (_array(0, 2 * 10**6) + bytes(2 * 10**6)) * 2), "more than 3,000,000 entries"),
        (_head(0, 1, struct.pack("<Q", 2**60)), "cut short or damaged"),
        (_head(0, 1, _text(b"llama.block_count") + struct.pack("<II", 4, 10**9)), "names 1000000000 layers"),
        (_head(0, 1, _text(b"llama.block_count") + struct.pack("<If", 6, 1e9)), "as no whole number"),
        (_head(1, 0, _text(b"x") + struct.pack("<I", 10**9)), "1000000000 dimensions"),
        (_head(0, 0, version=99), "version 99"),
        (b"GGUF", "cut short or damaged"),
        (b"PK\x03\x04", "no GGUF file"),
    ],
)
def test_the_head_of_a_gguf_file_is_bounded(tmp_path, content, said):
    (tmp_path / "odd.gguf").write_bytes(content)
    with pytest.raises(ValueError, match=said):
        refuse_odd_head(str(tmp_path / "odd.gguf"), 1000)
    with pytest.raises(ValueError, match=f"odd.gguf: .*{said}"):
        local(str(tmp_path / "odd.gguf"), "cpu")


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_head_that_is_whole_passes(tmp_path, order):
    def text(said: bytes) -> bytes:
        return struct.pack(f"{order}Q", len(said)) + said

    fields = [
        text(b"llama.block_count") + struct.pack(f"{order}II", 4, 30),
        text(b"tokens") + struct.pack(f"{order}IIQ", 9, 8, 2) + text(b"a") + text(b"bc"),
        text(b"x") + struct.pack(f"{order}IIQ", 9, 6, 3) + bytes(12),
        text(b"y") + struct.pack(f"{order}Id", 12, 1.0),
    ]
    tensor = text(b"t") + struct.pack(f"{order}IQQIQ", 2, 4, 5, 0, 0)
    head = b"GGUF" + struct.pack(f"{order}IQQ", 3, 1, len(fields)) + b"".join(fields) + tensor
    (tmp_path / "whole.gguf").write_bytes(head)
    refuse_odd_head(str(tmp_path / "whole.gguf"), 1000)
    (tmp_path / "whole.gguf").write_bytes(head[:-1])
    with pytest.raises(ValueError, match="cut short"):
        refuse_odd_head(str(tmp_path / "whole.gguf"), 1000)


def test_two_threads_leave_gguf_its_own_reader():
    from threading import Event, Thread

    import gguf

    own, inside, waited = gguf.GGUFReader, Event(), Event()

    def first() -> None:
        with parsed_once():
            inside.set()
            waited.wait(0.5)

    def second() -> None:
        inside.wait(20)
        with parsed_once():
            waited.set()

    threads = [Thread(target=first), Thread(target=second)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert gguf.GGUFReader is own
