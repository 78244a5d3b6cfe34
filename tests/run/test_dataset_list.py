"""What the list of LLaMA-Factory's datasets says of those that a run names."""

from __future__ import annotations

import json

import pytest

from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.read import read_file

CONFIG = "stage: sft\nmodel_name_or_path: Qwen/Qwen2.5-7B\nfinetuning_type: lora\ntemplate: qwen\ndataset: {named}\n"
LIST = {"rows": {"file_name": "rows.json"}, "pairs": {"file_name": "pairs.json", "ranking": True}}


@pytest.fixture
def run(tmp_path):
    """run(named, folder, lists) -> the Config of a run of these datasets; lists are {folder: what its list has}."""

    def build(named, folder=None, lists=None):
        for place, listed in (lists or {}).items():
            (tmp_path / place).mkdir()
            text = listed if isinstance(listed, str) else json.dumps(listed)
            (tmp_path / place / "dataset_info.json").write_text(text)
        text = CONFIG.format(named=named) + (f"dataset_dir: {folder}\n" if folder else "")
        (tmp_path / "train.yaml").write_text(text)
        document = read_file(*[str(tmp_path / "train.yaml")] * 2)
        (found,) = starts(document, Options(), Project(str(tmp_path)))
        return found.config

    return build


@pytest.mark.parametrize(
    ("named", "pairs", "lost"),
    [
        ("rows", "none", []),
        ("pairs", "all", []),
        ("rows,pairs", "some", []),
        ("[pairs, rows]", "some", []),
        ("rows, other", None, ["other"]),
        ("REMOTE:a/b", None, []),
    ],
)
@pytest.mark.parametrize("folder", [None, "lists"])
def test_a_list_beside_the_run(run, named, pairs, lost, folder):
    config = run(named, folder, {folder or "data": LIST})
    assert config.get("run.pairs").value == pairs
    assert config.get("run.unlisted").value == lost
    assert config.get("run.unlisted").origin == ("companion" if folder else "inherited")


@pytest.mark.parametrize(
    ("named", "folder", "pairs"),
    [
        ("dpo_en_demo", None, "all"),
        ("alpaca_en_demo", "data", "none"),
        ("dpo_en_demo,alpaca_en_demo", None, "some"),
        ("my_own", None, None),
        ("dpo_en_demo", "elsewhere", None),
        ("dpo_en_demo", "${HERE}", None),
    ],
)
def test_no_list_at_hand_is_the_trainers_own(run, named, folder, pairs):
    config = run(named, folder)
    assert config.get("run.pairs").value == pairs
    assert config.get("run.unlisted").value is None


def test_a_folder_that_is_filled_in_later_is_not_the_usual_one(run):
    config = run("pairs", "${HERE}", {"data": LIST})
    assert (config.get("run.pairs").value, config.get("run.unlisted").value) == (None, None)


def test_a_list_that_does_not_parse_says_nothing(run):
    config = run("pairs", None, {"data": '{"pairs": '})
    assert (config.get("run.pairs").value, config.get("run.unlisted").value) == (None, None)


def test_the_datasets_of_the_nested_format_are_files(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "dataset_info.json").write_text(json.dumps(LIST))
    (tmp_path / "train.yaml").write_text(
        "model: Qwen/Qwen3-4B\npeft_config:\n  name: lora\n  r: 16\ntrain_dataset: data/v1_sft.yaml\ncutoff_len: 2048\n"
    )
    (found,) = starts(read_file(*[str(tmp_path / "train.yaml")] * 2), Options(), Project(str(tmp_path)))
    assert found.config.get("data.datasets").value == ["data/v1_sft.yaml"]
    assert found.config.get("run.unlisted").value is None
