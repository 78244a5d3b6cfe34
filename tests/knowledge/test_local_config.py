from __future__ import annotations

import json

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
    assert local_config.cached("org/name", str(tmp_path)) == str(folder)
    assert local_config.read(str(folder)) == {"model_type": "llama"}


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
