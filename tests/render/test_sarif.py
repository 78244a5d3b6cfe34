from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.knowledge.rules import all_rules
from loralint.model import Edit, Finding, Fix, Note, Related, Report, Run, Span
from loralint.render import render
from loralint.render.spot import region_of

OWN = json.loads(Path(__file__).with_name("sarif_written.schema.json").read_text(encoding="utf-8"))
AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 0\nlora_aplha: 32\nlora_target_modules: [q_proj]\n"
    "learning_rate: 2e-4\nbf16: true\nlora_r: 0\n"
)
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# a\n"]},
        {
            "cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": [
                "from transformers import TrainingArguments, Trainer\n",
                "args = TrainingArguments(output_dir='o', bf16=True, learning_rate=2e-4)\n",
                "Trainer(model=None, args=args).train()\n",
            ],
        },
    ],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip


def _official() -> dict | None:
    path = os.environ.get("SARIF_SCHEMA")
    return json.loads(Path(path).read_text(encoding="utf-8")) if path else None


def _log(report):
    body = json.loads(render("sarif", report, color=True))
    jsonschema.Draft202012Validator(OWN, format_checker=jsonschema.FormatChecker()).validate(body)
    official = _official()
    if official:
        jsonschema.Draft4Validator(official, format_checker=jsonschema.FormatChecker()).validate(body)
    return body["runs"][0]


def _finding(**values) -> Finding:
    span = Span("f.yaml", 0, 1, 1, 1, 1, 2)
    return Finding("LL101", "n", "A", "m", "h", span, "k", "/k", "", None, "set")._replace(**values)


def _report(*findings: Finding, **values) -> Report:
    return Report((Run(("f.yaml",), "trl", 85, "review", findings),), **values)


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(OWN)


@pytest.mark.skipif(_official() is None, reason="SARIF_SCHEMA names no file with the official schema")
def test_the_official_schema_takes_what_is_written_and_refuses_what_is_not(report_on):
    body = json.loads(render("sarif", report_on(AXOLOTL, gpu="T4"), color=False))
    validator = jsonschema.Draft4Validator(_official(), format_checker=jsonschema.FormatChecker())
    validator.validate(body)
    body["runs"][0]["results"][0]["level"] = "fatal"
    assert not validator.is_valid(body)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        (AXOLOTL, "config.yaml", {"gpu": "T4", "rows": 1000}),
        (AXOLOTL + "datasets: [\n", "a b/ünï.yaml", {}),
        ("a: 1\n", "config.yaml", {}),
        ('{"peft_type": "LORA", "r": -4, "lora_alpha": 0}', "adapter_config.json", {}),
        (json.dumps(NOTEBOOK, indent=1), "n.ipynb", {"gpu": "T4"}),
    ],
)
def test_real_reports_fit_the_schema(report_on, text, name, options):
    _log(report_on(text, name, **options))


def test_a_result(report_on):
    report = report_on(AXOLOTL, select_rules=["LL101"])
    run = _log(report)
    (result,) = run["results"]
    start = AXOLOTL.index("lora_aplha")
    region = {
        "startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 11, "charOffset": start, "charLength": 10,
    }  # fmt: skip
    file = {"uri": "config.yaml", "uriBaseId": "%SRCROOT%"}
    finding = report.runs[0].findings[0]
    assert result == {
        "ruleId": "LL101", "ruleIndex": 0, "level": "warning", "rank": 60.0,
        "message": {"text": f"{finding.message}\nhelp: {finding.help}"},
        "locations": [{
            "physicalLocation": {"artifactLocation": file, "region": region},
            "logicalLocations": [{"fullyQualifiedName": "lora_aplha", "kind": "property"}],
        }],
        "partialFingerprints": {"loralint/v1": "LL101 config.yaml /lora_aplha 1"},
        "suppressions": [],
        "properties": {
            "tier": "A", "key": "lora_aplha", "pointer": "/lora_aplha", "parameter": "", "value": "32", "origin": "set",
            "safeFix": False,
        },
        "fixes": [{
            "description": {"text": finding.help},
            "artifactChanges": [{
                "artifactLocation": file,
                "replacements": [{"deletedRegion": region, "insertedContent": {"text": "lora_alpha"}}],
            }],
        }],
    }  # fmt: skip
    assert run["properties"]["runs"] == [
        {"files": ["config.yaml"], "framework": "axolotl", "score": 85, "verdict": "review"}
    ]


