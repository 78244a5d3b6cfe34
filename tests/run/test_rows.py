from __future__ import annotations

import os

import pytest

from loralint.run import rows

HEAD = "base_model: a/b\nadapter: lora\nlora_r: 16\nlora_alpha: 32\nlearning_rate: 2e-4\ndatasets:\n"


@pytest.fixture
def counted(assembled, tmp_path):
    """counted("a.jsonl", ...) -> the number of rows that a config naming these datasets is taken to have."""

    def count(*names, **options):
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        entries = "".join(f"  - path: {name}\n    type: chat_template\n" for name in names)
        return assembled(HEAD + entries, "run/config.yaml", **options).config.get("run.rows")

    return count


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n   \n{"a": 3}', encoding="utf-8")
    (tmp_path / "run" / "sub").mkdir()
    (tmp_path / "run" / "sub" / "b.jsonl").write_bytes(b'{"a": 1}\r\n{"a": 2}\r\n')
    (tmp_path / "outside.jsonl").write_text("{}\n" * 9, encoding="utf-8")
    return tmp_path / "run"


def test_lines_that_are_not_empty_are_rows(folder, counted):
    value = counted("a.jsonl")
    assert (value.value, value.origin, value.source) == (3, "companion", "counted")
    assert [read.field for read in value.reads] == ["data.datasets"]


def test_datasets_add_up(folder, counted):
    assert counted("a.jsonl", "sub/b.jsonl", "./a.jsonl").value == 8


def test_what_the_caller_says_wins(folder, counted):
    assert (counted("a.jsonl", rows=100).value, counted("a.jsonl", rows=100).origin) == (100, "option")


@pytest.mark.parametrize(
    "name",
    [
        "tatsu-lab/alpaca",
        "missing.jsonl",
        "../outside.jsonl",
        "/etc/passwd.jsonl",
        "a.parquet",
        "sub",
        '"a\\0.jsonl"',
        "a" * 5000 + ".jsonl",
    ],
)
def test_one_dataset_that_cannot_be_counted_leaves_the_sum_unknown(folder, counted, name):
    assert counted(name).origin == "absent"
    assert counted("a.jsonl", name).origin == "absent"


def test_a_link_out_of_the_folder_is_not_followed(folder, counted):
    (folder / "link.jsonl").symlink_to(folder.parent / "outside.jsonl")
    (folder / "out").symlink_to(folder.parent)
    (folder / "inside.jsonl").symlink_to(folder / "a.jsonl")
    assert counted("link.jsonl").origin == "absent"
    assert counted("out/outside.jsonl").origin == "absent"
    assert counted("inside.jsonl").value == 3


def test_a_pipe_is_not_opened(folder, counted):
    os.mkfifo(folder / "pipe.jsonl")
    assert counted("pipe.jsonl").origin == "absent"


def test_large_files_are_not_counted(folder, counted):
    with open(folder / "large.jsonl", "wb") as file:
        file.truncate(rows.MAX_BYTES + 1)
    assert counted("large.jsonl").origin == "absent"


def test_many_files_are_bounded_together(folder, counted):
    with open(folder / "half.jsonl", "wb") as file:
        file.truncate(rows.MAX_BYTES // 2 + 1)
    assert counted("half.jsonl", "half.jsonl").origin == "absent"


def test_a_template_is_not_a_name(folder, counted):
    assert counted('"${DATA}.jsonl"').origin == "absent"
