"""Configs of Hydra with what they build on. The expected trees are what Hydra 1.3.8 composed of these files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.source.composed import FILES, builds, compose
from loralint.source.read import read_text
from loralint.source.scalars import value

GROUPS = {
    "model/small.yaml": "name: small\nlora: {r: 8, alpha: 16}\n",
    "model/large.yaml": "name: large\nlora: {r: 64}\n",
    "optim/adam.yaml": "\n# @package train.optim\n# Adam\nlr: 1e-4\n",
    "exp/one.yaml": "# @package _global_\ndefaults:\n  - override /model: large\nseed: 1\nmodel: {lora: {alpha: 2}}\n",
    "data/both.yaml": "defaults:\n  - part\n  - /model@extra: small\nrows: [3]\n",
    "data/part.yaml": "rows: [1, 2]\nshuffle: true\n",
    "optim/late.yaml": "# SGD\n# @package train.optim\nlr: 0.1\n",
    "base.yaml": "seed: 7\nmodel: {name: none}\n",
    "again.yaml": "defaults: [again]\n",
}


def tree(node):
    if node.kind == "mapping":
        return {pair.key: tree(pair.value) for pair in node.pairs}
    return [tree(one) for one in node.items] if node.kind == "sequence" else value(node, "omegaconf")


def read(text, name="config.yaml"):
    return read_text(text, name)


def look(path):
    return read(GROUPS[path], path) if path in GROUPS else None


def composed(text):
    found = compose(read(text), look)
    return None if found is None else tree(found.root)


SMALL = {"name": "small", "lora": {"r": 8, "alpha": 16}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("defaults: [model: small]\nseed: 1\n", {"model": SMALL, "seed": 1}),
        ("defaults: [model: small, _self_]\nmodel: {name: x}\n", {"model": {**SMALL, "name": "x"}}),
        ("defaults: [_self_, model: small]\nmodel: {name: x}\n", {"model": SMALL}),
        ("defaults: [model: small]\nmodel: {name: x}\n", {"model": {**SMALL, "name": "x"}}),
        ("defaults: [base, model: small]\n", {"seed": 7, "model": SMALL}),
        ("defaults: [model/small, base]\n", {"seed": 7, "model": {**SMALL, "name": "none"}}),
        ("defaults: ['model@policy.net': small]\n", {"policy": {"net": SMALL}}),
        ("defaults: ['model@_global_': small]\n", SMALL),
        ("defaults: [optim: adam]\n", {"train": {"optim": {"lr": 1e-4}}}),
        ("defaults: [optim: late]\n", {"optim": {"lr": 0.1}}),
        ("defaults: ['optim@o': adam]\n", {"o": {"lr": 1e-4}}),
        ("defaults: [model: [large, small]]\n", {"model": SMALL}),
        ("defaults: [model: null]\nseed: 1\n", {"seed": 1}),
        ("defaults: [optional model: none]\nseed: 1\n", {"seed": 1}),
        ("defaults: [model: small, 'override hydra/launcher': basic]\nseed: 1\n", {"model": SMALL, "seed": 1}),
        (
            "defaults: [model: small, exp: one]\n",
            {"model": {"name": "large", "lora": {"r": 64, "alpha": 2}}, "seed": 1},
        ),
        ("defaults: [data: both]\n", {"data": {"rows": [3], "shuffle": True, "extra": SMALL}}),
        ("defaults: [model: small]\nmodel: {name: '???', lora: null}\n", {"model": {"name": "small", "lora": None}}),
        ("defaults: [model: small, 'override model': large]\n", {"model": {"name": "large", "lora": {"r": 64}}}),
    ],
)
def test_files_are_composed_as_hydra_does(text, expected):
    assert composed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "defaults: [model: huge]\n",
        "defaults: [schema, model: small]\n",
        "defaults: [model: '???']\n",
        "defaults: [model: '${size}']\n",
        "defaults: [again]\n",
        "defaults: ['override model': large]\n",
        "defaults: [model: small, model: large]\n",
        "defaults: other.yaml\n",
        "defaults: [[a]]\n",
        "defaults: [~]\n",
    ],
)
def test_what_is_not_wholly_seen_is_not_composed(text):
    assert composed(text) is None


def test_values_keep_their_own_file_and_line():
    found = compose(read("defaults: [model: small]\nmodel: {name: x}\n"), look)
    model = found.root.get("model")
    places = [(read("").span(one).file, one.line) for one in (model.get("name"), model.get("lora").get("r"))]
    assert places[1] == ("model/small.yaml", 2)
    assert (places[0][1], [one.file for one in found.documents]) == (2, ["model/small.yaml"])


def test_a_tree_without_end_ends():
    files = {f"g/{i}.yaml": f"defaults: [{i + 1}, {i + 2}]\n" for i in range(3 * FILES)}
    assert compose(read("defaults: [g: 0]\n"), lambda path: read(files[path], path) if path in files else None) is None


def test_a_file_builds_on_others_where_it_names_any():
    assert [builds(read(text)) for text in ("a: 1\n", "defaults: [_self_]\n", "defaults: []\n", "defaults: [x]\n")] == [
        False, False, False, True,
    ]  # fmt: skip


NAMES = st.sampled_from(
    ["model", "model/small", "/model", "base", "_self_", "optional model", "override model", "data", "exp", "a b c", ""]
)
OPTIONS = st.sampled_from(["small", "large", "one", "both", "'???'", "null", "[small, large]", "{a: 1}", "..", "/"])
ENTRIES = st.one_of(
    NAMES.map("'{}'".format),
    st.builds("'{}{}': {}".format, NAMES, st.sampled_from(["", "@", "@x.y", "@_here_", "@_global_"]), OPTIONS),
    st.text(max_size=6).map(repr),
)


@settings(max_examples=200, deadline=None)
@given(entries=st.lists(ENTRIES, max_size=5))
def test_any_list_is_composed_or_not(entries):
    document = read("defaults: [" + ", ".join(entries) + "]\nseed: 3\n")
    if not document.problems and document.root is not None:
        found = compose(document, look)
        assert found is None or found.root.get("defaults") is None
