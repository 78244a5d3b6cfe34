"""What is seen in an entry of LLaMA-Factory's list of datasets, by a run that names it."""

from __future__ import annotations

import json

import pytest

from loralint.api import check

CONFIG = (
    "model_name_or_path: Qwen/Qwen2.5-7B\nstage: {stage}\ndo_train: true\nfinetuning_type: lora\nlora_target: all\n"
    "dataset: mine\n{folder}template: qwen\noutput_dir: out\nlearning_rate: 1.0e-4\nbf16: true\n"
)
OPENAI = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}


@pytest.fixture
def told(tmp_path):
    """told(entry, stage, folder) -> (tier, key, message) of what is told of the entry."""

    def run(entry, stage="sft", folder="dataset_dir: data\n"):
        (tmp_path / "data").mkdir()
        (tmp_path / "data/dataset_info.json").write_text(json.dumps({"mine": entry, "other": {"format": "sharegpt"}}))
        (tmp_path / "train.yaml").write_text(CONFIG.format(stage=stage, folder=folder))
        (found,) = check(tmp_path / "train.yaml").runs
        return [(one.tier, one.key, one.message) for one in found.findings if one.rule == "LL252"]

    return run


@pytest.mark.parametrize(
    ("entry", "key", "word"),
    [
        ({"file_name": "m.json", "format": "sharegpt"}, "mine.format", "taken for instructions"),
        ({"file_name": "m.json", "columns": {"promt": "q", "response": "a"}}, "mine.columns.promt", "nobody reads"),
        ({"file_name": "m.json", "formatting": "sharegpt", "columns": {"prompt": "c"}}, "mine.columns", "messages"),
        ({"file_name": "m.json", "formatting": "sharegpt", "tags": {"role_tag": "role"}}, "mine.tags", "content_tag"),
        ({"file_name": "m.json", "columns": {"prompt": "q", "response": None}}, "mine.columns.response", "dropped"),
        ({"file_name": "m.json", "columns": {"response": "a"}}, "mine.columns", "leaves out prompt"),
        ({"file_name": "m.txt"}, "mine.file_name", "row with nothing but `text`"),
        ({"file_name": "m.docx"}, "mine.file_name", "reads no .docx"),
    ],
)
def test_what_stops_or_empties_a_dataset(told, entry, key, word):
    ((tier, where, message),) = told(entry)
    assert (tier, where) == ("S", key)
    assert word in message


@pytest.mark.parametrize(
    ("entry", "stage"),
    [
        ({"file_name": "m.json"}, "sft"),
        ({"file_name": "m.jsonl", "description": "mine", "formatting": "sharegpt", "tags": OPENAI}, "sft"),
        ({"file_name": "m.txt", "columns": {"prompt": "text"}}, "pt"),
        ({"file_name": "folder"}, "sft"),
        ({"file_name": "rows.v2", "formatting": "sharegpt"}, "sft"),
        ({"hf_hub_url": "org/rows.docx", "columns": {"query": "q", "response": "a"}}, "sft"),
        ({"file_name": "m.json", "columns": {"prompt": "q", "response": "a", "kto_tag": "good"}}, "kto"),
    ],
)
def test_what_is_read_as_it_is_meant(told, entry, stage):
    assert told(entry, stage) == []


def test_a_list_that_nobody_names_does_not_block(told):
    ((tier, _, _),) = told({"file_name": "m.json", "format": "sharegpt"}, folder="")
    assert tier == "A"
