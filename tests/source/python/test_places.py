"""Places in code points, whatever stands before them; and texts that are no program."""

import pytest

from loralint.source.document import Document
from loralint.source.python import might_train, read_script
from loralint.source.read import read_bytes


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", "# ä\U0001f600\n", "x = 'ä\U0001f600'; ", "\x0c\n\x0c", 's = """\nä\n"""\n'])
def test_spans_are_exact(newline, before):
    text = (before + "f(r=8, é='ä\U0001f600', z='x')  # ä").replace("\n", newline)
    script = read_script(text)
    call = script.calls[0]
    assert text[call.span.start : call.span.end] == "f(r=8, é='ä\U0001f600', z='x')"
    assert [text[one.node.start : one.node.end] for one in call.args] == ["8", "'ä\U0001f600'", "'x'"]
    assert [text[one.name_span.start : one.name_span.end] for one in call.args] == ["r", "é", "z"]
    span = script.document.span(call.args[2].node)
    assert (span.line, span.column) == script.document.lines.place(span.start)


def test_the_name_of_a_call_is_its_last_part():
    text = "a.b(1).c(\n  x=1)"
    call = read_script(text).calls[1]
    assert text[call.name_span.start : call.name_span.end] == "c"


def test_a_byte_order_mark_counts_for_nothing():
    document = read_bytes(b"\xef\xbb\xbff(1)", "t.py")
    assert document.format == "python"
    assert read_script(document).calls[0].span.column == 1
    assert read_script("\ufefff(1)").calls[0].span.column == 1


def test_calls_within_f_strings_stand_at_the_string():
    text = "print(f'{g(1)} {x.y(a=2)!r:>{w()}}')"
    calls = {call.name: text[call.span.start : call.span.end] for call in read_script(text).calls}
    assert calls["g"] == calls["x.y"] == calls["w"] == "f'{g(1)} {x.y(a=2)!r:>{w()}}'"


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("f(\n1", "syntax", 1),
        ("a = 1\nb = = 2", "syntax", 2),
        ("a\0b", "control-character", 1),
        ("x = 1\n  y = 2", "syntax", 2),
    ],
)
def test_what_python_does_not_take_is_a_problem_at_its_place(text, kind, line):
    document = Document("t.py", "python", text)
    assert read_script(document).calls == ()
    assert [(problem.kind, problem.span.line) for problem in document.problems] == [(kind, line)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("print 'x'\n", "written for Python 2"),
        ("try:\n  pass\nexcept E, e:\n  pass", "written for Python 2"),
        ("lr = {% raw %}", "a template: its places must be filled in before it is Python"),
        ("lr = ${LR}", "a template: its places must be filled in before it is Python"),
        ("def f[T](x[0]): pass", "perhaps written for a newer Python than the one that reads it"),
    ],
)
def test_other_languages_are_no_problem_but_told(text, reason):
    document = Document("t.py", "python", text)
    script = read_script(document)
    assert (script.unread, document.problems) == ((reason,), [])


def test_a_document_that_could_not_be_read_stays_so():
    document = read_bytes(b"x = '\xff'", "t.py")
    assert read_script(document).calls == ()
    assert [problem.kind for problem in document.problems] == ["encoding"]


def test_words_are_looked_for():
    assert might_train("from peft import x", ("peft", "trl"))
    assert not might_train("import os", ("peft", "trl"))
