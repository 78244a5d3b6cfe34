"""Notebooks: cells and lines as their user sees them, offsets in the file, shell lines, cells that are broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.source.document import Document
from loralint.source.python import read_script
from loralint.source.read import read_file


def notebook(*cells, **more):
    found = [{"cell_type": kind, "metadata": {}, "source": source} for kind, source in cells]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}, indent=1)


def read(text):
    return read_script(Document("n.ipynb", "notebook", text))


def code(*cells):
    return read(notebook(*(("code", cell) for cell in cells)))


def names(script):
    return [call.name for call in script.calls]


def lines(text):
    return text.splitlines(keepends=True)


@pytest.mark.parametrize("form", [str, lines])
def test_cells_are_one_program_and_places_are_those_of_the_cell(form):
    text = notebook(
        ("markdown", form("# Title")),
        ("code", form("import peft\n\nR = 8\nname = 'ä\\n\U0001f600'")),
        ("raw", form("x(")),
        ("code", form("c = peft.LoraConfig(\n  r=R, task_type=\"CAUSAL_LM\", x='\U0001f600', y=name)\n")),
    )
    script = read(text)
    call = script.calls[0]
    assert (call.name, call.span.cell, call.span.line, call.span.column) == ("peft.LoraConfig", 4, 1, 5)
    spans = [script.document.span(one.node) for one in call.args]
    assert [(span.cell, span.line, span.column) for span in spans] == [(2, 3, 5), (4, 2, 18), (4, 2, 33), (2, 4, 8)]
    written = [text[span.start : span.end] for span in spans]
    assert written == ["8", '\\"CAUSAL_LM\\"', "'\\ud83d\\ude00'", "'\\u00e4\\\\n\\ud83d\\ude00'"]
    assert [text[one.name_span.start : one.name_span.end] for one in call.args] == ["r", "task_type", "x", "y"]
    assert call.args[3].node.native == "ä\n\U0001f600"


def test_shell_lines_and_magics():
    script = code(
        "!pip install -q \\\n  peft==0.17 trl\n%pip install a\n%env WANDB=1\nfiles = !ls\n%cd work\n%load x\nf(1)",
        "if True:\n    !accelerate launch t.py --lr {lr} --out {a.b}/x\ng(2)\nx?\n?y\n%time h(3)",
        "%%bash\nexport A=1\npython t.py",
        "%%capture\ni(4)",
        "%%writefile c.yaml\nr: 8\n",
        "%%html\n<b>",
    )
    assert names(script) == ["f", "g", "h", "i"]
    assert [one.text for one in script.shell] == [
        "pip install -q \\\n  peft==0.17 trl",
        "pip install a",
        "    WANDB=1",
        "ls",
        "cd work",
        "accelerate launch t.py --lr $lr_ --out $a_b_/x",
        "\nexport A=1\npython t.py",
    ]
    assert [one.kind for one in script.shell] == ["line", "line", "magic", "line", "magic", "line", "cell"]
    place = script.places.span(script.shell[5].start, script.shell[5].start + 10)
    assert (place.cell, place.line, place.column) == (2, 2, 6)
    env = script.shell[2].start + len("    ")
    assert script.places.span(env, env + 5).column == 6
    assert [(one.name, one.text, script.places.span(one.start, one.start + 1).line) for one in script.files] == [
        ("c.yaml", "r: 8\n", 2)
    ]
    assert script.unread == ()


def test_magic_signs_that_are_python_stay():
    script = code('x = """\n! no shell\n% no magic\n"""\nf(x)\ny = (7\n % 4)\ng(y)')
    assert names(script) == ["f", "g"]
    assert script.calls[1].args[0].node.native == 3
    assert script.shell == ()


def test_a_broken_cell_is_left_out_and_told():
    script = code("f(1)", "this is no python\nx = (", "g(2)")
    assert names(script) == ["f", "g"]
    assert script.unread == ("cell 2: invalid syntax",)
    assert script.calls[1].span.cell == 3
    assert script.document.problems == []


def test_nbformat_3():
    cells = [{"cell_type": "code", "language": "python", "input": ["f(1)\n", "g(2)"], "outputs": []}]
    script = read(json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    assert names(script) == ["f", "g"]
    assert script.calls[1].span.line == 2


def test_the_rest_of_the_file_is_the_root():
    script = read(notebook(("code", "f()"), metadata={"colab": {"gpuType": "T4"}, "widgets": {"a": [1] * 9}}))
    root = script.document.root
    assert root.get("metadata").get("colab").get("gpuType").native == "T4"
    assert root.get("metadata").get("widgets") is None
    assert root.get("cells") is None


def test_other_languages_are_left_alone():
    script = read(notebook(("code", "x <- 1"), metadata={"kernelspec": {"language": "R", "name": "ir"}}))
    assert script.unread == ("a notebook of another language than Python",)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "syntax"),
        ("[]", "syntax"),
        ('{"cells": [', "syntax"),
        ('{"cells": {}}', "syntax"),
        ('{"cells": [3]}', "syntax"),
        ('{"cells": []} x', "syntax"),
        ('{"cells": [], "a": ' + "[" * 100_000, "too-deep"),
        ('{"cells": [{"outputs": ' + "[" * 100_000, "too-deep"),
    ],
)
def test_what_is_no_notebook_is_a_problem(text, kind):
    script = read(text)
    assert [problem.kind for problem in script.document.problems] == [kind]
    assert script.calls == ()


def test_empty_ones():
    for text in (
        "{}",
        '{"cells": []}',
        '{"cells": [{"cell_type": "code"}]}',
        notebook(("code", [])),
        notebook(("code", "")),
    ):
        script = read(text)
        assert (script.calls, script.document.problems) == ((), [])


def test_large_outputs_are_passed_over(tmp_path):
    cell = {"outputs": [{"data": {"image/png": "A" * 20_000_000}}], "cell_type": "code", "source": "f(1)"}
    file = tmp_path / "n.ipynb"
    file.write_text(json.dumps({"cells": [cell], "metadata": {}}), encoding="utf-8")
    document = read_file(str(file), "n.ipynb")
    script = read_script(document)
    assert (names(script), document.problems, document.format) == (["f"], [], "notebook")
    assert script.calls[0].span.start == file.read_text(encoding="utf-8").index("f(1)")


def test_a_notebook_saved_as_a_script():
    script = read_script("!pip install peft\nf(1)\n%cd work\n")
    assert names(script) == ["f"]
    assert script.shell == (("pip install peft", 1, "line"), ("cd work", 24, "magic"))


def test_lone_surrogates_and_line_ends():
    script = code("x = '\ud800'\r\nf(1, '\ud800', y=2)\rg(3)")
    assert [(call.name, call.span.line, call.span.column) for call in script.calls] == [("f", 2, 1), ("g", 3, 1)]
    assert script.calls[0].args[2].name_span.column == 11


@given(st.lists(st.lists(st.text(max_size=12), max_size=3), min_size=1, max_size=4))
def test_every_stretch_of_a_cell_is_found_in_the_file_and_back(cells):
    text = json.dumps({"cells": [{"cell_type": "code", "metadata": {}, "source": cell} for cell in cells]})
    places = read(text).places
    start = 0
    for cell in map("".join, cells):
        parts = places.parts(cell, start)
        assert "".join(part.text for part in parts) == cell
        at = start
        for part in parts:
            assert json.loads(f'"{text[part.start : part.end]}"') == part.text
            assert places.within(part.start) == at
            at += len(part.text)
        start += len(cell) + 1
