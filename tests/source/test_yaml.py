from __future__ import annotations

import datetime as dt
import itertools
import math

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.source import yaml as reader
from loralint.source.document import Document, Node
from loralint.source.read import read_bytes
from loralint.source.scalars import plain


def parse(text: str) -> Document:
    return read_bytes(text.encode(), "a.yaml")


def good(text: str) -> Document:
    doc = parse(text)
    assert doc.problems == []
    return doc


def cut(doc: Document, node: Node) -> str:
    return doc.text[node.start : node.end]


def walk(node: Node):
    yield node
    for pair in node.pairs:
        yield from walk(pair.key_node)
        yield from walk(pair.value)
    for item in node.items:
        yield from walk(item)


def settle(value):
    """Dates as their place, since ours stay text; NaN equal to itself."""
    if isinstance(value, dict):
        return {settle(key): settle(one) for key, one in value.items()}
    if isinstance(value, list):
        return [settle(one) for one in value]
    if isinstance(value, dt.date):
        return "date"
    return "nan" if isinstance(value, float) and math.isnan(value) else value


# ---- documents written by a small random emitter, so that the styles vary freely

WORDS = st.sampled_from(
    ["lr", "r", "lora_alpha", "q_proj", "träger", "名前", "a b", "x#y", "2e-4", "1.5", "017", "yes", "on"]
)
VALUES = st.one_of(
    WORDS,
    st.sampled_from(
        ["", "~", "0.0002", "1_000", "1:30", ".inf", "-3", "0x1F", "2026-01-01", "${x}", "true", "a: b", "# no", "'"]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")), max_size=8),
)


@st.composite
def scalar(draw, flow: bool = False):
    text = draw(VALUES)
    style = draw(st.sampled_from("dsp"))
    if style == "p" and text in {
        "",
        "~",
        "0.0002",
        "1_000",
        "1:30",
        ".inf",
        "-3",
        "0x1F",
        "true",
        "lr",
        "q_proj",
        "a b",
        "x#y",
        "名前",
    }:
        return text
    if style == "s" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(f"\\U{ord(c):08x}" if not c.isprintable() or c in '"\\' else c for c in text) + '"'


@st.composite
def inline(draw, depth: int = 2):
    kind = draw(st.sampled_from("sslm")) if depth else "s"
    space = (
        draw(st.sampled_from(["", " ", "\n   ", " # note\n   "])) if depth == 2 else draw(st.sampled_from(["", " "]))
    )
    if kind == "s":
        text = draw(scalar(flow=True))
        return text or "''"
    parts = draw(st.lists(inline(depth - 1), max_size=3))
    if kind == "m":
        parts = [f"k{i}: {part}" for i, part in enumerate(parts)]
    body = f",{space or ' '}".join(parts)
    return f"[{body}{space}]" if kind == "l" else f"{{{body}{space}}}"


@st.composite
def block(draw, indent: str = "", depth: int = 3):
    lines = []
    is_list = bool(depth < 3 and draw(st.booleans()))
    for number in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(st.sampled_from(["", indent + "# own line", "# 'odd \" quotes: - ["])))
        head = f"{indent}- " if is_list else f"{indent}{draw(WORDS.filter(str.isidentifier))}{number}: "
        kind = draw(st.sampled_from("ssfbm"))
        comment = draw(st.sampled_from(["", "", "  # why", " #"]))
        if kind == "s":
            lines.append(head + draw(scalar()) + comment)
        elif kind == "f":
            lines.append(head + draw(inline()) + comment)
        elif kind == "b":
            mark = draw(st.sampled_from(["|", ">", "|-", ">-", "|+"]))
            lines += [head + mark + comment, f"{indent}    text # none", "", f"{indent}    more: 'x"]
            lines += [""] * draw(st.integers(0, 2))
        elif depth:
            lines += [head.rstrip() + comment, draw(block(indent + "  ", depth - 1))]
        else:
            lines.append(head + "end")
    return "\n".join(lines)


