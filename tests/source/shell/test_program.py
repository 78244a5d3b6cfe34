"""Statements in order: branches, loops, functions, texts inside texts, folders and variables that programs get."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a 1; b 2\nc 3", [["a", "1"], ["b", "2"], ["c", "3"]]),
        ("a 1 && b 2 || c 3", [["a", "1"], ["b", "2"], ["c", "3"]]),
        ("a | b | c", [["a"], ["b"], ["c"]]),
        ("(a; b) &\n{ c; }", [["a"], ["b"], ["c"]]),
        ("for x in 1 2; do a $x; done", [["a", "1"], ["a", "2"]]),
        ('L=(1 2)\nfor x in "${L[@]}"; do a $x; done', [["a", "1"], ["a", "2"]]),
        ("for x in $(ls); do a $x; done", [["a", None]]),
        ("for x in *.yaml; do a $x; done", [["a", None]]),
        ("for ((i=0; i<3; i++)); do a $i; done", [["a", None]]),
        ('f() { a "$@" --k $1; }\nf 1 2', [["a", "1", "2", "--k", "1"]]),
        ("function f { a $X; }\nX=1\nf", [["a", "1"]]),
        ("f() { a; }", []),
        ('if [ -z "$N" ]; then N=4; fi\na $N', [["a", "4"]]),
        ('N=8\nif [ -z "$N" ]; then N=4; fi\na $N', [["a", "8"]]),
        ('M=x\nif [ "$M" = x ]; then a 1; else a 2; fi', [["a", "1"]]),
        ("N=2\nif [[ $N -gt 1 ]]; then a 1; elif true; then a 2; fi", [["a", "1"]]),
        ('if [ "$1" = x ]; then a 1; else a 2; fi', [["a", "1"], ["a", "2"]]),
        ("case $1 in x) a 1;; *) a 2;; esac", [["a", "1"], ["a", "2"]]),
        ("a 1\nexit 0\na 2", [["a", "1"]]),
        ('if [ -z "$X" ]; then exit 1; fi\na 1', [["a", "1"]]),
        ("sudo -E env A=1 nohup time a 1 &", [["a", "1"]]),
        ("timeout -k 5 2h a 1", [["a", "1"]]),
        ("exec a 1", [["a", "1"]]),
        ("bash -c 'a 1; b 2'", [["a", "1"], ["b", "2"]]),
        ('X=3\nbash -lc "a $X"', [["a", "3"]]),
        ("srun -n 2 bash -c 'a 1'", [["srun", "-n", "2", "a", "1"]]),
        ("C=\"a --x 'p q'\"\neval $C", [["a", "--x", "p q"]]),
        ('C="a --x 1"\n$C --y', [["a", "--x", "1", "--y"]]),
        ("set -- 1 2\nshift\na $1", [["a", "2"]]),
        ("bash <<'EOF'\na 1\nEOF", [["a", "1"]]),
        ("! a 1", [["a", "1"]]),
    ],
)  # fmt: skip
def test_commands(words, text, wanted):
    assert words(text) == wanted


def test_flags_added_in_a_branch_leave_the_others_known(words):
    text = 'A=(a --x 1)\nif test y; then A+=(--z); fi\n"${A[@]}" --w\n'
    assert words(text)[-1] == ["a", "--x", "1", None, "--w"]
    assert words('B="--x 1"\nif test y; then B="$B --z"; fi\na $B --w\n')[-1] == ["a", "--x", "1", None, "--w"]


def test_texts_that_are_put_together_lead_back_to_their_pieces(placed):
    text = 'LR=1e-4\nCMD="a --lr $LR"\nCMD="$CMD --r 8"\neval $CMD\n'
    assert placed(text) == [("a", "a"), ("--lr", "--lr"), ("1e-4", "1e-4"), ("--r", "--r"), ("8", "8")]


def test_a_command_in_a_branch_is_not_sure(read):
    _, shell = read("a\nif test x; then b; fi\nc || d\n[ -f y ] && e\n")
    assert {command.words[0].raw: command.sure for command in shell.commands} == {
        "a": True, "b": False, "c": True, "d": False, "e": False,
    }  # fmt: skip


def test_a_program_gets_what_is_exported_and_its_own(read):
    _, shell = read("export A=1\nB=2\nexport B\nC=3\nA=9 D=4 a\nunset B\nb\n")
    env = [{one.name: one.word.text for one in command.env} for command in shell.commands]
    assert env == [{"B": "2", "A": "9", "D": "4"}, {"A": "1"}]


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("a", ""), ("cd x\na", "x"), ("cd x/y && a", "x/y"), ("cd x; cd ..\na", ""), ("cd /abs\na", None),
        ("cd $X\na", None),
        ("(cd x)\na", ""), ("cd ./x\na", "x"), ("if test q; then cd x; fi\na", None),
        ("cd ..\na", None),
    ],
)  # fmt: skip
def test_folders(read, text, folder):
    _, shell = read(text)
    assert shell.commands[-1].folder == folder


def test_files_that_the_script_writes(read):
    document, shell = read(
        "cat > c.yaml <<'EOF'\na: $x\nb: 1\nEOF\ntee -a d.yaml <<EOF\nq: 2\nEOF\ncat <<EOF > e\n\n  y\nEOF\n"
    )
    assert [(one.name, one.text) for one in shell.files] == [
        ("c.yaml", "a: $x\nb: 1\n"),
        ("d.yaml", "q: 2\n"),
        ("e", "\n  y\n"),
    ]
    assert all(document.text[one.start :].startswith(one.text) and not one.moves for one in shell.files)
    assert shell.commands == ()


def test_variables_in_a_file_are_filled_in_and_its_places_are_kept(read):
    document, shell = read("LR=1e-4\ncat > c.yaml <<EOF\nlr: $LR\nr: 8\nh: $HOME\nEOF\n")
    (file,) = shell.files
    assert file.text == "lr: 1e-4\nr: 8\nh: ${HOME}\n"
    at = file.text.index("r: 8")
    begin, real = next(one for one in reversed(file.moves) if one[0] <= at)
    assert document.text[real + at - begin :].startswith("r: 8")


def test_documents_of_a_command(read):
    document, shell = read("python - <<'EOF'\nimport x\nEOF\n")
    ((text, start),) = shell.commands[0].documents
    assert text == "import x\n"
    assert document.text[start:].startswith(text)


def test_a_part_of_another_file_is_read_at_its_place():
    from loralint.source.document import Document
    from loralint.source.shell import read_shell

    document = Document("nb.ipynb", "notebook", "x = 1\n!python a.py --lr 1\n")
    shell = read_shell(document, "python a.py --lr 1", 7)
    assert document.text[shell.commands[0].words[2].node.start :].startswith("--lr")


@pytest.mark.parametrize(
    ("before", "rate"),
    [
        ('while getopts "l:" o; do case $o in l) LR=$OPTARG;; esac; done', "5"),
        ('while [[ $# -gt 0 ]]; do case "$1" in --lr) LR="$2"; shift 2;; *) shift;; esac; done', "5"),
        ("while (( $# )); do LR=$1; shift; done", "5"),
        ('while [ -n "$1" ]; do LR=$1; shift; done', "5"),
        ('for one in "$@"; do LR="${one#*=}"; done', "5"),
        ("if [ $# -gt 0 ]; then LR=$1; fi", "5"),
        ('if [ -z "$1" ]; then LR=6; else LR=$1; fi', "6"),
        ('[ -n "${1}" ] && LR=$1', "5"),
        ("if [ $# -ne 1 ]; then echo usage; exit 1; fi", "5"),
        # what goes through something else than the arguments may well happen
        ("while [ $N -lt 3 ]; do LR=$N; done", None),
        ("for one in 1 $more; do LR=$one; done", None),
        ('if [ "$1" = lora ]; then LR=7; fi', None),
        ("set -- 8\nwhile [ $# -gt 0 ]; do LR=$1; shift; done", None),
        ("take() { if [ $# -gt 0 ]; then LR=$1; fi; }\ntake 9", "9"),
    ],
)
def test_nobody_is_seen_to_give_a_script_its_arguments(words, before, rate):
    assert words(f"LR=5\n{before}\ntrain $LR")[-1] == ["train", rate]
