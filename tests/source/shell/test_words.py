"""Quotes, escapes, variables, arrays, arithmetic: what a program gets."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.model import Unknown
from loralint.source.document import Document
from loralint.source.shell import read_shell


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("python x 'a b' \"c d\" e\\ f", ["python", "x", "a b", "c d", "e f"]),
        ("python --a='q'\"r\"s", ["python", "--a=qrs"]),
        ("python \"a\\\"b\" 'a\\b' $'a\\nb'", ["python", 'a"b', "a\\b", "a\nb"]),
        ("python x \\\n  --a 1 \\\r\n  --b 2", ["python", "x", "--a", "1", "--b", "2"]),
        ('python "a\nb"', ["python", "a\nb"]),
        ("python x # --a 1", ["python", "x"]),
        ("python x > log 2>&1 &", ["python", "x"]),
        ("python '' \"\" x", ["python", "", "", "x"]),
        ("python é --ü=名", ["python", "é", "--ü=名"]),
    ],
)
def test_plain_words(words, text, wanted):
    assert words(text) == [wanted]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A=1\npython $A ${A} \"$A\" '$A' x$A", ["1", "1", "1", "$A", "x1"]),
        ("A='x y'\npython $A \"$A\"", ["x", "y", "x y"]),
        ('A=\npython $A "$A" b', ["", "b"]),
        ("A='--x 1  --y 2'\npython $A", ["--x", "1", "--y", "2"]),
        ('A="x "\npython a$A"b"', ["ax", "b"]),
        ("python ${A:-4} ${A-5}", ["4", "5"]),
        ("A=\npython ${A:-4} ${A-5} ${A:+6} z", ["4", "z"]),
        ("A=1\nB=$A$A\nA=2\npython $B $A", ["11", "2"]),
        ("A=(1 'a b')\nA+=(c)\npython \"${A[@]}\" ${A[1]} ${A[*]}", ["1", "a b", "c", "a", "b", "1", "a", "b", "c"]),
        ('A=(\n  x # no\n  y\n)\npython pre"${A[@]}"post', ["prex", "ypost"]),
        ("A=x\nA+=y\npython $A", ["xy"]),
        ("N=4\npython $((N * 2 + 1)) $((7/2)) $((2**10)) $(expr 16 / $N)", ["9", "3", "1024", "4"]),
        ("export A=1 B=2\ndeclare C=3\npython $A$B$C", ["123"]),
        ("A=1; B=2 C=3\npython $A$B$C", ["123"]),
        ("T=$(cat <<'EOF'\na $b\nEOF\n)\npython \"$T\"", ["a $b"]),
        ("read -r -d '' T <<EOF\n-m x \\\n --y 1\nEOF\npython $T", ["-m", "x", "--y", "1"]),
    ],
)
def test_variables(words, text, wanted):
    assert words(text)[-1][1:] == wanted


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python $HOME/x", "`$HOME` comes from the environment"),
        ("python $1", "an argument of the script"),
        ("python $(nproc)", "`$(nproc)` is worked out when it runs"),
        ("A=$(date)\npython $A", "`$(date)` is worked out when it runs"),
        ("read A\npython $A", "`$A` is read when it runs"),
        ("if test x; then A=1; else A=2; fi\npython $A", "`$A` is set in a branch"),
        ("while sleep 1; do A=2; done\npython $A", "`$A` is set in a loop"),
        ("A=abc\npython ${A%c}", "`${A%c}` is worked out when it runs"),
        ("A=4\npython $((A / 0))", "is worked out when it runs"),
        ("python $RANDOM", "known only when it runs"),
    ],
)
def test_what_only_the_run_knows_is_unknown_and_says_why(read, text, reason):
    _, shell = read(text)
    word = shell.commands[-1].words[1]
    assert isinstance(word.text, Unknown)
    assert reason in word.text.reason
    assert word.node.native == word.text


def test_a_word_keeps_what_is_known_of_it(read):
    _, shell = read("D=/data\npython --out=$D/$USER/x")
    assert shell.commands[0].words[1].raw == "--out=/data/${USER}/x"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("python --lr 1e-4", ["python", "--lr", "1e-4"]),
        ("LR=1e-4\npython --lr $LR", ["python", "--lr", "1e-4"]),
        ("LR='1e-4'\npython --lr \"$LR\"", ["python", "--lr", "1e-4"]),
        ("A='--lr 1e-4'\npython $A", ["python", "--lr", "1e-4"]),
        ('A=(--lr 1e-4)\npython "${A[@]}"', ["python", "--lr", "1e-4"]),
        ("LR=1e-4\npython --lr=$LR/x", ["python", "--lr=$LR/x"]),
        ("python 'é' \"名\" x", ["python", "'é'", '"名"', "x"]),
    ],
)
def test_places_are_where_the_value_is_given(placed, text, wanted):
    assert [place for _, place in placed(text)] == wanted


_PIECES = st.sampled_from(
    ["a", "B1", "--x", "=", "'q r'", '"s t"', "\\ ", "é", "/", ".", "-", "'", '"', "\\", " ", "名", "%", ","]
)


@given(st.lists(_PIECES, min_size=1, max_size=12))
def test_words_are_those_of_shlex(pieces):
    """On words without anything that a shell expands, the standard library's own splitter agrees."""
    text = "cmd x" + "".join(pieces)
    try:
        wanted = shlex.split(text)
    except ValueError:
        return
    document = Document("run.sh", "shell", text)
    shell = read_shell(document)
    assert [[word.text for word in command.words] for command in shell.commands] == [wanted]


@given(st.text(alphabet="ab$(){}[]'\"\\`<>|&;=#\n é-1", max_size=60))
def test_any_text_is_read_and_its_places_lie_in_it(text):
    document = Document("run.sh", "shell", text)
    shell = read_shell(document)
    for command in shell.commands:
        assert 0 <= command.start <= command.end <= len(text)
        for word in command.words:
            assert 0 <= word.node.start <= word.node.end <= len(text)
    for _, _, start, end in shell.faults:
        assert 0 <= start <= end <= len(text)
