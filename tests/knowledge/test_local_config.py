from __future__ import annotations

import json
import os

import pytest

from loralint.knowledge import local_config
from loralint.knowledge.structure import Unsolved


def written(folder, **config):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_a_file_and_its_folder(tmp_path):
    folder = written(tmp_path / "model", model_type="llama")
    assert local_config.read(str(folder)) == {"model_type": "llama"}
    assert local_config.read(str(folder / "config.json")) == {"model_type": "llama"}


def test_a_cache_gives_the_revision_that_main_is(tmp_path):
    folder = tmp_path / "hub" / "models--org--name"
    written(folder / "snapshots" / "bbb", model_type="qwen2")
    written(folder / "snapshots" / "aaa", model_type="llama")
    assert local_config.read(str(folder)) == {"model_type": "qwen2"}
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("aaa\n")
    assert local_config.cached("org/name", str(tmp_path)) == str(folder / "snapshots" / "aaa" / "config.json")
    assert local_config.cached("org/name", str(tmp_path / "hub")) == local_config.located(str(folder))
    assert local_config.read(str(folder)) == {"model_type": "llama"}


def test_snapshots_are_links_to_blobs_of_the_cache_and_to_nothing_else(tmp_path):
    cache, elsewhere = tmp_path / "hub", written(tmp_path / "private", model_type="llama")
    for name, target in (
        ("good", written(cache / "models--org--good" / "blobs", model_type="qwen2")),
        ("bad", elsewhere),
    ):
        snapshot = cache / f"models--org--{name}" / "snapshots" / "aaa"
        snapshot.mkdir(parents=True)
        (snapshot / "config.json").symlink_to(target / "config.json")
    found = local_config.cached("org/good", str(cache))
    assert found is not None
    assert local_config.read(found) == {"model_type": "qwen2"}
    assert local_config.cached("org/bad", str(cache)) is None


def test_a_folder_of_models_by_organisation_is_a_cache_too(tmp_path):
    folder = written(tmp_path / "Qwen" / "Qwen3-8B", model_type="qwen3")
    assert local_config.cached("Qwen/Qwen3-8B", str(tmp_path)) == str(folder / "config.json")


def test_the_usual_cache_is_where_huggingface_hub_looks(monkeypatch):
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    assert local_config.usual_cache() == "/home/someone/.cache/huggingface/hub"
    monkeypatch.setenv("HF_HOME", "/data/hf")
    assert local_config.usual_cache() == "/data/hf/hub"
    monkeypatch.setenv("HF_HUB_CACHE", "/data/hub")
    assert local_config.usual_cache() == "/data/hub"


@pytest.mark.parametrize("base", ["org/other", "name", "../../etc/passwd", "a/b/c", "..\\x/y"])
def test_what_a_cache_does_not_have(tmp_path, base):
    written(tmp_path / "hub" / "models--org--name" / "snapshots" / "a", model_type="llama")
    assert local_config.cached(base, str(tmp_path)) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "{}", '{"model_type": 3}', "[" * 100_000, "\x00", '"' + "a" * 2_100_000]
)
def test_what_is_no_config_is_told(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(Unsolved):
        local_config.read(str(tmp_path))


def test_a_folder_without_one_is_told(tmp_path):
    with pytest.raises(Unsolved, match="cannot be read"):
        local_config.read(str(tmp_path))


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "config.json")
    with pytest.raises(Unsolved, match="cannot be read"):
        local_config.read(str(tmp_path / "config.json"))
    model = tmp_path / "models--me--mine"
    (model / "snapshots" / "a").mkdir(parents=True)
    (model / "refs").mkdir()
    os.mkfifo(model / "refs" / "main")
    (model / "snapshots" / "a" / "config.json").write_text("{}", "utf-8")
    assert local_config.cached("me/mine", str(tmp_path)) is None
