from __future__ import annotations

import gzip
import json
import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.data import array, lines
from loralint.data.array import read_array
from loralint.data.given import ROW_BYTES, unheard
from loralint.data.given import given as files
from loralint.data.read import read
from loralint.data.row import Source, sampling

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)


def _read(path):
    source, rows = read(str(path), unheard)
    return source, list(rows)


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """rows(data, name) -> (source, rows) of a file with these bytes."""
    monkeypatch.chdir(tmp_path)

    def run(data: bytes | str, name: str = "train.jsonl"):
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return _read(name)

    return run


def test_lines_are_numbered_as_an_editor_does_and_blank_ones_are_none(rows):
    source, found = rows('\ufeff{"a": 1}\n\n  \r\n{"a": 2}\r\n{"a": 3}')
    assert [(row.number, row.line) for row in found] == [(1, 1), (4, 4), (5, 5)]
    assert [row.value for row in found] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert (source.unit, source.total) == ("line", 3)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"a": ', "a value is missing"),
        (b'{"a": "b', "a text is never closed"),
        (b'{"a": "b\tc"}', "raw control character"),
        (b'{"a": 1,}', "a key in double quotes is missing"),
        (b"{'a': 1}", "a key in double quotes is missing"),
        (b'{"a": "\xff"}', "the byte 0xff is not valid UTF-8"),
        (b'{"a": 1} x', "a value is missing"),
        (b'{"a": ' + b"9" * 5000 + b"}", "thousands of digits"),
        (b"[" * 3000 + b"]" * 3000, "nested too deep"),
        (b"\x00", "a value is missing"),
    ],
)
def test_a_broken_line_is_told_and_does_not_end_the_reading(rows, line, says):
    # a first line of another kind, or the file would be taken for an array
    _, found = rows(b'{"a": 1}\n' + line + b'\n{"a": 2}\n')
    assert [row.number for row in found if not row.fault] in ([1, 3], [1, 2, 3])
    assert [row.number for row in found if row.fault] == [2]
    assert says in next(row.fault for row in found if row.fault)
    assert found[-1].value == {"a": 2}


def test_several_values_in_a_line_are_several_rows(rows):
    _, found = rows('{"a": 1} {"a": 2}\n')
    assert [row.value for row in found] == [{"a": 1}, {"a": 2}]


def test_a_line_beyond_the_budget_is_passed_over_and_counted(rows):
    long = b'{"a": "' + b"x" * (ROW_BYTES + 1) + b'"}\n'
    source, found = rows(b'{"a": 1}\n' + long + b'{"a": 2}\n')
    assert [row.number for row in found] == [1, 3]
    assert (source.total, source.too_long) == (3, 1)


def test_an_array_names_rows_by_their_place_and_their_line(rows):
    text = '[\n {"a": 1},\n\n {"a": "ü\U0001f600"}\n]\n'
    source, found = rows(text, "train.json")
    assert [(row.number, row.line, row.value) for row in found] == [(1, 2, {"a": 1}), (2, 4, {"a": "ü\U0001f600"})]
    assert source.unit == "row"


@pytest.mark.parametrize("name", ["train.json", "train.jsonl"])
def test_what_a_file_holds_decides_and_not_its_name(rows, name):
    assert [row.value for row in rows('[{"a": 1}, {"a": 2}]', name)[1]] == [{"a": 1}, {"a": 2}]
    assert [row.value for row in rows('{"a": 1}\n{"a": 2}\n', name)[1]] == [{"a": 1}, {"a": 2}]


def test_objects_over_several_lines_are_read_one_after_the_other(rows):
    text = json.dumps({"a": 1}, indent=1) + "\n" + json.dumps({"a": 2}, indent=1)
    assert [row.value for row in rows(text, "train.json")[1]] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"a": 1}, {"a": 2}', "the file ends before its array does"),
        ('[{"a": 1} {"a": 2}]', "a comma is missing between two rows"),
        ('[{"a": 1},]', "a comma stands before the closing bracket"),
        ('[{"a": 1}]]', "text follows the array"),
        ('[{"a": 1}, {"a" 2}, {"a": 3}]' + " " * 80, "a colon is missing"),
    ],
)
def test_a_broken_array_ends_there(rows, text, says):
    _, found = rows(text, "train.json")
    assert found[0].value == {"a": 1}
    assert found[-1].fault == says


