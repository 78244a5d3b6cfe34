# ruff: noqa: RUF001 - dashes of a word processor are what this is about
"""What a shell takes otherwise than it looks, each at its place, and what looks like it and is right."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "kind", "at"),
    [
        ("a x \\\n  --b 1\n  --c 2\n", "continuation", "--c"),
        ("a x\n  --b=1\n", "continuation", "--b=1"),
        ("a x \\ \n  --b 1\n", "continuation", "--b"),
        ("a x \\  --b 1 \\  --c 2\n", "continuation", "\\"),
        ("a --b 1 \\ \n  src/train.py --c 2\n", "continuation", "src/train.py"),
        ("a x \\\n  # note\n  --b 1\n", "continuation", "--b"),
        ("a x\n  data.y=1 data.z=2\n", "continuation", "data.y=1"),
        ("a --b 1\\\n--c 2\n", "continuation", "\\\n"),
        ("A=0,1\\\nB=2 a\n", "continuation", "\\\n"),
        ("a --b= c --d 1\n", "empty-value", "--b= c"),
        ("a –b 1\n", "typographic", "–b"),
        ("a –-b 1\n", "typographic", "–-b"),
        ("a —b 1\n", "typographic", "—b"),
        ("a “b” 1\n", "typographic", "“b”"),
        ("N = 4\na --b $N\n", "assignment", "N = 4"),
        ('a --x "b\n', "unterminated", '"'),
        ("a --x 'b\n", "unterminated", "'"),
        ("cat > f <<EOF\nx: 1\n  EOF\n", "unterminated", "<"),
        ("A='--x 1 \\\n  --y'\na $A\n", "held", "$A"),
        ('A="--x 1 \\ \n  --y"\na $A\n', "held", "$A"),
        ('a --d="c:\\x\\" --e=1 --f="c:\\x\\" --g="1"\n', "quote", '--d="c:\\x\\"'),
        ('a --d "c:\\x\\" --e 1 --f "y"\n', "quote", '"c:\\x\\"'),
        ("read -r -d '' A <<EOF\nb \\ \n  --y\nEOF\na $A\n", "held", "$A"),
    ],
)
def test_faults(read, text, kind, at):
    document, shell = read(text)
    assert [(one[0], document.text[one[2] : one[3]]) for one in shell.faults] == [(kind, at)]


@pytest.mark.parametrize(
    "text",
    [
        "a x \\\n  --b 1 \\\n  --c 2\n",
        "a x\nsrc/train.py --c 2\n",
        "a x \\\n  --b 1 \\\n\nb y\n",
        "a x \\\n  --b \"it – “is”\" \\\n  --c 'q\n  --r s'\n",
        "a --b= --c 1\n",
        'a --b="" c\n',
        "a --prefix= \n",
        "# a \\\n# --b\na x\n",
        "cat > f <<EOF\n--x 1\n  --y\nEOF\na\n",
        'A="--x \\\n  --y"\na $A\n',
        "A='--x \\\n  --y'\nbash -c \"a $A\"\n",
        "A='--x \\\n  --y'\na \"$A\"\n",
        "a 5–6\n",
        "a x\n\n--b 1\n",
        "a --b=<c> d\n",
        "test $A = 4\n[ A = 4 ]\n",
        "a x ...\n  --b 1\n",
    ],
)  # fmt: skip
def test_what_is_right(read, text):
    _, shell = read(text)
    assert shell.faults == ()


def test_lines_that_were_lost_together_are_one_fault(read):
    _, shell = read("a x\n --b 1\n --c 2\n --d\n\na y\n --e\n")
    assert [one[1].split("`")[1] for one in shell.faults] == ["--b", "--e"]


@pytest.mark.parametrize(("text", "why"), [
    ("a\n --b", "no backslash at its end"),
    ("a \\\t\n --b", "a blank stands behind"),
    ("a \\\n # c\n --b", "comment line"),
])  # fmt: skip
def test_the_cause_is_named(read, text, why):
    _, shell = read(text)
    assert why in shell.faults[0][1]