DOCUMENTS = st.tuples(block(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n", "\n# end\n", "\n\n"]))


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS)
def test_values_and_spans_are_those_of_pyyaml(parts):
    text = (parts[0] + parts[2]).replace("\n", parts[1])
    doc = good(text)
    assert settle(plain(doc.root, "pyyaml")) == settle_dates(yaml.safe_load(text), doc.root)
    for node in walk(doc.root):
        piece = cut(doc, node)
        assert doc.lines.place(node.start) == (node.line, node.column) == place(text, node.start)
        assert doc.lines.place(node.end) == (node.end_line, node.end_column) == place(text, node.end)
        assert piece == piece.strip("\r\n") or "|+" in piece or ">+" in piece
        if node.kind == "scalar":
            again = yaml.compose(piece, Loader=yaml.CSafeLoader)
            assert (again.value.rstrip("\n") if again else "") == node.raw.rstrip("\n")
        elif node.column == 1 or piece[0] in "[{":
            assert trim(plain(good(piece).roots[0], "pyyaml")) == trim(plain(node, "pyyaml"))


def settle_dates(theirs, root):
    """Give dates back as the text that stands in the file."""
    if isinstance(theirs, dict):
        return {key: settle_dates(value, root.get(key)) for key, value in theirs.items()}
    if isinstance(theirs, list):
        return [settle_dates(value, item) for value, item in zip(theirs, root.items, strict=True)]
    return root.raw if isinstance(theirs, dt.date) else settle(theirs)


def trim(value):
    """Without the last line breaks of block scalars, which lie behind the span."""
    if isinstance(value, dict):
        return {key: trim(one) for key, one in value.items()}
    if isinstance(value, list):
        return [trim(one) for one in value]
    return value.rstrip("\n") if isinstance(value, str) else settle(value)


def place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset].replace("\r\n", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS)
def test_comments_lie_outside_of_scalars(parts):
    text = parts[0] + parts[2]
    doc = good(text)
    found = doc.comments()
    for comment in found:
        assert text[comment.start] == "#"
        assert text[comment.start + 1 : comment.end].strip() == comment.text
        assert comment.own_line == (not text.split("\n")[comment.line - 1][: comment.column - 1].strip())
    pieces = [
        text[end:start]
        for end, start in itertools.pairwise([0, *(x for c in found for x in (c.start, c.end)), len(text)])
    ]
    again = good("".join(pieces[::2]))
    assert trim(plain(again.root, "pyyaml")) == trim(plain(doc.root, "pyyaml"))
    assert again.comments() == []


def test_the_hash_in_texts_is_no_comment():
    doc = good("a: 'x # y' # one\nb: x#y\nc: | # two\n  # text\nd: !t | # three\n  # text\n# four\n'# e': \"#\" #five")
    assert [comment.text for comment in doc.comments()] == ["one", "two", "three", "four", "five"]
    assert [comment.own_line for comment in doc.comments()] == [False, False, False, True, False]


def test_tags_plain_and_raw():
    doc = good("a: 1\nb: '1'\nc: !!str 1\nd: !foo 1\ne: !foo {x: 1}\nf:\ng: 2026-01-01\nh: !!float 2e-4\ni: =\n=: k\n")
    tags = {pair.key: (pair.value.tag, pair.value.plain, pair.value.raw) for pair in doc.root.pairs}
    assert tags == {
        "a": ("int", True, "1"),
        "b": ("str", False, "1"),
        "c": ("str", False, "1"),
        "d": ("unknown", False, "1"),
        "e": ("unknown", False, ""),
        "f": ("null", True, ""),
        "g": ("timestamp", True, "2026-01-01"),
        "h": ("float", False, "2e-4"),
        "i": ("unknown", True, "="),
        "=": ("str", True, "k"),
    }


def test_no_tag_constructs_anything():
    doc = good("a: !!python/object/apply:os.system ['exit 3']\nb: !!python/name:os.system x\n")
    assert doc.root.get("a").tag == "unknown"
    assert [item.raw for item in doc.root.get("a").items] == ["exit 3"]
    assert doc.root.get("b").raw == "x"


