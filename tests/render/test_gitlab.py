from __future__ import annotations

import json

import jsonschema

from loralint.model import Finding, Report, Run, Span
from loralint.render import render

# What GitLab documents for a Code Quality report, in words of our own.
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "type": {"const": "issue"},
            "categories": {"type": "array", "items": {"type": "string"}},
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "additionalProperties": False,
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/.]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "additionalProperties": False,
                        "properties": {"begin": {"type": "integer", "minimum": 1}, "end": {"type": "integer"}},
                    },
                },
            },
        },
    },
}
AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 0\nlora_alpha: 16\nlora_aplha: 32\n"
    "lora_target_linear: true\nlearning_rate: 2e-4\nlora_r: 0\n"
)


def _issues(report):
    body = json.loads(render("gitlab", report, color=True))
    jsonschema.Draft202012Validator(SCHEMA).validate(body)
    prints = [one["fingerprint"] for one in body]
    assert len(set(prints)) == len(prints)
    return body


def test_an_issue(report_on):
    report = report_on(AXOLOTL, "./a b/config.yaml", select_rules=["LL101"])
    (issue,) = _issues(report)
    finding = report.runs[0].findings[0]
    assert {key: value for key, value in issue.items() if key != "fingerprint"} == {
        "type": "issue",
        "check_name": "LL101 misspelt-key",
        "description": f"{finding.message}; {finding.help}",
        "categories": ["Bug Risk"],
        "severity": "major",
        "location": {"path": "a b/config.yaml", "lines": {"begin": 5, "end": 5}},
    }


def test_fingerprints_outlive_moved_lines_and_changed_values(report_on):
    before = {one["fingerprint"] for one in _issues(report_on(AXOLOTL))}
    after = {one["fingerprint"] for one in _issues(report_on("# new\n" + AXOLOTL.replace("aplha: 32", "aplha: 64")))}
    assert after == before


def test_twins_and_what_is_lifted():
    span = Span("f.yaml", 0, 1, 1, 1, 1, 2)
    one = Finding("LL1", "n", "S", "m", "h", span, "k", "/k", "", None, "set")
    two = one._replace(span=span._replace(line=2, start=5, end=6))
    lifted = one._replace(key="l", pointer="/l", suppressed={"by": "baseline", "reason": ""})
    issues = _issues(Report((Run(("f.yaml",), "trl", 0, "block", (one, two, lifted)),)))
    assert [issue["severity"] for issue in issues] == ["blocker", "blocker"]


def test_no_findings_are_an_empty_array(report_on):
    assert _issues(report_on("a: 1\n")) == []
