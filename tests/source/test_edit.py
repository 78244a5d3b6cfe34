from __future__ import annotations

import json
import math
import tomllib

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from loralint.model import Edit
from loralint.source.edit import apply, insert_pair, remove_pair, scalar_text, set_value
from loralint.source.read import read_bytes
from loralint.source.scalars import plain


def parse(text: str, name: str = "a.yaml"):
    doc = read_bytes(text.encode(), name)
    assert doc.problems == []
    return doc


def at(doc, path: str):
    """The mapping and pair at a path such as `a/0/b`."""
    node = doc.root
    *way, last = path.split("/")
    for step in way:
        node = node.items[int(step)] if node.kind == "sequence" else node.get(step)
    return node, node.pair(last)


def test_apply_keeps_all_other_text():
    edits = [Edit("f", 4, 5, "X"), Edit("f", 0, 1, ""), Edit("f", 2, 2, "__")]
    assert apply("abcdefg", edits) == "b__cdXfg"
    assert apply("abc", []) == "abc"


@pytest.mark.parametrize("edits", [[(0, 2), (1, 3)], [(2, 9)], [(2, 1)]])
def test_apply_refuses_what_does_not_fit(edits):
    with pytest.raises(ValueError, match="overlaps another or leaves"):
        apply("abcde", [Edit("f", *pair, "") for pair in edits])


SET = [
    ("a: 1 # c\nb: 2\n", "a", "a: 5 # c\nb: 2\n"),
    ("a:   # c\nb: 2\n", "a", "a: 5   # c\nb: 2\n"),
    ("a: |\n  x\n\nb: 2\n", "a", "a: 5\n\nb: 2\n"),
    ("a: # c\n- x\n- y # d\nb: 2\n", "a", "a: 5 # c # d\nb: 2\n"),
    ("a:\n\n  # why\n  k: v\nb: 2\n", "a", "a: 5\n\n  # why\nb: 2\n"),
    ("a: [x,\n y]\nb: 2\n", "a", "a: 5\nb: 2\n"),
    ("a: &q 1\nb: *q\n", "b", "a: &q 1\nb: 5\n"),
    ("a: &q 1\nb: *q\n", "a", "a: &q 5\nb: *q\n"),
    ("x: {a: , b: 1}", "x/a", "x: {a: 5 , b: 1}"),
    ("x:\n- a: 'é' \r\n  b: 1\r\n", "x/0/a", "x:\n- a: 5 \r\n  b: 1\r\n"),
    ("a: !!str 1\n", "a", "a: 5\n"),
    ("---\na: 1\n---\nb: 1\n", "a", "---\na: 5\n---\nb: 1\n"),
]


@pytest.mark.parametrize(("text", "path", "expected"), SET)
def test_set_value_in_yaml(text, path, expected):
    doc = parse(text)
    assert apply(doc.text, [set_value(doc, at(doc, path)[1].value, "5")]) == expected


@pytest.mark.parametrize(
    ("text", "path"), [("x: {a}", "x/a"), ("a: !!int &q 1\nb: *q\n", "a"), ("a: &q\n  - 1\nb: *q", "a"), ("? a\n", "a")]
)
def test_set_value_refuses_what_it_cannot_do_surely(text, path):
    doc = parse(text)
    with pytest.raises(ValueError, match=r"anchor|no place"):
        set_value(doc, at(doc, path)[1].value, "5")


def test_set_a_list_item():
    doc = parse("a:\n- x\n-\n- z\n")
    items = doc.root.get("a").items
    assert apply(doc.text, [set_value(doc, items[1], "5"), set_value(doc, items[2], "6")]) == "a:\n- x\n- 5\n- 6\n"


INSERT = [
    ("a: 1 # c\nb: 2\n", "a", "a: 1 # c\nk: 5\nb: 2\n"),
    ("a: 1\r\nb: 2", "b", "a: 1\r\nb: 2\r\nk: 5"),
    ("x:\n- a: 1\n  b: 2\n", "x/0/a", "x:\n- a: 1\n  k: 5\n  b: 2\n"),
    ("x:\n    a:\n      - 1\n\n# end\n", "x/a", "x:\n    a:\n      - 1\n    k: 5\n\n# end\n"),
    ("x: {a: 1, b: 2}\n", "x/a", "x: {a: 1, k: 5, b: 2}\n"),
    ("x: {a: 1}\n", "x/a", "x: {a: 1, k: 5}\n"),
    ("x: {\n  a: 1, # c\n  b: 2,\n}\n", "x/a", "x: {\n  a: 1,\n  k: 5, # c\n  b: 2,\n}\n"),
    ("a: |+\n  x\n\nb: 1\n", "a", "a: |+\n  x\n\nk: 5\nb: 1\n"),
    ("a:\nb: 1\n", "a", "a:\nk: 5\nb: 1\n"),
    ("a: &q {r: 1}\nb: *q\n", "b", "a: &q {r: 1}\nb: *q\nk: 5\n"),
]


