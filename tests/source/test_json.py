from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.model import Unknown
from loralint.source.read import read_bytes
from loralint.source.scalars import plain

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["lr", "é\\", "\u2028"]),
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)


def parse(text: str):
    return read_bytes(text.encode("utf-8", "surrogatepass"), "a.json")


def same(ours, theirs) -> bool:
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs or (isinstance(ours, float) and math.isnan(ours) and math.isnan(theirs))


def walk(node):
    yield node
    for pair in node.pairs:
        yield pair.key_node
        yield from walk(pair.value)
    for item in node.items:
        yield from walk(item)


@settings(deadline=None)
@given(DATA, st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_values_and_spans_are_those_of_json(data, indent, ascii_only, newline):
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only).replace("\n", newline)
    doc = parse(text)
    assert doc.problems == []
    [root] = doc.roots
    assert same(plain(root, "json"), json.loads(text))
    for node in walk(root):
        assert same(plain(node, "json"), json.loads(text[node.start : node.end]))
        before = text[: node.start].replace("\r\n", "\n")
        assert (node.line, node.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))


@given(st.text('{}[]",:\\u0d8e1-+.tfnaINity \n/#', max_size=25))
def test_what_json_accepts_is_accepted_and_nothing_else(text):
    doc = parse(text)
    try:
        theirs = json.loads(text)
    except ValueError:
        assert doc.problems
        assert doc.roots == []
    else:
        assert doc.problems == []
        assert same(plain(doc.roots[0], "json"), theirs)


def test_surrogates_and_constants():
    doc = parse(r'{"a": "\ud83d\ude00", "b": "\ud800", "c": NaN, "d": -Infinity, "e": -0, "f": 1E400, "g": -0.0}')
    values = plain(doc.root, "json")
    assert (values["a"], values["b"], values["d"], values["f"]) == ("😀", "\ud800", -math.inf, math.inf)
    assert math.isnan(values["c"])
    assert (values["e"], type(values["e"]), math.copysign(1, values["g"])) == (0, int, -1.0)


def test_tags_raw_and_duplicates():
    doc = parse('{"a": 1e-4, "b": "x\\n", "a": true, "c": null, "d": [1]}')
    assert [(pair.key, pair.value.tag, pair.value.raw, pair.value.plain) for pair in doc.root.pairs] == [
        ("a", "float", "1e-4", True),
        ("b", "str", "x\n", False),
        ("a", "bool", "true", True),
        ("c", "null", "null", True),
        ("d", "seq", "", False),
    ]
    assert [(one.value.raw, two.value.raw) for one, two in doc.root.duplicates()] == [("1e-4", "true")]
    assert doc.root.get("a").native is True
    assert doc.comments() == []


def test_long_integers_are_unknown():
    doc = parse(f'{{"a": {"9" * 300}, "b": {"9" * 5000}, "c": -{"9" * 301}}}')
    assert doc.root.get("a").native == int("9" * 300)
    assert isinstance(doc.root.get("b").native, Unknown)
    assert isinstance(doc.root.get("c").native, Unknown)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('{\n "a": 1,\n}', 3, 1, "comma stands before the closing `}`"),
        ("[1,]", 1, 4, "comma stands before the closing `]`"),
        ('{"a": 1 "b": 2}', 1, 9, "comma is missing"),
        ('{\n // why\n "a": 1}', 2, 2, "no comments"),
        ('{"a": 1 # why\n}', 1, 9, "no comments"),
        ('{"a": # why\n 1}', 1, 7, "no comments"),
        ('{"a": 1} // end', 1, 10, "no comments"),
        ("{'a': 1}", 1, 2, "not single"),
        ("{\"a\": 'x'}", 1, 7, "not single"),
        ("{a: 1}", 1, 2, "double quotes"),
        ('{"a": True}', 1, 7, "lower case"),
        ('{"a": x}', 1, 7, "double quotes"),
        ('{"a" 1}', 1, 6, "colon is missing"),
        ('{"a": }', 1, 7, "a value is expected"),
        ('{"a": [1, 2', 1, 7, "`[` opened here is never closed"),
        ('{"a": 1', 1, 1, "`{` opened here is never closed"),
        ('{"a": "x\n}', 1, 7, "not closed on its line"),
        ('{"a": "x', 1, 7, "never closed"),
        ('{"a": "C:\\data"}', 1, 10, "escape"),
        ('{"a": {{ x }}}', 1, 8, "template"),
        ("", 1, 1, "empty"),
        ('{"a": ', 1, 7, "file ends"),
        ("{} {}", 1, 4, "text follows"),
        ("{,}", 1, 2, "key in double quotes"),
        ("[01]", 1, 3, "comma is missing"),
    ],
)
def test_faults_are_named_at_their_place(text, line, column, words):
    [problem] = parse(text).problems
    assert problem.kind == "syntax"
    assert words in problem.message
    assert (problem.span.line, problem.span.column) == (line, column)


def test_a_control_character_in_a_string():
    [problem] = parse('{\n"a": "x\x07"}').problems
    assert (problem.kind, problem.span.line, problem.span.column) == ("control-character", 2, 8)
