"""What holds for all formats, whatever a config holds: each can be read back, and lifted findings stay lifted."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loralint.model import Edit, Finding, Fix, Note, Related, Report, Run, Span
from loralint.render import render

MACHINE = ("sarif", "junit", "github", "gitlab", "markdown")
COMMANDS = ("::error ", "::warning ", "::notice ")
HOSTILE = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="\0\x01\x1b\x85\xa0\u2028\u202e\ufeff\ufffe\uffff\ud800%:,;=\r\n\t[]#<>&\"'`|{}0\\", max_size=30),
    st.sampled_from(["\n::error::x", "##[error]x", "]]>", "</testcase>", "{0}", "%0A::set-env name=A::b", "a" * 5000]),
)


@st.composite
def reports(draw) -> Report:
    text, file = draw(HOSTILE), draw(HOSTILE.filter(lambda name: "\0" not in name)) or "f"
    start = draw(st.integers(0, len(text)))
    end = draw(st.integers(start, len(text)))
    cell = draw(st.sampled_from([None, 1]))
    finding = Finding(
        "LL101",
        draw(HOSTILE),
        draw(st.sampled_from("SAB")),
        f"{draw(HOSTILE)}: {draw(HOSTILE)}",
        draw(HOSTILE),
        Span(file, start, end, 1, 1, 1, 2, cell),
        draw(HOSTILE),
        draw(HOSTILE),
        "",
        draw(st.one_of(HOSTILE, st.floats(), st.lists(HOSTILE, max_size=2))),
        "set",
        (Related(file, 1, draw(HOSTILE), draw(HOSTILE), cell),),
        Fix(True, (Edit(file, start, end, draw(HOSTILE)),)),
    )
    lifted = finding._replace(rule="LL102", suppressed={"by": "inline", "reason": draw(HOSTILE)})
    notes = (Note("not-checked", draw(HOSTILE)), Note("info", draw(HOSTILE)))
    return Report((Run((file,), "trl", 0, "block", (finding, lifted), notes),), {file: text}, {(file, 1): text})


@settings(deadline=None, max_examples=200)
@given(reports())
def test_each_can_be_read_back(report):
    out = {name: render(name, report, color=False) for name in MACHINE}
    finding = report.runs[0].findings[0]
    results = json.loads(out["sarif"])["runs"][0]["results"]
    assert [len(one["suppressions"]) for one in results] == [0, 1]
    assert results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == (
        finding.fix.edits[0].text
    )
    (issue,) = json.loads(out["gitlab"])
    assert issue["check_name"].startswith("LL101")
    cases = ET.fromstring(out["junit"]).findall("testsuite/testcase")
    assert [case.find("skipped") is not None for case in cases] == [False, True]
    lines = out["github"].split("\n")
    assert [line for line in lines if line.lstrip().startswith("::") and not line.startswith(COMMANDS)] == []
    assert len([line for line in lines if line]) == 2
    assert "##[" not in out["github"]
    out |= {name: render(name, report, color=False) for name in ("full", "concise", "json")}
    assert json.loads(out["json"])["runs"][0]["findings"][0]["value"] is not ...
    for name in ("full", "concise", "json", *MACHINE):
        assert "##[" not in out[name], name
        assert name == "github" or not re.search(r"^\s*::", out[name], re.MULTILINE), name
        assert all(one.isprintable() or one == "\n" for one in out[name]), name


@pytest.mark.parametrize("name", ["concise", *MACHINE])
def test_a_finding_in_a_file_of_two_runs_is_told_once(name):
    span = Span("ds.json", 0, 1, 1, 1, 1, 2)
    finding = Finding("LL101", "n", "A", "m", "told-once", span, "k", "/k", "", None, "set")
    runs = tuple(Run((file, "ds.json"), "trl", 85, "review", (finding,)) for file in ("a.yaml", "b.yaml"))
    assert render(name, Report(runs), color=False).count("told-once") == 1


@pytest.mark.parametrize("name", ["full", "concise", "github", "gitlab"])
def test_what_is_lifted_is_not_told_where_a_format_has_no_word_for_it(name):
    span = Span("f.yaml", 0, 1, 1, 1, 1, 2)
    lifted = {"by": "inline", "reason": ""}
    finding = Finding("LL101", "n", "A", "m", "lifted", span, "k", "/k", "", None, "set", suppressed=lifted)
    assert "lifted" not in render(name, Report((Run(("f.yaml",), "trl", 100, "pass", (finding,)),)), color=False)