@pytest.mark.parametrize(("text", "path", "expected"), INSERT)
def test_insert_pair_in_yaml(text, path, expected):
    doc = parse(text)
    mapping, pair = at(doc, path)
    after = apply(doc.text, [insert_pair(doc, pair, "k", "5")])
    assert after == expected
    again = parse(after)
    assert plain(at(again, path)[0], "pyyaml") == {**plain(mapping, "pyyaml"), "k": 5}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &q {r: 1}\nb:\n  <<: *q\n  s: 1\n", "b/r"),
        ("a: [r: 1]\n", "a/0/r"),
        ("? a\n: 1\n", "a"),
        ("--- {a: 1} # c\n", "b"),
    ],
)
def test_insert_pair_refuses_what_it_cannot_do_surely(text, path):
    doc = parse(text)
    pair = at(doc, path)[1]
    if pair is None:
        return
    with pytest.raises(ValueError, match=r"place|room|plainly"):
        insert_pair(doc, pair, "k", "5")


REMOVE = [
    ("a: 1 # c\nb: 2\n", "a", "b: 2\n"),
    ("a: 1\nb: 2", "b", "a: 1\n"),
    ("a: 1\r\nb: 2 # c\r\nd: 3\r\n", "b", "a: 1\r\nd: 3\r\n"),
    ("x:\n- a: 1 # z\n  # of b\n  b: 2\n", "x/0/a", "x:\n- # of b\n  b: 2\n"),
    ("x:\n- a: 1\n  b: 2\n", "x/0/b", "x:\n- a: 1\n"),
    ("x:\n- a: 1\ny: 2\n", "x/0/a", "x:\n- {}\ny: 2\n"),
    ("x:\n  a: 1 # c\ny: 2\n", "x/a", "x:\n  {} # c\ny: 2\n"),
    ("x:\n  a: |\n    t\n\n  b: 1\n", "x/a", "x:\n\n  b: 1\n"),
    ("x:\n  a:\n    - 1\n    - 2\n  b: 1\n", "x/a", "x:\n  b: 1\n"),
    ("x: {a: 1, b: 2}", "x/a", "x: {b: 2}"),
    ("x: {a: 1, b: 2}", "x/b", "x: {a: 1}"),
    ("x: {a: 1, b: 2,}", "x/b", "x: {a: 1,}"),
    ("x: { a: 1, }", "x/a", "x: {}"),
    ("x: {a, b: 2}", "x/b", "x: {a}"),
    ("x: {\n  a: 1, # of a\n  # of b\n  b: 2\n}", "x/a", "x: {\n  # of b\n  b: 2\n}"),
    ("x: {\n  a: 1, # of a\n  b: 2 # of b\n}", "x/b", "x: {\n  a: 1, # of a\n  \n}"),
    ("q: &q {r: 1}\nx:\n  <<: *q\n  a: 1\n", "x/a", "q: &q {r: 1}\nx:\n  <<: *q\n"),
]


@pytest.mark.parametrize(("text", "path", "expected"), REMOVE)
def test_remove_pair_in_yaml(text, path, expected):
    doc = parse(text)
    mapping, pair = at(doc, path)
    after = apply(doc.text, [remove_pair(doc, mapping, pair)])
    assert after == expected
    left = plain(mapping, "pyyaml")
    del left[pair.key]
    node = parse(after).root
    for step in path.split("/")[:-1]:
        node = node.items[int(step)] if node.kind == "sequence" else node.get(step)
    assert plain(node, "pyyaml") == left


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a: &q 1\nb: *q\n", "a"),
        ("q: &q {r: 1}\nx:\n  <<: *q\n  a: 1\n", "x/r"),
        ("? a\n: 1\n? b\n: 2\n", "a"),
        ("x: {? a : 1, b: 2}", "x/a"),
        ("x: {a: {r: &q 1}, b: *q}", "x/a"),
    ],
)
def test_remove_pair_refuses_what_it_cannot_do_surely(text, path):
    doc = parse(text)
    with pytest.raises(ValueError, match=r"anchor|merge|plainly"):
        remove_pair(doc, *at(doc, path))


