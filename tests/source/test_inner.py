"""Texts inside another file: every place is the file's."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.source.edit import insert_pair, set_value
from loralint.source.inner import pieces_of, read_inner
from loralint.source.read import read_bytes


def outer(text, name="a.yaml"):
    return read_bytes(text.encode(), name)


def scalar(document):
    return document.root.pairs[-1].value


@pytest.mark.parametrize(
    "text",
    [
        "k: |\n  lr: 1\n\n  # why\n  r: [1, 2]\n",
        "k: |-\r\n    lr: 1\r\n    r: [1, 2]\r\n",
        "a:\n  - b\nk: |2\n   lr: 1\n   r: [1, 2]\n",
        'k: "lr: 1\\nr: [1, 2]\\n"\n',
        'k: "lr: 1\\n\\\n  r: [1,\\x20\\u0032]"\n',
        "k: 'lr: 1\n\n  r: [1, 2]'\n",
        "k: >\n  lr: 1\n\n  r: [1, 2]\n",
        "k: |\n  \ufefflr: 1\n  r: [1, 2]\n",
        'k: "\\uFEFFlr: 1\\nr: [1, 2]\\n"\n',
        'k: "\ufefflr: 1\\nr: [1, 2]\\n"\n',
    ],
)
def test_every_style_gives_the_places_of_the_file(text):
    document = outer(text)
    made = read_inner(document, scalar(document), "c.yaml")
    assert made.problems == []
    found = [text[pair.key_node.start : pair.key_node.end] for pair in made.root.pairs]
    assert found == ["lr", "r"]
    one = made.root.pairs[0].value
    assert text[one.start : one.end] == "1"
    assert made.span(one).line == text[: one.start].count("\n") + 1
    assert (made.name, made.file, made.text) == ("c.yaml", "a.yaml", text)


def test_json_has_escapes_of_its_own():
    text = json.dumps({"k": 'lr: "\u00e9\U0001f600"\nr: 2\n'}, indent=1)
    document = outer(text, "a.json")
    made = read_inner(document, scalar(document), "c.yaml")
    node = made.root.get("r")
    assert text[node.start : node.end] == "2"


@pytest.mark.parametrize("text", ["", "\ufeff", "\ufeff\ufeff"])
def test_a_text_of_nothing_but_byte_order_marks_has_no_nodes(text):
    document = outer(json.dumps({"k": text}), "a.json")
    assert read_inner(document, scalar(document), "c.yaml").roots == []


def test_an_alias_stands_where_it_is_written():
    document = outer("a: &t |\n  r: 1\nk: *t\n")
    made = read_inner(document, scalar(document), "c.yaml")
    assert made.root.get("r").raw == "1"
    assert made.sealed


def test_edits_only_where_lines_are_lines_of_the_file():
    text = "k: |\n    r: 1\nz: 2\n"
    document = outer(text)
    made = read_inner(document, document.root.get("k"), "c.yaml")
    edit = set_value(made, made.root.get("r"), "8")
    assert (text[edit.start : edit.end], edit.text) == ("1", "8")
    added = insert_pair(made, made.root.pairs[0], "alpha", "16")
    assert text[: added.start] + added.text + text[added.end :] == "k: |\n    r: 1\n    alpha: 16\nz: 2\n"
    quoted = outer("k: 'r: 1'\n")
    inner = read_inner(quoted, scalar(quoted), "c.yaml")
    with pytest.raises(ValueError, match="quotes"):
        set_value(inner, inner.root.get("r"), "8")
    with pytest.raises(ValueError, match="quotes"):
        insert_pair(inner, inner.root.pairs[0], "a", "1")


def test_faults_and_comments_stand_in_the_file():
    text = "k: |\n  r: 1  # loralint: ignore[LL101]\n  b: [1\nz: 2\n"
    document = outer(text)
    made = read_inner(document, document.root.get("k"), "c.yaml")
    assert 2 <= made.problems[0].span.line <= 4
    document = outer(text.replace("[1", "1"))
    (comment,) = read_inner(document, document.root.get("k"), "c.yaml").comments()
    assert (comment.text, comment.line, comment.column) == ("loralint: ignore[LL101]", 2, 9)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["|", ">", '"', "'", None]))
def test_no_text_breaks_the_places(text, style):
    dumped = yaml.dump({"k": text}, default_style=style, allow_unicode=True, width=20)
    document = outer(dumped)
    if document.problems or document.root is None:
        return
    node = scalar(document)
    pieces, exact = pieces_of(document.text, node)
    for piece in pieces:
        written = document.text[piece.start : piece.start + piece.length]
        if exact:
            assert node.raw.startswith(written.rstrip("\r\n"), piece.at)
        assert 0 <= piece.start <= piece.start + piece.length <= len(document.text) + 1
    read_inner(document, node, "c.yaml")