def test_every_rule_that_can_find_something_is_described(report_on):
    rules = {one.id: one for one in all_rules()}
    findings = tuple(_finding(rule=code, name=one.name) for code, one in rules.items())
    described = _log(_report(*findings))["tool"]["driver"]["rules"]
    assert [one["id"] for one in described] == list(rules)
    levels = {"S": "error", "A": "warning", "B": "note"}
    for one in described:
        assert one["help"]["text"]
        assert "loralint explain" in one["help"]["markdown"]
        worst = next((levels[tier] for tier in levels if tier in rules[one["id"]].gives), "note")
        assert one["defaultConfiguration"]["level"] == worst


def test_a_rule_that_is_not_in_the_package_is_named_only():
    (rule,) = _log(_report(_finding(rule="X1", name="ours")))["tool"]["driver"]["rules"]
    assert rule == {"id": "X1", "name": "ours"}


ONE_LINE = '{"peft_type": "LORA", "base_model_name_or_path": "🙂🙂/é", "r": -4, "lora_alpha": 0}'


@pytest.mark.parametrize(("text", "name"), [("# 🙂🙂 é\n" + AXOLOTL, "config.yaml"), (ONE_LINE, "adapter_config.json")])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_regions_and_fixes_count_code_points_without_the_byte_order_mark(report_on, text, name, end):
    text = text.replace("\n", end)
    regions = []
    for result in _log(report_on("\ufeff" + text, name))["results"]:
        regions.append(result["locations"][0]["physicalLocation"]["region"])
        changes = [change for fix in result.get("fixes", []) for change in fix["artifactChanges"]]
        regions += [one["deletedRegion"] for change in changes for one in change["replacements"]]
    cut = [text[one["charOffset"] : one["charOffset"] + one["charLength"]] for one in regions]
    assert [_cut(text, one) for one in regions] == cut
    assert {"lora_aplha", "-4"} & set(cut)


