"""JUnit XML, as Jenkins, GitLab, Azure and others read it: a suite for each run, a case for each finding.

A finding that fails the check fails its case; a smaller one passes with its text as output; a lifted one is skipped. So
the tests fail where the check does.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from loralint.model import TIERS, Finding, Report, Run
from loralint.render.spot import named
from loralint.render.standing import told
from loralint.source.shown import path, shown

_MOST = 4000  # characters of a message
_NOTE = {"not-checked": "not checked"}


def render(report: Report, *, color: bool) -> str:
    """One document."""
    del color
    root = ET.Element("testsuites", name="loralint")
    for run, found in told(report):
        root.append(_suite(run, found, report))
    _count(root, root.iter("testcase"))
    ET.indent(root)
    # references stand for what is not ASCII, so the document is right in any encoding of the output
    document: bytes = ET.tostring(root, encoding="us-ascii", xml_declaration=True)
    return f"{document.decode()}\n"


def _suite(run: Run, found: list[Finding], report: Report) -> ET.Element:
    name = path(named(run.files[0], report.root))
    suite = ET.Element("testsuite", name=name)
    cases = [_case(one, report) for one in found]
    if not any(one.suppressed is None for one in found):
        cases.insert(0, ET.Element("testcase", name=_clean_name(run), classname=name))
    _count(suite, cases)
    suite.extend(cases)
    told_beside = [f"verdict {run.verdict}, score {run.score} of 100"]
    # a line never begins with quoted text, which a log of GitHub could take for a command
    told_beside += [f"{_NOTE.get(note.kind, 'note')}: {_safe(note.message)}" for note in run.notes]
    ET.SubElement(suite, "system-out").text = "\n".join(told_beside)
    return suite


def _clean_name(run: Run) -> str:
    """The one case of a run without standing findings, so that a suite that passed does not look like one left out."""
    return "no findings" if run.framework is not None else "not checked"


def _case(finding: Finding, report: Report) -> ET.Element:
    span = finding.span
    where = f"{span.line}:{span.column}" if span.cell is None else f"cell {span.cell}, {span.line}:{span.column}"
    file = path(named(span.file, report.root))
    effect, _, cause = finding.message.partition(": ")
    case = ET.Element("testcase", name=_safe(f"{finding.rule} {finding.name} ({where})"), classname=file)
    lines = [f"{file}:{where}", *([f"why: {_safe(cause)}"] if cause else []), f"help: {_safe(finding.help)}"]
    if finding.suppressed is not None:
        said = " ".join(filter(None, (f"by {finding.suppressed['by']}", finding.suppressed.get("reason"))))
        ET.SubElement(case, "skipped", message=_safe(said))
    elif TIERS.index(finding.tier) <= TIERS.index(report.fail_on):
        ET.SubElement(case, "failure", type=finding.tier, message=_safe(effect)).text = "\n".join(lines)
    else:
        ET.SubElement(case, "system-out").text = "\n".join([f"[{finding.tier}] {_safe(effect)}", *lines])
    return case


def _count(element: ET.Element, cases: Iterable[ET.Element]) -> None:
    """Put the numbers that readers show without looking inside."""
    outcomes = [{child.tag for child in case} for case in cases]
    element.set("tests", str(len(outcomes)))
    element.set("failures", str(sum("failure" in one for one in outcomes)))
    element.set("errors", "0")
    element.set("skipped", str(sum("skipped" in one for one in outcomes)))


def _safe(text: str) -> str:
    """What is not printable becomes a visible escape; all that XML has no place for is among it."""
    return shown(text, _MOST)