@pytest.mark.parametrize(
    ("text", "key", "piece"),
    [
        ("a:   # c\nb: 1\n", "a", ""),
        ("a: 'x'  # c\n", "a", "'x'"),
        ("a: &n 16 # c\n", "a", "16"),
        ("a: &n\n  - 1\n  - 2\n\nb: 1\n", "a", "- 1\n  - 2"),
        ("a: &n # why\n- 1\n- 2\nb: 1\n", "a", "- 1\n- 2"),
        ("a: &n # why\n  k: v\n\n# c\nb: 1\n", "a", "k: v"),
        ("a: &n {k: v} # c\n", "a", "{k: v}"),
        ("a: !t [1,\n 2] # c\n", "a", "[1,\n 2]"),
        ("a: |\n  x\n\n\n# c\nb: 1\n", "a", "|\n  x"),
        ("a: |+\n  x\n\n\nb: 1\n", "a", "|+\n  x\n\n"),
        ("a: >-\r\n  x\r\n  y\r\n\r\nb: 1\r\n", "a", ">-\r\n  x\r\n  y"),
        ("a: one\n  two\n\nb: 1\n", "a", "one\n  two"),
        ("ü: '漢字'\nb: 1\n", "ü", "'漢字'"),
        ("a:\n  - x: 1\n\n  - y:\n# c\nb: 2", "a", "- x: 1\n\n  - y:"),
        ("{a: , b: 1}", "a", ""),
        ("? a\n? b\n", "a", ""),
    ],
)
def test_spans(text, key, piece):
    doc = good(text)
    assert cut(doc, doc.root.get(key)) == piece


def test_an_empty_value_stands_behind_its_colon():
    doc = good("a:   # c\nb: {x: , y}\n? c\n")
    ends = [doc.root.get("a").start, doc.root.get("b").get("x").start, doc.root.get("b").get("y").start]
    assert [doc.text[:end].rsplit("\n")[-1] for end in ends] == ["a:", "b: {x:", "b: {x: , y"]
    assert doc.root.get("c").start == doc.root.pair("c").key_node.end


def test_an_alias_has_its_own_place_and_the_anchors_content():
    doc = good("base: &b {r: 8}\nrun: *b\nn: &n 16\nm: *n\n")
    run, m = doc.root.get("run"), doc.root.get("m")
    assert (cut(doc, run), run.alias, run.get("r").raw) == ("*b", True, "8")
    assert (cut(doc, m), m.tag, m.raw, m.line) == ("*n", "int", "16", 4)
    assert not doc.root.get("n").alias


def test_merge_keys():
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  z: 3\n  <<: [*a, *b]\n  w: 4\nd:\n  <<: *a\n  y: 5\n"
    doc = good(text)
    assert plain(doc.root.get("c"), "pyyaml") == {"x": 1, "y": 1, "z": 3, "w": 4}
    assert plain(doc.root.get("d"), "pyyaml") == {"x": 1, "y": 5}
    merged = {pair.key: pair.merged for pair in doc.root.get("c").pairs}
    assert merged == {"x": True, "y": True, "z": False, "w": False}
    assert doc.root.get("c").duplicates() == []


def test_merges_agree_with_pyyaml_where_sources_do_not_compete():
    text = "a: &a {x1: 1}\nb: &b\n  <<: *a\n  y1: 2\nc: {<<: [*b, {z1: 3}], x1: 9, '<<': q}\nd: {<<: {k1: 1}, <<: *a}\n"
    assert plain(good(text).root, "pyyaml") == yaml.safe_load(text)


def test_a_merge_of_a_scalar_is_a_problem():
    assert [problem.kind for problem in parse("a:\n  <<: 5\n  b: 1\n").problems] == ["syntax"]


def test_duplicates_and_get():
    doc = good("lr: 1\nr: 8\n'lr': 2\n1: a\n'1': b\n")
    [(earlier, later)] = doc.root.duplicates()
    assert (earlier.value.raw, later.value.raw, later.key_node.line) == ("1", "2", 3)
    assert doc.root.get("lr").raw == "2"
    assert doc.root.get("none") is None
    assert doc.root.pair("r").value.raw == "8"


def test_several_documents():
    doc = good("---\n- 1\n---\na: 1\n---\nb: 1\n")
    assert [root.kind for root in doc.roots] == ["sequence", "mapping", "mapping"]
    assert doc.root is doc.roots[1]
    assert good("").roots == []
    assert good("# only a comment\n").root is None


