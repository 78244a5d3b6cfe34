from __future__ import annotations

import json

import pytest

from loralint.model import Finding, Report, Run, Span, Table
from loralint.render import render

AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_aplha: 32\n"
    "lora_target_linear: true\nlearning_rate: 2e-4\n"
)


def _finding(number: int = 0, **given) -> Finding:
    span = Span("f.yaml", number, number + 1, number + 1, 1, number + 1, 2)
    finding = Finding("LL1", "n", "A", "m: c", "h", span, f"k{number}", f"/k{number}", "", None, "set")
    return finding._replace(**given)


def _lines(*findings: Finding, **given) -> list[str]:
    report = Report((Run(("f.yaml",), "trl", 85, "review", findings),), **given)
    return render("github", report, color=True).splitlines()


def _obeyed(line: str) -> tuple[str, dict[str, str], str] | None:
    """What a runner takes from a line: command, properties and data, as it documents them."""
    if not line.lstrip().startswith("::"):
        return None
    head, _, data = line.lstrip()[2:].partition("::")
    name, _, properties = head.partition(" ")
    pairs = dict(one.split("=", 1) for one in properties.split(",") if one)
    return name, {key: _decoded(value) for key, value in pairs.items()}, _decoded(data)


def _decoded(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def test_an_annotation(report_on):
    report = report_on(AXOLOTL, select_rules=["LL101"])
    finding = report.runs[0].findings[0]
    effect, _, cause = finding.message.partition(": ")
    first, last = render("github", report, color=False).splitlines()
    assert _obeyed(first) == (
        "warning",
        {"file": "config.yaml", "line": "5", "endLine": "5", "col": "1", "endColumn": "11",
         "title": "LL101 misspelt-key"},
        f"[A] {effect}\nwhy: {cause}\nhelp: {finding.help}",
    )  # fmt: skip
    assert last == "::notice title=loralint::1 run; 1 review; 1 A"


def test_tiers_are_levels_and_the_worst_stands_first():
    lines = _lines(*(_finding(number, tier=tier) for number, tier in enumerate("BAS")))
    assert [_obeyed(line)[0] for line in lines] == ["error", "warning", "notice", "notice"]


def test_what_github_would_not_show_is_counted_and_printed():
    lines = _lines(*(_finding(number, tier="SAB"[number % 3]) for number in range(60)))
    commands = [_obeyed(line) for line in lines if _obeyed(line)]
    assert [sum(one[0] == level for one in commands) for level in ("error", "warning", "notice")] == [10, 10, 10]
    assert commands[-1][2].startswith("1 run; 1 review; 20 S; 20 A; 20 B; 31 of the findings only in the log below")
    plain = [line for line in lines if not _obeyed(line)]
    assert len(plain) == 31
    assert plain[0] == "[S] f.yaml:31 LL1 m: c; h"


def test_what_is_lifted_is_not_annotated():
    assert _lines(_finding(suppressed={"by": "inline", "reason": ""})) == ["::notice title=loralint::1 run; 1 review"]


@pytest.mark.parametrize(
    "hostile", ["\n::error::x", "\r\n::set-env name=A::b", "a,file=b::c", "##[error]x", "100%0A::x"]
)
def test_no_value_becomes_a_command(hostile):
    span = Span(f"{hostile}.yaml", 0, 1, 1, 1, 1, 2)
    many = [_finding(number, message=f"{hostile}: {hostile}", help=hostile, name=hostile) for number in range(15)]
    lines = _lines(_finding(message=hostile, help=hostile, name=hostile, span=span), *many)
    assert not any("##[" in line for line in lines)
    commands = [_obeyed(line) for line in lines]
    assert {one[0] for one in commands if one} == {"warning", "notice"}
    assert {key for one in commands if one for key in one[1]} == {
        "file",
        "line",
        "endLine",
        "col",
        "endColumn",
        "title",
    }
    assert len([one for one in commands if one]) == 11


def test_a_notebook_is_annotated_at_the_line_of_the_file(report_on):
    code = ["from transformers import TrainingArguments, Trainer\n", "args = TrainingArguments('o', bf16=True)\n",
            "Trainer(model=None, args=args).train()\n"]  # fmt: skip
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": code}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    report = report_on(text, "n.ipynb", gpu="T4", select_rules=["LL214"])
    _, properties, data = _obeyed(render("github", report, color=False).splitlines()[0])
    assert "bf16" in text.split("\n")[int(properties["line"]) - 1]
    assert data.split("\n")[1] == "cell 1, line 2"


def test_standard_input_is_no_file():
    span = Span("<stdin>", 0, 1, 1, 1, 1, 2)
    assert set(_obeyed(_lines(_finding(span=span))[0])[1]) == {"title"}


def test_columns_only_where_there_is_one_line():
    span = Span("f.yaml", 0, 9, 1, 1, 3, 2)
    assert set(_obeyed(_lines(_finding(span=span))[0])[1]) == {"file", "line", "endLine", "title"}


def test_what_a_probe_said_stands_in_the_log_and_is_no_command():
    table = Table("verdict", "probe: STABLE. ::error::of ##[a model]", (), ())
    report = Report((Run(("f.yaml",), "trl", 100, "pass", (), tables=(table,)),))
    summary, line = render("github", report, color=False).splitlines()
    assert summary.startswith("::notice")
    assert line.startswith("f.yaml: probe: STABLE. ")
    assert "##[" not in line
