from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.data.exact import Table, digest
from loralint.data.lengths import Ruler
from loralint.data.near import Near
from loralint.data.spread import Spread
from loralint.data.texts import family_named, family_of, markers, unclean
from loralint.data.turns import faults_of

WORDS = [
    f"{first}{second}{third}"
    for first in "bdgkl"
    for second in ("an", "or", "ith")
    for third in ("ma", "tel", "s", "ux")
]


@given(st.lists(st.integers(0, 60), max_size=200), st.integers(1, 40))
def test_a_full_table_forgets_rows_but_never_errs(keys, limit):
    keys = [digest(str(key).encode()) for key in keys]
    table, first = Table(limit), {}
    for place, key in enumerate(keys):
        found = table.meet(key, place)
        assert found is None or found == first[key]
        if table.covers(key) and found is None:
            assert key not in first
        first.setdefault(key, place)
    assert sum(table.find(key) is not None for key in first) <= limit + 1
    assert all(table.find(key) == place for key, place in first.items() if table.covers(key))


def test_a_large_enough_table_finds_every_copy():
    table = Table()
    keys = [digest(str(number % 300).encode()) for number in range(1000)]
    found = [table.meet(key, place) for place, key in enumerate(keys)]
    assert found == [None] * 300 + [place % 300 for place in range(300, 1000)]
    assert table.compared == 1000


def test_near_copies_are_found_and_others_are_not():
    pytest.importorskip("datasketch")
    dice = random.Random(1)
    vocabulary = [one + other for one in WORDS for other in WORDS]
    rows = [" ".join(dice.sample(vocabulary, 60)) for _ in range(400)]
    near = Near(1000)
    for place, row in enumerate(rows):
        near.add(row.encode(), place)
    near.add((rows[7] + " indeed").encode(), 1007)
    near.add(rows[8].upper().encode(), 1008)
    near.add(" ".join(rows[9].split()[:30] + rows[10].split()[:30]).encode(), 1009)
    assert near.pairs() == [(7, 1007), (8, 1008)]
    assert near.compared == 403


def test_rows_under_the_same_long_instruction_are_not_alike():
    pytest.importorskip("datasketch")
    dice = random.Random(2)
    vocabulary = [one + other for one in WORDS for other in WORDS]
    head = " ".join(dice.sample(vocabulary, 400))
    near = Near(1000)
    for place in range(300):
        near.add(f"{head} {' '.join(dice.sample(vocabulary, 14))}".encode(), place)
    assert near.pairs() == []


def test_the_sample_of_many_rows_keeps_near_copies_together():
    pytest.importorskip("datasketch")
    dice = random.Random(3)
    vocabulary = [one + other for one in WORDS for other in WORDS]
    rows = [" ".join(dice.sample(vocabulary, 60)) for _ in range(4000)]
    near = Near(8 * 20_000)  # one row of eight, about
    for place, row in enumerate(rows):
        near.add(row.encode(), 2 * place)
        near.add((row + " indeed").encode(), 2 * place + 1)
    pairs = near.pairs()
    assert 500 < near.compared < 4000
    assert len(pairs) > 0.45 * near.compared
    assert all(pair.later == pair.earlier + 1 for pair in pairs)


@pytest.mark.parametrize(
    ("text", "longer"),
    [("word " * 10, False), ("word " * 11, True), (" " * 1000, False), ("x" * 1000, False), ("", False)],
)
def test_only_what_is_certain_is_called_longer(text, longer):
    assert Ruler(10).longer(text) is longer


def test_what_cannot_be_told_is_counted():
    ruler = Ruler(10)
    assert not ruler.longer("abcdefgh")
    assert ruler.undecided == 0
    assert not ruler.longer("x" * 1000)
    assert ruler.undecided == 1


def test_a_tokenizer_tells_exactly(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    from loralint.data.lengths import load_tokenizer

    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
    made.save(str(tmp_path / "tokenizer.json"))
    ruler = Ruler(10, load_tokenizer(str(tmp_path / "tokenizer.json")))
    assert not ruler.longer("a" * 10)
    assert ruler.longer("a" * 11)
    assert ruler.undecided == 0
    (tmp_path / "tokenizer.json").write_text("{}")
    assert load_tokenizer(str(tmp_path / "tokenizer.json")) == "the tokenizer is no tokenizer.json"


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=300), st.floats(0.01, 1))
def test_a_quantile_is_at_most_a_quarter_too_high(lengths, share):
    spread = Spread()
    for number, length in enumerate(lengths):
        spread.add(length, number, 1)
    from math import ceil

    exact = sorted(lengths)[max(0, ceil(share * len(lengths) - 1e-9) - 1)]
    assert exact <= spread.quantile(share) <= max(exact * 1.25 + 1, 3)
    assert spread.longest() == max(lengths)


def test_rows_far_longer_than_the_rest():
    spread = Spread()
    for number in range(1, 1001):
        spread.add(100, number, number)
    spread.add(19_000, 1001, 1001)
    assert spread.outlying() == []
    spread.add(21_000, 1003, 1003)
    spread.add(30_000, 1002, 1002)
    assert [place.number for place in spread.outlying()] == [1002, 1003]


@pytest.mark.parametrize(
    ("text", "sign", "family"),
    [
        ("<|im_start|>user", "<|im_start|>", "ChatML"),
        ("a <|eot_id|> b", "<|eot_id|>", "Llama 3"),
        ("[INST] a [/INST] b", "[/INST]", "Llama 2"),
        ("<start_of_turn>user", "<start_of_turn>", "Gemma"),
        ("### Response:\n", "### Response:", "Alpaca"),
        ("<\uff5cUser\uff5c>", "<\uff5cUser\uff5c>", "DeepSeek"),
        ("a < b | c > d", "", ""),
        ("# Heading\n## Two\n### Three", "", ""),
        ("<s>struck</s>", "", ""),
    ],
)
def test_signs_of_templates(text, sign, family):
    assert markers(text) == sign
    assert family_of(sign) == family


def test_templates_by_name():
    assert (family_named("qwen"), family_named("LLAMA3"), family_named("own")) == ("ChatML", "Llama 3", "")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("plain\n\ttext\r\n\x0c", []),
        ("a\x1eb", []),
        ("Grüße 👋🏽 ça va? 日本", []),
        ("\x1b[31mred", ["data-control"]),
        ("a\x00b", ["data-control"]),
        ("a\x7fb", ["data-control"]),
        ("caf\ufffd", ["data-replacement"]),
        ("hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", ["data-secret"]),
        ("hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", []),
        ("postgres://user:pa55word@host/db", []),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345", []),
    ],
)
def test_what_no_text_should_hold(text, kinds):
    assert [kind for kind, _ in unclean(text, text.encode())] == kinds


def test_orders_are_judged_once():
    assert faults_of(("user", "assistant")) is faults_of(("user", "assistant"))