@given(st.lists(VALUES, max_size=5), st.integers(1, 40), st.booleans())
def test_rows_of_an_array_do_not_depend_on_how_it_is_read(tmp_path_factory, values, block, ascii_only):
    path = tmp_path_factory.mktemp("array") / "train.json"
    path.write_text(json.dumps(values, ensure_ascii=ascii_only, indent=1), "utf-8", errors="surrogatepass")
    found = []
    for size in (block, array.BLOCK):
        with path.open("rb") as file:
            found.append(list(read_array(file, Source(str(path), str(path), unheard), size)))
    assert found[0] == found[1]
    if not any(row.fault for row in found[0]):
        assert [row.value for row in found[0]] == values


@given(st.binary(max_size=300), st.integers(1, 16))
def test_any_bytes_are_read_to_their_end_and_alike(tmp_path_factory, data, block):
    path = tmp_path_factory.mktemp("bytes") / "train.json"
    path.write_bytes(b"[" + data)
    found = []
    for size in (block, array.BLOCK):
        with path.open("rb") as file:
            found.append(list(read_array(file, Source(str(path), str(path), unheard), size)))
    assert found[0] == found[1]
    _, rows = _read(path.rename(path.with_suffix(".jsonl")))
    assert [row.line for row in rows] == sorted(row.line for row in rows)
    assert {row.line for row in rows} <= set(range(1, data.count(b"\n") + 2))


def test_rows_before_a_byte_that_is_no_text_are_read(tmp_path):
    path = tmp_path / "train.json"
    path.write_bytes(b'[{"a": 1},\n{"a": 2},\n\x80{"a": 3}]')
    with path.open("rb") as file:
        rows = list(read_array(file, Source(str(path), str(path), unheard)))
    assert [(row.line, row.value, row.fault) for row in rows] == [
        (1, {"a": 1}, ""),
        (2, {"a": 2}, ""),
        (3, None, "the byte 0x80 is not valid UTF-8"),
    ]


@given(st.lists(VALUES, max_size=8))
def test_lines_hold_what_was_written(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("lines") / "train.jsonl"
    path.write_text('{"first": 1}\n' + "".join(json.dumps(value) + "\n" for value in values), "utf-8")
    _, rows = _read(path)
    assert [row.value for row in rows] == [{"first": 1}, *values]


@pytest.mark.parametrize("name", ["train.jsonl", "train.json", "train.parquet"])
def test_a_compressed_file_is_left_alone(rows, name):
    source, found = rows(gzip.compress(b'{"a": 1}\n' * 1000), name)
    assert found == []
    assert "compressed (gzip)" in source.unread
    assert not source.refused


def test_utf_16_is_told(rows):
    _, found = rows('{"a": 1}\n'.encode("utf-16"))
    assert [row.fault for row in found] == ["the file is UTF-16, not UTF-8"]


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "link"])
def test_what_is_no_file_is_not_opened(tmp_path, monkeypatch, kind):
    inside = tmp_path / "project"
    inside.mkdir()
    monkeypatch.chdir(inside)
    if kind == "pipe":
        os.mkfifo("train.jsonl")
    elif kind == "folder":
        (inside / "train.jsonl").mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind("train.jsonl")
    else:
        (tmp_path / "secret.jsonl").write_text('{"a": 1}\n')
        (inside / "train.jsonl").symlink_to(tmp_path / "secret.jsonl")
    source, found = _read("train.jsonl")
    assert found == []
    assert source.refused
    assert kind in source.unread


def test_a_link_within_the_project_is_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "train.jsonl").symlink_to("rows.jsonl")
    assert [row.value for row in _read("train.jsonl")[1]] == [{"a": 1}]


