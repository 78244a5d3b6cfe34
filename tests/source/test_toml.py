from __future__ import annotations

import datetime as dt
import math
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.model import Unknown
from loralint.source.read import read_bytes
from loralint.source.scalars import plain

TEXT = """\
# top ü
a = 1
b.c.d = "xé" # hi
b."q r" = 'l#t'
[t.u]
k = [1, 2, # in the list
  {z = 1, y.w = 2}]
s = \"\"\"
multi # none\"\"\"
[[arr]]
n = inf
[arr.sub]
x = 1
[[arr]]
n = 0x1F
[[arr.deep]]
y = 1979-05-27T07:32:00Z
[t]
q = true"""


def parse(text: str):
    return read_bytes(text.encode(), "a.toml")


def good(text: str):
    doc = parse(text)
    assert doc.problems == []
    return doc


def walk(node):
    yield node
    for pair in node.pairs:
        yield pair.key_node
        yield from walk(pair.value)
    for item in node.items:
        yield from walk(item)


def settle(value):
    if isinstance(value, dict):
        return {key: settle(one) for key, one in value.items()}
    if isinstance(value, list):
        return [settle(one) for one in value]
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat().replace("+00:00", "Z")
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def check(text: str) -> None:
    doc = good(text)
    assert settle(plain(doc.root, "toml")) == settle(tomllib.loads(text))
    for node in walk(doc.root):
        piece = text[node.start : node.end]
        before = text[: node.start].replace("\r\n", "\n")
        assert (node.line, node.column) == (before.count("\n") + 1, len(before) - before.rfind("\n"))
        if node.kind == "scalar" and node.tag != "str":
            assert piece == node.raw
        if node.kind == "scalar" and text[node.end :].lstrip(" \t")[:1] not in {"=", ".", "]"}:
            assert settle(tomllib.loads(f"k = {piece}")["k"]) == settle(plain(node, "toml"))


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("\n", "\r\n"), "", "# c", "\n\n", "[a]", "a={}"])
def test_values_and_spans_are_those_of_tomllib(text):
    check(text)


KEYS = st.sampled_from(["a", "b1", "lr", '"q r"', "'ü'", "x.y", 'x . "z"', "x.w.v"])
VALUES = st.recursive(
    st.sampled_from(
        [
            "1",
            "-0",
            "1_000",
            "0x1F",
            "2e-4",
            "1.5",
            "inf",
            "nan",
            "true",
            '"é # 漢"',
            "'l'",
            '"""\nm\n"""',
            "1979-05-27",
            "07:32:00",
            '"\\u00e9"',
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]")
        | st.lists(inner, min_size=1, max_size=3).map(lambda parts: "[\n " + ", # é c\n ".join(parts) + ",\n]")
        | st.lists(inner, max_size=3).map(
            lambda parts: "{" + ", ".join(f"k{i} = {p}" for i, p in enumerate(parts)) + "}"
        )
    ),
    max_leaves=6,
)
LINES = st.one_of(
    st.tuples(KEYS, VALUES).map(" = ".join),
    st.tuples(KEYS, VALUES).map(lambda pair: f"  {pair[0]}={pair[1]} # é why"),
    KEYS.map(lambda key: f"[{key}]"),
    KEYS.map(lambda key: f"[[{key}]] # é"),
    st.sampled_from(["", "# é"]),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(LINES, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_random_documents(lines, newline):
    text = newline.join(line.replace("\n", newline) for line in lines)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert parse(text).problems[0].kind == "syntax"
    else:
        check(text)


def test_comments():
    assert [(one.text, one.line, one.own_line) for one in good(TEXT).comments()] == [
        ("top ü", 1, True),
        ("hi", 3, False),
        ("in the list", 6, False),
    ]


def test_spans_of_tables():
    doc = good("[a]\nx = 1 # c\n\n[b.c]\ny = 2\n\n[[d]]\n[[d]]\nz = 3\n")
    pieces = {pair.key: doc.text[pair.value.start : pair.value.end] for pair in doc.root.pairs}
    assert pieces == {"a": "[a]\nx = 1", "b": "[b.c]\ny = 2", "d": "[[d]]\n[[d]]\nz = 3"}
    key = doc.root.pair("b").key_node
    assert (doc.text[key.start : key.end], key.line, key.column) == ("b", 4, 2)


def test_a_long_integer_is_unknown():
    assert isinstance(good("a = " + "9" * 301).root.get("a").native, Unknown)


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a = 1\na = 2", 2, 6, "already given"),
        ("a =", 1, 4, "value is expected"),
        ("a = True", 1, 5, "lower case"),
        ("é = 1\n", 1, 1, "neither"),
        ("x", 1, 2, "`=` is missing"),
        ("a = 1 2", 1, 7, "text follows"),
        ('a = "x', 1, 7, "not closed"),
        ("a = [1", 1, 7, "not closed"),
        ("[a\n", 1, 3, "`]`"),
        ('a = "\\q"', 1, 8, "escape"),
        ("[[a]]\n[a]", 2, 3, "already given"),
        ("a = {{ x }}", 1, 6, "template"),
        ("a = " + "9" * 5000, 1, 5005, "more digits"),
    ],
)
def test_faults_are_named_at_their_place(text, line, column, words):
    [problem] = parse(text).problems
    assert problem.kind == "syntax"
    assert words in problem.message
    assert (problem.span.line, problem.span.column) == (line, column)
