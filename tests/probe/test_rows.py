"""The text of a user's own rows."""

from __future__ import annotations

import json
import os

import pytest

from loralint.probe.rows import text_of

LONG = "word " * 100


def _jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_rows_of_every_layout_become_prompt_and_answer(tmp_path):
    rows = [
        {"instruction": "Add", "input": "2 and 3", "output": "5"},
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
        {"conversations": [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}]},
        {"text": LONG},
    ]
    assert text_of(_jsonl(tmp_path / "rows.jsonl", rows)) == f"Add\n2 and 3\n5\n\nHi\nHello\n\nWhy?\nSo.\n\n{LONG}"


def test_text_is_taken_as_it_is(tmp_path):
    (tmp_path / "book.txt").write_text(LONG, encoding="utf-8-sig")
    assert text_of(str(tmp_path / "book.txt")) == LONG


def test_parquet_is_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"prompt": ["a"], "completion": [LONG]}), tmp_path / "rows.parquet")
    assert text_of(str(tmp_path / "rows.parquet")) == f"a\n{LONG}"


def test_a_broken_row_is_passed_over_and_a_large_file_is_read_in_part(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"text": "{LONG}"\n' + f'{{"text": "{LONG}"}}\n' * 2000, encoding="utf-8")
    text = text_of(str(path))
    assert text.startswith(LONG)
    assert 400_000 < len(text) < 405_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.csv", "a,b", r"rows are read from \.jsonl"),
        ("rows.jsonl", '{"text": "short"}\n', "5 characters of text are too few to train on$"),
        (
            "rows.jsonl",
            '{"zebra": "' + LONG + '"}\n',
            "0 characters .*; line 1: no layout that is known; rows hold messages",
        ),
        ("rows.jsonl", '{"text": "' + LONG + "\n", "0 characters .*; line 1: .*"),
        ("rows.parquet", "PAR2", "0 characters .*it is no Parquet file"),
        ("rows.jsonl", "\x1f\x8b\x08", "characters|compressed"),
        ("book.txt", "short", "too few"),
    ],
)
def test_what_cannot_be_is_said(tmp_path, name, content, said):
    (tmp_path / name).write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=said):
        text_of(str(tmp_path / name))


@pytest.mark.parametrize("name", ["gone.txt", "gone.jsonl", "folder.txt"])
def test_what_is_no_file_is_said(tmp_path, name):
    (tmp_path / "folder.txt").mkdir()
    with pytest.raises(ValueError, match=name):
        text_of(str(tmp_path / name))


def test_half_a_surrogate_pair_is_no_text_that_breaks_a_tokenizer(tmp_path):
    said = text_of(_jsonl(tmp_path / "rows.jsonl", [{"text": f"{LONG}\ud800 end"}]))
    assert said == f"{LONG}? end"


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.parquet"])
def test_a_file_that_would_be_read_for_hours_is_refused_unread(tmp_path, name):
    (tmp_path / name).touch()
    os.truncate(tmp_path / name, 2**40)
    with pytest.raises(ValueError, match=f"{name}: it has 1024 GiB, and a probe reads 400,000 characters"):
        text_of(str(tmp_path / name))


def test_of_a_plain_text_of_any_size_the_start_is_read(tmp_path):
    with (tmp_path / "book.txt").open("w", encoding="utf-8") as file:
        file.write("é" * 300_000)
        file.truncate(2**40)
    assert text_of(str(tmp_path / "book.txt")) == "é" * 200_000


@pytest.mark.parametrize("content", [LONG.encode("utf-16"), b"\xff" * 900, bytes(900), LONG.encode() + bytes(9)])
def test_what_is_no_text_is_not_trained_on(tmp_path, content):
    (tmp_path / "book.txt").write_bytes(content)
    with pytest.raises(ValueError, match=r"book\.txt: it is no text in UTF-8"):
        text_of(str(tmp_path / "book.txt"))


def test_a_broken_letter_or_two_is_no_reason_to_read_nothing(tmp_path):
    (tmp_path / "book.txt").write_bytes(LONG.encode() + b"\xff" + LONG.encode())
    assert text_of(str(tmp_path / "book.txt")).count("word") == 200


def test_rows_without_text_are_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("loralint.probe.rows._SECONDS", -1.0)
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"text": "{LONG}"}}\n' + '{"zebra": 1}\n' * 60_000, encoding="utf-8")
    assert text_of(str(path)) == LONG
    path.write_text('{"zebra": 1}\n' * 60_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"0 characters .* no layout that is known"):
        text_of(str(path))


@pytest.mark.skipif(not os.path.exists("/proc/kmsg"), reason="a file of Linux")
@pytest.mark.parametrize("name", ["book.txt", "rows.jsonl"])
def test_what_the_kernel_makes_up_is_not_read(tmp_path, name):
    (tmp_path / name).symlink_to("/proc/kmsg")
    with pytest.raises(ValueError, match="it leads to what lies on no disk"):
        text_of(str(tmp_path / name))
