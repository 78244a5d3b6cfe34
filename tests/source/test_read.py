from __future__ import annotations

import os
import re
import socket
import time
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loralint.source.limits import BYTES, DEPTH, HEAD
from loralint.source.read import read_bytes, read_file, read_text

KINDS = {
    *("unreadable", "too-large", "encoding", "syntax", "too-deep"),
    *("too-many-nodes", "too-many-aliases", "cyclic", "control-character"),
}


@pytest.mark.parametrize(
    ("shown", "text", "expected"),
    [
        ("a.yaml", "[1]", "yaml"),
        ("a.YML", "[1]", "yaml"),
        ("a.json", "a: 1", "json"),
        ("a.toml", "a: 1", "toml"),
        ("-", "a: 1", "yaml"),
        ("-", '# c\n\n{"a": 1}', "json"),
        ("-", "[1, 2]", "json"),
        ("-", "# c\n[general]\na = 1", "toml"),
        ("-", "[[datasets]] # c\n", "toml"),
        ("-", "lr = 1e-4\n", "toml"),
        ("-", "a.b = [1]\n", "toml"),
        ("-", "{{ x }}", "yaml"),
        ("-", "", "yaml"),
        ("train.conf", "a: b = 1\n", "yaml"),
    ],
)
def test_the_format_follows_the_suffix_or_the_text(shown, text, expected):
    assert read_bytes(text.encode(), shown).format == expected


def test_the_format_can_be_given():
    assert read_bytes(b"{}", "a.yaml", "json").format == "json"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark(encoding):
    doc = read_bytes("ü: 漢\nb: 1\n".encode(encoding), "a.yaml")
    assert doc.problems == []
    assert doc.text == "ü: 漢\nb: 1\n"
    assert (doc.root.get("ü").start, doc.root.get("b").line) == (3, 2)


@pytest.mark.parametrize(
    ("data", "line", "column", "words"),
    [
        (b"a: 1\nb: \xff\n", 2, 4, "0xff is not valid UTF-8"),
        ("ü: ü\nb: ".encode() + "ü\n".encode("latin-1"), 2, 4, "0xfc"),
        (b"\xff\xfea\x00\x00\xd8a\x00", 1, 2, "UTF-16"),
        (b"a: \xed\xa0\x80", 1, 4, "UTF-8"),
    ],
)
def test_bytes_that_are_no_text(data, line, column, words):
    doc = read_bytes(data, "a.yaml")
    [problem] = doc.problems
    assert (problem.kind, problem.span.line, problem.span.column) == ("encoding", line, column)
    assert words in problem.message
    assert doc.roots == []


@pytest.mark.parametrize(("name", "problems"), [("train.ps1", 0), ("train.bat", 0), ("train.yaml", 1)])
def test_a_script_of_windows_may_be_in_the_machines_code_page(name, problems):
    assert len(read_bytes("# 训练\npython train.py\n".encode("gbk"), name).problems) == problems


def test_line_breaks_are_kept():
    doc = read_bytes(b"a: 1\r\nb: 2\r\n", "a.yaml")
    assert (doc.text, doc.newline) == ("a: 1\r\nb: 2\r\n", "\r\n")
    assert read_bytes(b"a: 1\nb: 2\r\n", "a.yaml").newline == "\n"


def test_a_file_is_read_and_named_as_shown(tmp_path):
    path = tmp_path / "real.yaml"
    path.write_bytes(b"a: 1\n")
    doc = read_file(str(path), "conf/shown.yaml")
    assert (doc.file, doc.root.get("a").raw, doc.span(doc.root.get("a")).file) == (
        "conf/shown.yaml",
        "1",
        "conf/shown.yaml",
    )


def test_a_huge_file_is_not_read(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.write(b"base_model: x\n" + b"#" * HEAD)
        file.truncate(50 * 1024**3)
    started = time.perf_counter()
    doc = read_file(str(path), "huge.yaml")
    assert time.perf_counter() - started < 1
    assert [problem.kind for problem in doc.problems] == ["too-large"]
    assert len(doc.text) == HEAD
    assert doc.text.startswith("base_model: x\n")
    assert doc.roots == []


def test_the_limit_is_inclusive():
    text = b"a: " + b"x" * (BYTES - 3)
    assert read_bytes(text, "a.yaml").problems == []
    assert [problem.kind for problem in read_bytes(text + b"x", "a.yaml").problems] == ["too-large"]


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket.yaml"))
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    places = [str(tmp_path / name) for name in ("pipe.yaml", "socket.yaml", "folder.yaml", "loop.yaml", "none.yaml")]
    for path in [*places, "/dev/zero", "nul\0.yaml", "x" * 5000]:
        [problem] = read_file(path, "a.yaml").problems
        assert problem.kind == "unreadable"
        assert "Errno" not in problem.message
    assert "a pipe" in read_file(places[0], "a.yaml").problems[0].message
    assert "no such file" in read_file(places[4], "a.yaml").problems[0].message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1")
    path.chmod(0)
    assert "permission denied" in read_file(str(path), "a.yaml").problems[0].message


@settings(max_examples=400, deadline=None)
@given(
    st.binary(max_size=60) | st.text("a:-[]{}\"'|>&*!%#,?=\n\t ё\x85\ufeff.", max_size=40).map(str.encode),
    st.sampled_from(["yaml", "json", "toml"]),
)
@example(b"\xef\xbb\xbf", "json")
@example(b"\xff\xfe\x00", "toml")
@example(b"? ", "yaml")
@example(b"%YAML 9.9\n---\n", "yaml")
def test_reading_never_raises(data, suffix):
    for shown in (f"a.{suffix}", "-"):
        doc = read_bytes(data, shown)
        assert doc.comments() is not None
        for problem in doc.problems:
            assert problem.kind in KINDS
            assert problem.message.isprintable()
            assert 0 <= problem.span.start <= problem.span.end <= len(doc.text)
            assert not re.search(r"Traceback|Error\b|<unicode string>", problem.message)


def bomb(depth: int, width: int) -> str:
    lines = ["a0: &a0 x"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, depth)]
    return "\n".join(lines)


