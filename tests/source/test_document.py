from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from loralint.model import Span
from loralint.source.document import Lines
from loralint.source.read import read_bytes


@given(st.text("ab\r\n\u2028é", max_size=30))
def test_places_count_lines_as_an_editor_does(text):
    lines = Lines(text)
    line = column = 1
    for offset, character in enumerate(text):
        assert lines.place(offset) == (line, column)
        if character == "\n" or (character == "\r" and text[offset + 1 : offset + 2] != "\n"):
            line, column = line + 1, 1
        else:
            column += 1
    assert lines.place(len(text)) == (line, column)


def test_span_is_the_models_record():
    doc = read_bytes("é: 1\nk: 'x\n  y'\n".encode(), "a.yaml")
    assert doc.span(doc.root.get("k")) == Span("a.yaml", 8, 15, 2, 4, 3, 5)
    assert doc.span_at(0, 1) == Span("a.yaml", 0, 1, 1, 1, 1, 2)


def test_a_yaml_file_loads_nothing_but_yaml_and_the_standard_library():
    code = (
        "import sys, click, yaml, inspect; before = set(sys.modules)\n"
        "from loralint.source.read import read_bytes\n"
        "from loralint.source.scalars import plain\n"
        "from loralint.source.secrets import redact\n"
        "from loralint.source.clean import clean\n"
        "doc = read_bytes(b'a: [1, x]', 'a.yaml'); plain(doc.root, 'pyyaml'); doc.comments(); clean(redact('x'))\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('loralint')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert loaded in ([], ["_bisect", "bisect"])
