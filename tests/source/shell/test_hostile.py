"""Texts that somebody wrote to make the reader hang, crash or fill the memory."""

from __future__ import annotations

import time

import pytest

from loralint.source.document import Document
from loralint.source.shell import read_shell

HOSTILE = {
    "substitutions": "$(" * 30_000,
    "closed substitutions": "$(" * 15_000 + "ls" + ")" * 15_000,
    "quoted substitutions": '"$(' * 20_000,
    "subshells": "(" * 60_000,
    "ifs": "if a; then " * 6000,
    "words": "a " * 30_000,
    "here-documents": "cat <<A " * 8000,
    "backquotes": "`2>&1" * 12_000,
    "arrays": "a=(" * 20_000,
    "arithmetic": "$((" * 20_000,
    "zeros": "\0" * 60_000,
    "pipes": "a|" * 30_000,
    "chain": "a && " * 12_000 + "a",
    "doubling": "a=xxxxxxxxxx\n" + 'a="$a$a"\n' * 200 + "python $a",
    "doubling arrays": "a=(x y)\n" + 'a=("${a[@]}" "${a[@]}")\n' * 100 + 'python "${a[@]}"',
    "itself": "f() { f; f; }\nf\n",
    "calls": "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }}\n" for i in range(60)) + "f0\n",
    "loops": "for a in 1 2 3 4 5 6 7 8 9 10; do " * 10 + "a; " + "done; " * 10,
    "eval itself": 'a="eval \\$a"\neval $a\n',
    "evals": 'x="python --a 1 "\n' + 'x="$x$x"\n' * 8 + "eval $x\n" * 300,
    "variables": "".join(f"export A{i}=1\n" for i in range(2000)) + "python\n" * 2000,
    "one line": "x" * 1_000_000,
    "faults": "--a 1\n" * 10_000,
    "dollars in a document": "cat > f <<EOF\n" + "$a " * 20_000 + "\nEOF\n",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["shell", "make", "powershell", "cmd"])
def test_it_ends(name, kind):
    text = HOSTILE[name].replace("python", "\tpython") if kind == "make" else HOSTILE[name]
    document = Document("run", kind, text)
    start = time.monotonic()
    shell = read_shell(document)
    assert time.monotonic() - start < 15  # 1 to 2 seconds on an idle machine
    assert sum(len(command.words) for command in shell.commands) < 200_000


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "#", "python \ud800 x", "\r\n\r\n", "a\x00b", "}", "fi", "EOF"])
def test_odd_texts(text):
    document = Document("run.sh", "shell", text)
    read_shell(document)
    assert document.problems == []


def test_what_is_too_large_is_said():
    document = Document("run.sh", "shell", "a " * 40_000)
    assert read_shell(document).commands == ()
    assert [problem.kind for problem in document.problems] == ["too-large"]