def test_names_are_checked_before_anything_is_read(tmp_path):
    (tmp_path / "train.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match=r"no such file"):
        files([str(tmp_path / "train.jsonl")])
    with pytest.raises(ValueError, match=r"rows are read from \.jsonl"):
        files([str(tmp_path / "train.csv")])


def test_progress_adds_up_to_the_size(tmp_path):
    path = tmp_path / "train.jsonl"
    path.write_text('{"a": 1}\n' * 100_000)
    told = []
    _, rows = read(str(path), told.append)
    assert sum(1 for _ in rows) == 100_000
    assert sum(told) == path.stat().st_size
    assert len(told) > 2


@pytest.mark.parametrize(("amount", "every"), [(0, 1), (10, 1), (11, 2), (20, 2), (21, 4), (40, 4), (41, 8)])
def test_a_sample_is_one_in_a_power_of_two(amount, every):
    assert sampling(amount, 10) == every


def test_many_rows_are_sampled_by_their_content(rows, monkeypatch):
    monkeypatch.setattr(lines, "ROWS", 100)
    monkeypatch.setattr(lines, "_FIRST", 0)
    text = "".join(json.dumps({"a": number % 200}) + "\n" for number in range(400))
    source, found = rows(text)
    assert (source.total, source.every) == (400, 4)
    assert 40 < len(found) < 200
    met = [row.value["a"] for row in found]
    assert sorted(met) == sorted(list(set(met)) * 2)  # both copies of a row, or none
    again = rows("".join(sorted(text.splitlines(keepends=True))))[1]
    assert sorted(row.value["a"] for row in again) == sorted(met)


def test_the_first_rows_are_looked_at_in_any_case(rows, monkeypatch):
    monkeypatch.setattr(lines, "ROWS", 2000)
    source, found = rows('{"a": 1}\n' * 8000)
    assert source.total == 8000
    assert len(found) in (1000, 8000)


def test_a_long_array_is_thinned_as_it_goes(rows, monkeypatch):
    monkeypatch.setattr(array, "ROWS", 50)
    source, found = rows(json.dumps([{"a": number} for number in range(1000)]), "train.json")
    assert source.total == 1000
    assert [row.number for row in found[:50]] == list(range(1, 51))
    assert 150 < len(found) < 300
    assert found[-1].number > 900
    twice = rows(json.dumps([{"a": number % 500} for number in range(1000)]), "train.json")[1]
    assert twice[:50] == found[:50]


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "train.parquet"
    parquet.write_table(pa.table({"instruction": ["a", "b"], "output": ["c", None]}), path)
    _, found = _read(path)
    assert [row.value for row in found] == [{"instruction": "a", "output": "c"}, {"instruction": "b", "output": None}]
    assert [row.number for row in found] == [1, 2]
    path.write_bytes(path.read_bytes()[:-30])
    assert [row.fault for row in _read(path)[1]] == ["it is no whole Parquet file"]


def test_a_parquet_file_that_unpacks_to_gigabytes_takes_little_memory(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "train.parquet"
    long = pa.array(["x" * 1_000_000] * 300)
    parquet.write_table(pa.table({"text": long}), path, compression="zstd")
    assert path.stat().st_size < 200_000
    source, found = _read(path)
    assert (len(found), source.unread) == (0, "some hundred rows of it unpack to more than 64 MiB")

    parquet.write_table(pa.table({"text": long.dictionary_encode()}), path, compression="zstd")
    source, rows = read(str(path), unheard)
    assert sum(len(row.value["text"]) for row in rows) == 300_000_000  # one at a time
    assert not source.unread

    nested = pa.ListArray.from_arrays([0, 300], long.dictionary_encode())
    parquet.write_table(pa.table({"text": nested}), path, compression="zstd")
    source, found = _read(path)
    assert (len(found), source.unread.split(",")[0]) == (0, "it shares values inside of lists or fields")
