from __future__ import annotations

from xml.etree import ElementTree as ET

from loralint.model import Finding, Note, Report, Run, Span
from loralint.render import render

AXOLOTL = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 0\nlora_alpha: 16\nlora_aplha: 32\n"
    "lora_target_linear: true\nlearning_rate: 2e-4\n"
)


def _suites(report):
    root = ET.fromstring(render("junit", report, color=True))
    assert root.tag == "testsuites"
    assert [suite.tag for suite in root] == ["testsuite"] * len(report.runs)
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        assert element.get("tests") == str(len(cases))
        assert element.get("failures") == str(sum(case.find("failure") is not None for case in cases))
        assert element.get("skipped") == str(sum(case.find("skipped") is not None for case in cases))
    return list(root)


def test_a_whole_document(report_on):
    report = report_on(AXOLOTL, select_rules=["LL304", "LL101"])
    misspelt, rank = sorted(report.runs[0].findings, key=lambda one: one.rule)
    assert (
        render("junit", report, color=False)
        == f"""<?xml version='1.0' encoding='us-ascii'?>
<testsuites name="loralint" tests="2" failures="1" errors="0" skipped="0">
  <testsuite name="config.yaml" tests="2" failures="1" errors="0" skipped="0">
    <testcase name="LL304 rank-not-positive (3:9)" classname="config.yaml">
      <failure type="S" message="{rank.message.partition(": ")[0]}">config.yaml:3:9
why: {rank.message.partition(": ")[2]}
help: {rank.help}</failure>
    </testcase>
    <testcase name="LL101 misspelt-key (5:1)" classname="config.yaml">
      <system-out>[A] {misspelt.message.partition(": ")[0]}
config.yaml:5:1
why: {misspelt.message.partition(": ")[2]}
help: {misspelt.help}</system-out>
    </testcase>
    <system-out>verdict block, score {report.runs[0].score} of 100</system-out>
  </testsuite>
</testsuites>
"""
    )


def test_it_fails_where_the_check_fails(report_on):
    report = report_on(AXOLOTL, select_rules=["LL304", "LL101"])
    failed = [
        [case.find("failure").get("type") for case in suite if case.find("failure") is not None]
        for tier in "SAB"
        for suite in _suites(report._replace(fail_on=tier))
    ]
    assert failed == [["S"], ["S", "A"], ["S", "A"]]


def test_what_is_lifted_is_skipped(report_on):
    text = AXOLOTL.replace("lora_aplha: 32", "lora_aplha: 32  # loralint: ignore[LL101] an old fork")
    (suite,) = _suites(report_on(text, select_rules=["LL101"]))
    assert [case.get("name") for case in suite.iter("testcase")] == ["no findings", "LL101 misspelt-key (5:1)"]
    assert suite.find("testcase/skipped").get("message") == "by inline an old fork"


def test_a_run_without_findings_has_a_case_that_passes_and_what_was_not_checked():
    note = Note("not-checked", "no --rows given")
    runs = (Run(("a.yaml",), "trl", 100, "pass", (), (note,)), Run(("b.yaml",), None, 100, "pass", ()))
    first, second = _suites(Report(runs))
    assert [case.attrib for case in first.iter("testcase")] == [{"name": "no findings", "classname": "a.yaml"}]
    assert first.find("system-out").text.endswith("not checked: no --rows given")
    assert second.find("testcase").get("name") == "not checked"


def test_no_character_breaks_the_document():
    odd = "".join(map(chr, range(0x100))) + "\ud800\ufffe\uffff\u2028]]>"
    span = Span(odd, 0, 1, 1, 1, 1, 2)
    finding = Finding("LL1", odd, "S", f"{odd}: {odd}", odd, span, odd, odd, "", odd, "set")
    _suites(Report((Run((odd,), "trl", 0, "block", (finding,), (Note("info", odd),)),)))
