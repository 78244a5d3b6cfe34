from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.render.page import Block, as_markdown, as_text, code_span, escaped
from loralint.render.style import Style

PAGE = [
    Block("title", "LL214 bf16-unsupported-gpu"),
    Block("meta", "tier S"),
    Block("text", "One two three.\nFour.\n\nA second <paragraph>."),
    Block("item", "first"),
    Block("item", "second `a_b`"),
    Block("head", "Examples"),
    Block("code", "a: 1\n\nb: 2\n", {3: "here"}),
    Block("row", "from 1\nto 2", label="fine"),
]
PLAIN = Style(on=False)


def test_the_form_for_a_terminal():
    assert as_text(PAGE, PLAIN, 40) == (
        "LL214 bf16-unsupported-gpu\n\ntier S\n\nOne two three. Four.\n\nA second <paragraph>.\n\n- first\n"
        "- second `a_b`\n"
        "\nExamples\n\n    a: 1\n\n    b: 2  # <- here\n\n  fine           from 1 to 2\n"
    )


def test_the_form_in_markdown():
    assert as_markdown(PAGE, level=3) == (
        "### LL214 bf16-unsupported-gpu\n\ntier S\n\nOne two three. Four.\n\nA second &lt;paragraph&gt;.\n\n- first\n"
        "- second `a_b`\n\n#### Examples\n\n    a: 1\n\n    b: 2  # <- here\n\n- fine: from 1 to 2\n"
    )


def test_prose_is_filled_and_code_is_not():
    page = [Block("text", "word " * 30), Block("item", "word " * 30), Block("code", "k: " + "v" * 200)]
    lines = as_text(page, PLAIN, 40).splitlines()
    assert max(len(line) for line in lines[:-1]) <= 40
    assert lines[-1] == "    k: " + "v" * 200
    assert [line for line in lines if line.startswith("- ")] == ["- word word word word word word word"]


def test_a_long_word_stays_whole():
    url = "https://example.org/" + "a" * 60
    assert as_text([Block("item", url)], PLAIN, 40) == f"- {url}\n"


def test_colour_adds_codes_and_no_words():
    import re

    coloured = as_text(PAGE, Style(on=True), 40)
    assert "\x1b[1mLL214" in coloured
    assert "\x1b[31mb: 2\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == as_text(PAGE, PLAIN, 40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <b> c", "a &lt;b&gt; c"),
        ("`a <b> | c` | d", "`a <b> \\| c` \\| d"),
        ("__init__() and a_b", "\\_\\_init\\_\\_() and a_b"),
        ("2 * 3, *loud*", "2 * 3, \\*loud\\*"),
        ("plain", "plain"),
    ],
)
def test_what_markdown_would_take_for_markup(text, expected):
    assert escaped(text) == expected


@pytest.mark.parametrize(("text", "span"), [("a", "`a`"), ("a `b` c", "`` a `b` c ``"), ("a\n b", "`a b`")])
def test_a_code_span(text, span):
    assert code_span(text) == span


@given(st.text(), st.integers(20, 100))
def test_any_text_makes_a_page(text, width):
    page = [Block(kind, text, label="x") for kind in ("title", "meta", "text", "item", "code", "row", "strong", "head")]
    assert as_text(page, PLAIN, width).endswith("\n")
    assert as_markdown(page).endswith("\n")
