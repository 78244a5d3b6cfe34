"""Files that build on others by path, as NeMo-RL loads them."""

from __future__ import annotations

import posixpath

import pytest

from loralint.source.inherited import inherited
from loralint.source.read import read_bytes
from loralint.source.scalars import plain


def whole(files, name="recipes/own.yaml"):
    documents = {path: read_bytes(text.encode(), path, "yaml") for path, text in files.items()}

    def beside(path, near):
        return documents.get(posixpath.normpath(posixpath.join(posixpath.dirname(near), path)))

    return inherited(documents[name], beside)


def tree(files, name="recipes/own.yaml"):
    made = whole(files, name)
    return plain(made.root, "omegaconf") if made is not None else None


BASE = (
    "sft: {max_num_epochs: 1, seed: 42}\npolicy:\n  model_name: org/m\n  optimizer: {name: AdamW, kwargs: {lr: 5e-6}}\n"
)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (
            "defaults: ../base.yaml\npolicy: {optimizer: {kwargs: {lr: 2e-4}}}\n",
            {
                "sft": {"max_num_epochs": 1, "seed": 42},
                "policy": {"model_name": "org/m", "optimizer": {"name": "AdamW", "kwargs": {"lr": 2e-4}}},
            },
        ),
        ("defaults: [../base.yaml, other.yaml]\nsft: {seed: 1}\n",
         {"sft": {"max_num_epochs": 3, "seed": 1}, "policy": {"model_name": "org/m",
          "optimizer": {"name": "AdamW", "kwargs": {"lr": 5e-6}}}}),
        ("defaults: ../base.yaml\npolicy: {_override_: true, model_name: own/m}\n",
         {"sft": {"max_num_epochs": 1, "seed": 42}, "policy": {"model_name": "own/m"}}),
        ("defaults: ../base.yaml\npolicy:\n  model_name: ???\n  optimizer: null\n",
         {"sft": {"max_num_epochs": 1, "seed": 42}, "policy": {"model_name": "org/m", "optimizer": None}}),
        ("defaults: deeper/mid.yaml\n",
         {"sft": {"max_num_epochs": 7, "seed": 42}, "policy": {"model_name": "org/m",
          "optimizer": {"name": "AdamW", "kwargs": {"lr": 5e-6}}}}),
    ],
)  # fmt: skip
def test_the_last_one_counts(own, expected):
    files = {
        "base.yaml": BASE,
        "recipes/own.yaml": own,
        "recipes/other.yaml": "sft: {max_num_epochs: 3}\n",
        "recipes/deeper/mid.yaml": "defaults: ../../base.yaml\nsft: {max_num_epochs: 7}\n",
    }
    assert tree(files) == expected


@pytest.mark.parametrize(
    "own", ["a: 1\n", "defaults: gone.yaml\n", "defaults: own.yaml\n", "defaults: {a: b}\n", "defaults: ${x}\n"]
)
def test_nothing_is_known_of_what_is_not_at_hand(own):
    assert whole({"recipes/own.yaml": own}) is None


def test_files_that_build_on_each_other_end():
    files = {"a.yaml": "defaults: b.yaml\n", "b.yaml": "defaults: c.yaml\n", "c.yaml": "defaults: b.yaml\n"}
    assert whole(files, "a.yaml") is None


def test_every_value_keeps_its_file():
    made = whole({"base.yaml": BASE, "recipes/own.yaml": "defaults: ../base.yaml\nsft: {seed: 1}\n"})
    sft = made.root.get("sft")
    assert sft.get("max_num_epochs").start_mark.file == "base.yaml"
    assert not hasattr(sft.get("seed").start_mark, "file")
    assert [one.file for one in made.documents] == ["base.yaml"]