HOSTILE = [
    ("a.yaml", "[" * 100_000, "too-deep"),
    ("a.yaml", "{" * 100_000, "too-deep"),
    ("a.yaml", "- " * 100_000, "too-deep"),
    ("a.yaml", "? " * 100_000, "too-deep"),
    ("a.yaml", "[" * (DEPTH + 1) + "]" * (DEPTH + 1), "too-deep"),
    ("a.json", "[" * 100_000, "too-deep"),
    ("a.json", '{"a":' * 100_000, "too-deep"),
    ("a.toml", "a = " + "[" * 100_000, "too-deep"),
    ("a.toml", "a = " + "{a = " * 40_000, "too-"),
    ("a.toml", "a." * 120_000 + "a = 1", "too-deep"),
    ("a.toml", "a." * 120_000, "syntax"),
    ("a.toml", "a = [" + "1," * 120_000 + "]", "too-many-nodes"),
    ("a.toml", "[[a]]\n" * 20_000, ""),
    ("a.toml", "a = 1\n" * 900_000, "too-large"),
    ("a.yaml", "[" + "1," * 1_000_000 + "]", "too-many-nodes"),
    ("a.json", "[" + "1," * 1_000_000 + "1]", "too-many-nodes"),
    ("a.yaml", "---\n" * 500_000, "too-many-nodes"),
    ("a.yaml", bomb(9, 9), "too-many-aliases"),
    ("a.yaml", bomb(60, 2), "too-many-aliases"),
    ("a.yaml", bomb(120, 1), "too-deep"),
    (
        "a.yaml",
        "a: &a {" + ", ".join(f"k{n}: 1" for n in range(900)) + "}\n" + "b: [" + "{<<: *a}," * 200 + "]",
        "too-many-aliases",
    ),
    ("a.yaml", "a: &a\n  - *a\n", "cyclic"),
    ("a.yaml", "a: &a\n  <<: *a\n", "cyclic"),
    ("a.yaml", "".join(f"%TAG !t{n}! x\n" for n in range(120_000)) + "--- a\n", "too-many-nodes"),
    ("a.yaml", "a: " + "9" * 2_000_000, ""),
    ("a.json", "[" + "9" * 2_000_000 + "]", ""),
    ("a.json", "[1e" + "9" * 2_000_000 + "]", ""),
    ("a.yaml", "a: '" + "x" * 2_000_000, "syntax"),
    ("a.yaml", "a: " + "x" * 2_000_000, ""),
    ("a.yaml", "a: " + "x" * 50_000_000, "too-large"),
    ("a.yaml", "a: x\0y", "control-character"),
    ("a.json", '{"a": "\0"}', "control-character"),
    ("a.yaml", "a: |\n" + "\n" * 1_900_000, ""),
    ("a.yaml", " " * 2_000_000, ""),
    ("a.yaml", "#" * 2_000_000, ""),
    ("a.yaml", "a: &x # \n" * 200_000, "syntax"),
    ("a.yaml", "\u2028" * 600_000, ""),
    ("-", " " * 2_000_000, ""),
    ("-", "#\n" * 1_000_000, ""),
    ("-", "a" * 2_000_000, ""),
]


@pytest.mark.parametrize("text", ["a: \ud800", "# \udfff\na: 1\n", "\ud83d"])
def test_half_a_character_is_a_fault_at_its_place(text):
    doc = read_text(text, "a.yaml")
    assert [(one.kind, one.span.start) for one in doc.problems] == [
        ("control-character", next(at for at, one in enumerate(text) if "\ud800" <= one <= "\udfff"))
    ]


@pytest.mark.parametrize(
    ("shown", "text", "kind"), HOSTILE, ids=[f"{n}-{case[0]}-{case[2]}" for n, case in enumerate(HOSTILE)]
)
def test_hostile_input_is_cheap(shown, text, kind):
    data = text.encode()
    started = time.process_time()
    doc = read_bytes(data, shown)
    doc.comments()
    spent = time.process_time() - started
    kinds = [problem.kind for problem in doc.problems]
    assert [one for one in kinds if not one.startswith(kind)] == []
    assert bool(kinds) == bool(kind)
    assert spent < 5  # at most one on a usual machine; what grows with the square takes minutes


@pytest.mark.parametrize("case", [HOSTILE[0], HOSTILE[14], HOSTILE[15], HOSTILE[17], HOSTILE[18], HOSTILE[20]])
def test_hostile_input_takes_little_memory(case):
    data = case[1].encode()
    tracemalloc.start()
    read_bytes(data, case[0])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60 * 1024**2


def test_an_alias_bomb_costs_next_to_nothing():
    started = time.process_time()
    read_bytes(bomb(200, 9).encode(), "a.yaml")
    assert time.process_time() - started < 0.2
