"""A model of the user's own: real files of Transformers in a folder, a cache, or neither."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

from loralint.facts.need import Missing  # noqa: E402
from loralint.probe.arm import Arm  # noqa: E402
from loralint.probe.base import linear_layers, loss_of  # noqa: E402
from loralint.probe.experiment import Limits, experiment  # noqa: E402
from loralint.probe.local import local  # noqa: E402
from loralint.probe.place import in_cache  # noqa: E402
from loralint.probe.plan import Plan  # noqa: E402
from loralint.probe.schedule import Schedule  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A tiny untrained Llama with a tokenizer of bytes."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    path = tmp_path_factory.mktemp("model")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({"<s>": 0, **{one: at for at, one in enumerate(alphabet, 1)}}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>").save_pretrained(path)
    config = LlamaConfig(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        vocab_size=len(alphabet) + 1,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).save_pretrained(path)
    return path


def test_a_folder_is_loaded_whole_with_its_head_cut_to_the_text(folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = local(str(folder), "cpu")
    assert base.rows.shape == (288, 32)
    assert base.vocabulary == len(base.rows.unique()) < 257
    first = base.model.tokens[base.rows]
    assert (first[:, 0] == AutoTokenizer.from_pretrained(folder).bos_token_id).all()
    with torch.no_grad():
        whole = AutoModelForCausalLM.from_pretrained(folder)(first[:2]).logits[..., base.model.tokens]
        assert torch.allclose(base.model(base.rows[:2]), whole, atol=1e-5)
    assert "model.layers.1.mlp.down_proj" in linear_layers(base.model)
    assert loss_of(base) > 4


def test_a_model_that_knows_nothing_gives_no_verdict(folder, tmp_path):
    import loralint
    from loralint.probe.request import Request

    text = (
        "base_model: a/b\nadapter: lora\nlora_r: 4\nlora_alpha: 8\nlora_target_modules: [q_proj]\n"
        "learning_rate: 0.0001\noptimizer: adamw_torch\nmicro_batch_size: 1\nmax_steps: 9\n"
    )
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    run = loralint.check(tmp_path / "config.yaml", probe=Request(str(folder))).runs[0]
    assert run.tables == ()
    assert "knows too little" in run.notes[0].message


def test_pickles_and_other_things_are_refused(tmp_path):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    with pytest.raises(ValueError, match="pickles are not opened"):
        local(str(tmp_path), "cpu")
    with pytest.raises(ValueError, match="GGUF"):
        local(str(tmp_path / "pytorch_model.bin"), "cpu")
    with pytest.raises(ValueError, match="no such folder"):
        local("../elsewhere", "cpu")


def test_a_model_that_a_config_names_is_looked_for_in_the_cache_only(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    snapshot = tmp_path / "models--some--model" / "snapshots" / "abc"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(folder)
    (tmp_path / "models--some--model" / "refs").mkdir()
    (tmp_path / "models--some--model" / "refs" / "main").write_text("abc", encoding="utf-8")
    assert in_cache("some/model", "cpu")
    assert not in_cache("some/other", "cpu")
    assert not in_cache(str(folder), "cpu")
    assert not in_cache("../some/model", "cpu")


def test_the_user_s_own_rows_are_the_text(folder, tmp_path):
    from transformers import AutoTokenizer

    from loralint.probe.rows import text_of

    (tmp_path / "rows.txt").write_text("the cat sat on the mat, " * 200, encoding="utf-8")
    base = local(str(folder), "cpu", text_of(str(tmp_path / "rows.txt")))
    said = AutoTokenizer.from_pretrained(folder).decode(base.model.tokens[base.rows[0]][1:])
    assert said.replace(" ", "").replace("Ġ", " ") == "the cat sat on the mat, the cat"
    assert len(base.rows.unique()) == len(set("the cat sat on the mat, ")) + 1
    assert base.vocabulary >= local(str(folder), "cpu").vocabulary  # chance stays where it was


def test_too_little_text_is_refused(folder):
    with pytest.raises(ValueError, match=r"--probe-data is only 7 rows of 32 tokens .*, and a probe takes 16$"):
        local(str(folder), "cpu", "the cat sat on the mat, " * 10)


def _copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder, to / "broken"))


def _config(path: Path, **changed: object) -> None:
    file = path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changed), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("model.safetensors", b"PK\x03\x04 a pickle in disguise", "it cannot be read .SafetensorError"),
        ("model.safetensors", (2).to_bytes(8, "little") + b"{}more", "its weights are cut short or damaged"),
        ("model.safetensors", b"", "it cannot be read .SafetensorError"),
        ("model.safetensors", (2**62).to_bytes(8, "little") + b"{}", "it cannot be read .SafetensorError"),
        ("model.safetensors.index.json", b"[1]", "it cannot be read .TypeError"),
        ("config.json", b"[]", "it cannot be read .TypeError"),
        ("tokenizer.json", b'{"added_tokens": [], "model": {"type": "no such"}}', "it cannot be read .Exception"),
    ],
)
def test_a_broken_file_is_told_by_its_path(folder, tmp_path, name, content, said):
    path = _copy(folder, tmp_path)
    (path / name).write_bytes(content)
    with pytest.raises(ValueError, match=f"broken: {said}"):
        local(str(path), "cpu")


@pytest.mark.parametrize("content", [b"", b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 16, b"not one"])
def test_a_broken_gguf_file_is_told_by_its_path(tmp_path, content):
    (tmp_path / "broken.gguf").write_bytes(content)
    with pytest.raises(ValueError, match=r"broken\.gguf: .*; without --probe-model"):
        local(str(tmp_path / "broken.gguf"), "cpu")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"num_hidden_layers": 10**7}, "its config names 10000000 layers"),
        ({"num_hidden_layers": -1}, "its config names -1 layers"),
        ({"hidden_size": 10**7, "intermediate_size": 10**7}, "its tensors have other shapes than its config says"),
        ({"hidden_size": 64}, "its tensors have other shapes than its config says"),
        ({"hidden_size": "many"}, "it cannot be read"),
        ({"quantization_config": "gptq"}, "it cannot be read"),
        ({"model_type": "ours", "auto_map": {"AutoConfig": "ours.Config"}}, "contains custom code"),
    ],
)
def test_a_config_that_lies_is_told_before_memory_or_hours_go(folder, tmp_path, changed, said):
    path = _copy(folder, tmp_path)
    (path / "ours.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    _config(path, **changed)
    with pytest.raises(ValueError, match=f"broken: .*{said}"):
        local(str(path), "cpu")


def test_a_config_that_asks_for_more_than_the_tensors_hold_fills_no_memory(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    path = _copy(folder, tmp_path)
    tensors = load_file(path / "model.safetensors")
    save_file({name: one for name, one in tensors.items() if "mlp" not in name}, path / "model.safetensors")
    _config(path, intermediate_size=10**12)
    with pytest.raises(ValueError, match=r"asks for more than its tensors hold, such as .*mlp"):
        local(str(path), "cpu")


def test_too_little_memory_is_no_broken_file(folder, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("loralint.probe.local.cut_state", fail)
    with pytest.raises(ValueError, match="there is too little memory for it"):
        local(str(folder), "cpu")


def test_a_model_that_cannot_be_called_as_others_is_told_when_it_is_loaded(folder, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise TypeError("it wants pictures")

    monkeypatch.setattr("loralint.probe.local.Pruned.forward", fail)
    with pytest.raises(ValueError, match=r"it cannot be read .TypeError: it wants pictures"):
        local(str(folder), "cpu")


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json", "config.json", "generation_config.json"])
def test_a_pipe_in_a_model_s_folder_is_refused_unopened(folder, tmp_path, name):
    path = _copy(folder, tmp_path)
    (path / name).unlink()
    os.mkfifo(path / name)
    with pytest.raises(ValueError, match=f"{name}: it is a pipe, not a regular file"):
        local(str(path), "cpu")


def test_a_pipe_named_as_gguf_or_among_templates_is_refused_unopened(folder, tmp_path):
    os.mkfifo(tmp_path / "model.gguf")
    with pytest.raises(ValueError, match=r"model\.gguf: it is a pipe"):
        local(str(tmp_path / "model.gguf"), "cpu")
    path = _copy(folder, tmp_path)
    (path / "additional_chat_templates").mkdir()
    os.mkfifo(path / "additional_chat_templates" / "tool.jinja")
    with pytest.raises(ValueError, match=r"tool\.jinja: it is a pipe"):
        local(str(path), "cpu")


def test_a_missing_tokenizer_is_named(folder, tmp_path):
    path = _copy(folder, tmp_path)
    (path / "tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"its tokenizer\.json is missing"):
        local(str(path), "cpu")


def test_weights_that_are_not_finite_give_no_verdict(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    path = _copy(folder, tmp_path)
    tensors = load_file(path / "model.safetensors")
    tensors["model.norm.weight"].fill_(float("nan"))
    save_file(tensors, path / "model.safetensors", metadata={"format": "pt"})
    plan = Plan(Arm(4, 8, ("q_proj",)), 2, Schedule(), 100)
    with pytest.raises(Missing, match="its weights are broken"):
        experiment(plan, local(str(path), "cpu"), Limits())