def _cut(text: str, region: dict) -> str:
    """What lines and columns of a region say, counted anew."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    begin = sum(map(len, lines[: region["startLine"] - 1])) + region["startColumn"] - 1
    end = sum(map(len, lines[: region["endLine"] - 1])) + region["endColumn"] - 1
    return text[begin:end]


def test_a_notebook_is_placed_in_the_file_and_in_the_cell(report_on):
    text = json.dumps(NOTEBOOK, indent=1)
    (result,) = _log(report_on(text, "n.ipynb", gpu="T4", select_rules=["LL214"]))["results"]
    (location,) = result["locations"]
    region = location["physicalLocation"]["region"]
    assert _cut(text, region) == text[region["charOffset"] : region["charOffset"] + region["charLength"]] == "True"
    assert "bf16" in text.split("\n")[region["startLine"] - 1]
    assert {"name": "cell 2", "kind": "element"} in location["logicalLocations"]
    assert (result["properties"]["cell"], result["properties"]["cellLine"]) == (2, 2)


def test_a_notebook_whose_text_is_not_at_hand_has_no_region():
    (result,) = _log(_report(_finding(span=Span("n.ipynb", 5, 6, 1, 1, 1, 2, 3))))["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_the_fingerprint_outlives_moved_lines_and_tells_twins_apart(report_on):
    def prints(text):
        return [one["partialFingerprints"]["loralint/v1"] for one in _log(report_on(text))["results"]]

    before = prints(AXOLOTL)
    assert sorted(prints("# new\n\n" + AXOLOTL)) == sorted(before)
    assert len(set(before)) == len(before)
    twins = _log(_report(_finding(), _finding(span=Span("f.yaml", 5, 6, 2, 1, 2, 2))))["results"]
    assert [one["partialFingerprints"]["loralint/v1"][-1] for one in twins] == ["1", "2"]


def test_what_lifts_a_finding_is_a_suppression():
    lifted = [
        {"by": "inline", "reason": "an old [fork](x)"},
        {"by": "settings", "reason": "r", "expires": "2027-01-01"},
        {"by": "baseline", "reason": ""},
    ]
    findings = (_finding(key=f"k{number}", suppressed=one) for number, one in enumerate(lifted))
    told = [one["suppressions"] for one in _log(_report(*findings))["results"]]
    assert told == [
        [{"kind": "inSource", "status": "accepted", "justification": "an old [fork\\](x)",
          "properties": {"by": "inline"}}],
        [{"kind": "external", "status": "accepted", "justification": "r",
          "properties": {"by": "settings", "expires": "2027-01-01"}}],
        [{"kind": "external", "status": "accepted", "properties": {"by": "baseline"}}],
    ]  # fmt: skip


def test_what_was_not_checked_is_told_once_with_its_files():
    note = Note("not-checked", "no --rows given", ("LL421",), "k")
    runs = tuple(Run((name,), "trl", 100, "pass", (), (note,)) for name in ("a.yaml", "b.yaml"))
    (invocation,) = _log(Report(runs, exit_code=0))["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "no --rows given"
    assert told["associatedRule"] == {"id": "LL421"}
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in told["locations"]] == ["a.yaml", "b.yaml"]


def test_related_places():
    related = (Related("f.yaml", 8, "k", "stands here"), Related("n.ipynb", 2, "k", "too", 3))
    first, second = _log(_report(_finding(related=related)))["results"][0]["relatedLocations"]
    assert first["physicalLocation"]["region"] == {"startLine": 8}
    assert "region" not in second["physicalLocation"]
    assert second["message"]["text"] == "cell 3, line 2: k too"


def test_a_value_makes_no_link_and_no_secret_is_told():
    token = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    fix = Fix(True, (Edit("f.yaml", 0, 1, token),))
    run = _log(_report(_finding(message=f"[click](https://x.example) {token}", value=token, fix=fix)))
    assert token not in json.dumps(run)
    assert "](" not in run["results"][0]["message"]["text"].replace("\\](", "")
    assert "fixes" not in run["results"][0]


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a b/ünï#1?.yaml", "a%20b/%C3%BCn%C3%AF%231%3F.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"),
        ("./x/../y.yaml", "y.yaml"),
        ("100%.yaml", "100%25.yaml"),
        (os.fsdecode(b"\xff.yaml"), "%FF.yaml"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
def test_uris(name, uri):
    (artifact,) = _log(Report((Run((name,), "trl", 100, "pass", ()),)))["artifacts"]
    assert artifact["location"]["uri"] == uri


@given(st.text(alphabet="a\r\n🙂", max_size=20), st.data())
def test_places_by_offset(text, data):
    offset = data.draw(st.integers(0, len(text)))
    before = re.split(r"\r\n?|\n", text[:offset])
    assert region_of(text, offset, offset)[:2] == (len(before), len(before[-1]) + 1)


def test_a_file_outside_of_the_root_has_an_absolute_uri(tmp_path):
    runs = (Run((str(tmp_path / "in" / "a.yaml"), str(tmp_path / "b.yaml")), "trl", 100, "pass", ()),)
    inner, outer = _log(Report(runs, root=str(tmp_path / "in")))["artifacts"]
    assert inner["location"] == {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"}
    assert outer["location"] == {"uri": f"file://{tmp_path}/b.yaml"}