JSON = '{\n  "a": 1,\n  "b": {"x": 1, "y": [2]}\n}\n'


def test_json():
    doc = parse(JSON, "a.json")
    inner = doc.root.get("b")
    edit = {
        "set": set_value(doc, inner, "5"),
        "insert": insert_pair(doc, doc.root.pair("b"), "k", "5"),
        "insert inside": insert_pair(doc, inner.pair("x"), "k", "5"),
        "remove first": remove_pair(doc, doc.root, doc.root.pair("a")),
        "remove last": remove_pair(doc, doc.root, doc.root.pair("b")),
        "remove inside": remove_pair(doc, inner, inner.pair("x")),
    }
    assert {name: apply(JSON, [one]) for name, one in edit.items()} == {
        "set": '{\n  "a": 1,\n  "b": 5\n}\n',
        "insert": '{\n  "a": 1,\n  "b": {"x": 1, "y": [2]},\n  "k": 5\n}\n',
        "insert inside": '{\n  "a": 1,\n  "b": {"x": 1, "k": 5, "y": [2]}\n}\n',
        "remove first": '{\n  "b": {"x": 1, "y": [2]}\n}\n',
        "remove last": '{\n  "a": 1\n}\n',
        "remove inside": '{\n  "a": 1,\n  "b": {"y": [2]}\n}\n',
    }


TOML = "a = 1 # c\nb.c = 2\n\n[t]\n  x = {p = 1, q = [1]}\n"


def test_toml():
    doc = parse(TOML, "a.toml")
    root, inline = doc.root, doc.root.get("t").get("x")
    edit = {
        "set": set_value(doc, inline.get("q"), "5"),
        "insert": insert_pair(doc, root.pair("a"), "k", "5"),
        "insert dotted": insert_pair(doc, root.get("b").pair("c"), "k", "5"),
        "insert indented": insert_pair(doc, root.get("t").pair("x"), "k", "5"),
        "insert inline": insert_pair(doc, inline.pair("p"), "k", "5"),
        "remove": remove_pair(doc, root, root.pair("a")),
        "remove dotted": remove_pair(doc, root.get("b"), root.get("b").pair("c")),
        "remove inline": remove_pair(doc, inline, inline.pair("p")),
    }
    assert {name: apply(TOML, [one]) for name, one in edit.items()} == {
        "set": TOML.replace("[1]", "5"),
        "insert": TOML.replace("# c\n", "# c\nk = 5\n"),
        "insert dotted": TOML.replace("c = 2\n", "c = 2\nb.k = 5\n"),
        "insert indented": TOML + "  k = 5\n",
        "insert inline": TOML.replace("p = 1", "p = 1, k = 5"),
        "remove": TOML.replace("a = 1 # c\n", ""),
        "remove dotted": TOML.replace("b.c = 2\n", ""),
        "remove inline": TOML.replace("p = 1, ", ""),
    }


def test_a_toml_table_is_not_edited():
    doc = parse("a = 1\n[t]\nx = 1\n[[l]]\n", "a.toml")
    for key in ("t", "l"):
        for attempt in (
            lambda key=key: set_value(doc, doc.root.get(key), "5"),
            lambda key=key: insert_pair(doc, doc.root.pair(key), "k", "5"),
            lambda key=key: remove_pair(doc, doc.root, doc.root.pair(key)),
        ):
            with pytest.raises(ValueError, match=r"table|plainly"):
                attempt()


# ---- random documents: an edit changes the one thing and nothing else

KEYS = ["lr", "r", "a b", "é"]
LEAF = st.sampled_from(
    ["1", "'x # y'", '"é"', "true", "[1, {q: 2}]", "{q: [1], s: 2}", "", "text  # why", "|\n    block\n"]
)


@st.composite
def documents(draw):
    lines = []
    for number in range(draw(st.integers(1, 4))):
        key = f"{draw(st.sampled_from(KEYS))}{number}"
        if draw(st.booleans()):
            lines.append(f"# about {number}")
        if draw(st.integers(0, 3)) == 0:
            nested = [
                f"k{i}: {draw(LEAF.filter(lambda leaf: '|' not in leaf))}" for i in range(draw(st.integers(1, 3)))
            ]
            dash = draw(st.sampled_from(["  ", "- "]))
            lines += [f"{key}:", *(f"{dash if i == 0 else '  '}{line}" for i, line in enumerate(nested))]
        else:
            lines.append(f"{key}: {draw(LEAF)}")
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def mappings(node):
    if node.kind == "mapping" and node.pairs:
        yield node
    for pair in node.pairs:
        yield from mappings(pair.value)
    for item in node.items:
        yield from mappings(item)