def test_anchors_end_with_their_document():
    assert [problem.kind for problem in parse("a: &x 1\n---\nb: *x\n").problems] == ["syntax"]


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a:\n\tb: 1\n", 2, 1, "a tab"),
        ("a: 1\nlr:1e-4\nb: 2\n", 2, 1, "space is missing after the colon of `lr`"),
        ("a: 1\nlr:1e-4\n", 2, 1, "space is missing after the colon of `lr`"),
        ("lr\uff1a1e-4\nb: 2\n", 1, 1, "full-width colon"),
        ("a: 1\njust text\nb: 2\n", 2, 1, "neither"),
        ("a: b: c\n", 1, 5, "second `: `"),
        ("a: 1\n  b: 2\n", 2, 3, "indented deeper"),
        ("a:\n    b: 1\n  c: 2\n", 3, 3, "indentation"),
        ("a: 1\n- b\n", 2, 1, "list item"),
        ("- a\nb: 1\n", 2, 1, "list item"),
        ('a: "x\nb: 2\n', 1, 4, "quote opened here"),
        ("a: 'x\nb: 2\n", 1, 4, "quote opened here"),
        ("a: 1\nb: [1, 2\nc: 2\n", 2, 4, "`[` opened here"),
        ("a: {x: 1\nb: 2\n", 1, 4, "`{` opened here"),
        ("a: [1, 2]]\n", 1, 10, "`]` closes nothing"),
        ("a: 1\nb: [\n", 2, 4, "`[` opened here is never closed"),
        ("a: {x: [1, \n", 1, 8, "`[` opened here is never closed"),
        ("a: 'x' y\n", 1, 8, "text follows"),
        ("a: ]\n", 1, 4, "closes nothing"),
        ("a: @x\n", 1, 4, "cannot start with `@`"),
        ("a: *.py\n", 1, 4, "alias"),
        ('a: "C:\\data"\n', 1, 7, "escape"),
        ("a: {{ x }}\n", 1, 5, "template"),
        ("b: 1\na: {{ x }}-y\n", 2, 5, "template"),
        ("{{- if x }}\na: 1\n{{ end }}\n", 1, 1, "template"),
        ("{% if x %}\na: 1\n", 1, 1, "template"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n", 2, 1, "merge conflict"),
        ("a: *nowhere\n", 1, 4, "names no anchor"),
        ("a: &x 1\nb: &x 2\n", 2, 4, "defined twice"),
        ("? [a, b]\n: 1\n", 1, 3, "cannot be a key"),
        ("a: &x\n  b: *x\n", 2, 6, "inside the value"),
    ],
)
def test_faults_are_named_at_their_place(text, line, column, words):
    doc = parse(text)
    [problem] = doc.problems
    assert words in problem.message
    assert (problem.span.line, problem.span.column) == (line, column)
    assert problem.kind == ("cyclic" if "inside the value" in words else "syntax")
    if problem.kind == "syntax":
        with pytest.raises(yaml.YAMLError):
            yaml.safe_load(text)


def test_documents_before_a_fault_are_kept():
    doc = parse("a: 1\n---\nb: [\n")
    assert len(doc.roots) == 1
    assert doc.problems[0].span.line == 3
    assert doc.comments() == []


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x9f", "\uffff"])
def test_control_characters(character):
    [problem] = parse(f"a: 1\nb: x{character}\n").problems
    assert (problem.kind, problem.span.line, problem.span.column) == ("control-character", 2, 5)
    assert f"U+{ord(character):04X}" in problem.message
    assert character not in problem.message


def test_lines_are_counted_as_editors_do():
    doc = good("a: 'x\u2028y'\nb: &n 1\nc: *n\nd: 'd\x85'\ne: {}\n")
    assert [doc.root.get(key).line for key in "abce"] == [1, 2, 3, 5]
    assert doc.root.get("c").column == 4
    assert doc.root.get("e").column == 4


def test_a_second_byte_order_mark_is_not_counted():
    doc = read_bytes(b"\xef\xbb\xbf\xef\xbb\xbfa: 1\n", "a.yaml")
    assert cut(doc, doc.root.get("a")) == "1"


def test_the_pure_parser_gives_the_same(monkeypatch):
    texts = ["a: &x {b: 1}\nc: *x\nd: |\n  t\n\ne:\n- 1\nf: 'ü'\n", "a:\n\tb: 1\n", "a: \x07\n", "[" * 200]
    fast = [parse(text) for text in texts]
    monkeypatch.setattr(reader, "_Parser", yaml.SafeLoader)
    for text, quick in zip(texts, fast, strict=True):
        slow = parse(text)
        assert [problem.kind for problem in slow.problems] == [problem.kind for problem in quick.problems]
        if not slow.problems:
            shapes = [[(n.kind, n.raw, n.start, n.end) for n in walk(doc.root)] for doc in (slow, quick)]
            assert shapes[0] == shapes[1]