@settings(deadline=None, max_examples=200)
@given(documents(), st.data())
def test_edits_change_one_thing(text, data):
    doc = parse(text)
    number = data.draw(st.integers(0, sum(1 for _ in mappings(doc.root)) - 1))
    mapping = list(mappings(doc.root))[number]
    pair = data.draw(st.sampled_from(list(mapping.pairs)))
    kind = data.draw(st.sampled_from(["set", "insert", "remove"]))
    before = yaml.safe_load(text)
    try:
        edit = {
            "set": lambda: set_value(doc, pair.value, "7"),
            "insert": lambda: insert_pair(doc, pair, "new", "7"),
            "remove": lambda: remove_pair(doc, mapping, pair),
        }[kind]()
    except ValueError:
        assume(condition=False)
    after = apply(text, [edit])
    assert after[: edit.start] == text[: edit.start]
    assert after.endswith(text[edit.end :])
    want = find(before, mapping, doc.root)
    want.update({"set": {pair.key: 7}, "insert": {"new": 7}, "remove": {}}[kind])
    if kind == "remove":
        del want[pair.key]
    assert yaml.safe_load(after) == before
    if kind != "set":
        kept = {comment.text for comment in doc.comments() if comment.own_line}
        assert kept <= {comment.text for comment in parse(after).comments()}


def find(value, wanted, node):
    """The plain value that belongs to a node."""
    if node is wanted:
        return value
    if node.kind == "scalar":
        return None
    if node.kind == "mapping":
        inner = (find(value[pair.key], wanted, pair.value) for pair in node.pairs)
    else:
        inner = (find(one, wanted, item) for one, item in zip(value, node.items, strict=True))
    return next((one for one in inner if one is not None), None)


# ---- values as text

SCALARS = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(["yes", "y", "1e5", "null", "all-linear", "/a/b", "-x", ".5", "1:30"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def same(one, two) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return one == two or (math.isnan(one) and math.isnan(two))
    if isinstance(one, dict):
        return isinstance(two, dict) and one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list):
        return isinstance(two, list) and len(one) == len(two) and all(map(same, one, two))
    return type(one) is type(two) and one == two


@settings(deadline=None)
@given(VALUES)
def test_written_values_are_read_back_by_every_loader(value):
    text = scalar_text(value, "yaml")
    assert "\n" not in text
    assert same(yaml.safe_load(f"k: {text}")["k"], value)
    assert same(plain(parse(f"k: {text}").root.get("k"), "omegaconf"), value)
    assert same(json.loads(scalar_text(value, "json")), value)
    if "\x7f" not in str(value) and all(-(2**63) <= n < 2**63 for n in [value] if isinstance(n, int)):
        assert same(tomllib.loads(f"k = {scalar_text(value, 'toml')}")["k"], value)


@pytest.mark.parametrize(
    ("value", "yaml_text", "json_text"),
    [
        (0.0002, "0.0002", "0.0002"),
        (2e-05, "2.0e-05", "2.0e-05"),
        (1e16, "1.0e+16", "1.0e+16"),
        (True, "true", "true"),
        (None, "null", "null"),
        ("all-linear", "all-linear", '"all-linear"'),
        ("yes", '"yes"', '"yes"'),
        ("2e-4", '"2e-4"', '"2e-4"'),
        ("a: b", '"a: b"', '"a: b"'),
        ("none", '"none"', '"none"'),
        (["q_proj", 1], "[q_proj, 1]", '["q_proj", 1]'),
        ({"a": -math.inf}, "{a: -.inf}", '{"a": -Infinity}'),
    ],
)
def test_scalar_text(value, yaml_text, json_text):
    assert (scalar_text(value, "yaml"), scalar_text(value, "json")) == (yaml_text, json_text)


def test_scalar_text_refuses_what_the_format_cannot_hold():
    for value, form in ((None, "toml"), ({1, 2}, "yaml"), ([None], "toml")):
        with pytest.raises(ValueError, match="cannot be written"):
            scalar_text(value, form)
