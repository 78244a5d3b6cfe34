"""Approvals: what a record is for, and when two people have confirmed it.

A record speaks of one finding with all that made it: file, place, value, the message with its numbers, the rule's logic
and the model. When one of them changes, it is another subject and the record is void.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from loralint.knowledge.rules import all_rules, find
from loralint.model import Finding, Report
from loralint.source.secrets import redact
from loralint.source.shown import shown

FOLDER = ".loralint/approvals"
Subject = Mapping[str, Any]
_NAMES = ("file", "rule", "name", "tier", "pointer", "value", "message", "logic", "models")
_LONGEST = 64 * 1024


class Record(NamedTuple):
    """One approval. id: SHA-256 of its bytes, which is the file's name too; fault: why it is none."""

    id: str
    subject: Subject
    by: str
    reason: str
    fault: str = ""


def subject_of(finding: Finding, models: Iterable[str]) -> Subject:
    """What an approval of this finding is for. models: base models of the runs that have it."""
    rule = find(finding.rule)
    texts = (
        finding.span.file, finding.rule, finding.name, finding.tier, redact(finding.pointer or finding.key),
        shown(finding.value, 2000), finding.message, logic(finding.rule) if rule else "", sorted(models),
    )  # fmt: skip
    return dict(zip(_NAMES, texts, strict=True))


def id_of(subject: Subject) -> str:
    """Twelve hexadecimal digits to call a subject by."""
    return sha256(_canonical(subject))[:12]


def logic(code: str) -> str:
    """A digest of what decides a rule: its conditions, arguments and tiers, and the golden entries that it asks."""
    from loralint.knowledge.data import part

    rule = next(one for one in all_rules() if one.id == code)
    entries = part("golden").get(rule.args.get("parameter")) if rule.uses == "golden" else None
    decisive = rule._replace(topic="", name="", says=None)
    return sha256(json.dumps([decisive, entries], sort_keys=True, default=str).encode())[:16]


def models_of(report: Report) -> dict[tuple[Any, ...], set[str]]:
    """(rule, span, key) of every finding -> the base models of its runs, which need their settings for that."""
    found: dict[tuple[Any, ...], set[str]] = {}
    for run in report.runs:
        base = next((one.value for one in run.settings if one.parameter == "model.base"), None)
        model = shown(base.value) if base is not None and base.known else ""
        for one in run.findings:
            found.setdefault((one.rule, one.span, one.key), set()).add(model)
    return found


def write_record(subject: Subject, by: str, reason: str, time: str, tool: str) -> bytes:
    """The bytes of a record. time: ISO, in UTC."""
    body = {"version": 1, "time": time, "by": by, "reason": redact(reason), "tool": tool, "finding": dict(subject)}
    return (json.dumps(body, indent=1, ensure_ascii=True) + "\n").encode()


def read_record(name: str, data: bytes) -> Record:
    """A record as its file has it; one that cannot count has its fault said. name: the file's, without .json."""
    blank = Record(name, {}, "", "")
    if len(data) > _LONGEST or sha256(data) != name:
        return blank._replace(fault="it was changed after it was written: its name is not its SHA-256")
    try:
        body = json.loads(data)
        subject = {key: body["finding"][key] for key in _NAMES}
        record = Record(name, subject, str(body["by"]), str(body["reason"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return blank._replace(fault="it is no record of this version")
    return record if record.reason.strip() else record._replace(fault="it gives no reason")


def confirmed(signed: Collection[str], authors: Collection[str] | None) -> str:
    """Why these people's signatures do not make an approval; empty when they do.

    signed: people, told apart by their keys. authors: those who signed the change's commits; None when a commit is not
    signed by a known key, so that one of the signatures may be the author's own.
    """
    others, needed = set(signed), 2
    if authors is None or not authors:
        needed = 3
    elif len(set(authors)) == 1:
        others -= set(authors)
    if len(others) >= needed:
        return ""
    whose = "; the change's only author does not count" if others != set(signed) else ""
    if needed > 2:
        whose = "; who made the change is not proved by signed commits, so one of them may be the author"
    return f"{len(others)} of {needed} people have signed it{whose}"


def void(record: Record, wanted: Subject) -> str:
    """What has changed since the record was written, if it is about the same place; empty when it is about another."""
    if any(record.subject.get(key) != wanted[key] for key in ("file", "rule", "pointer")):
        return ""
    words = {"value": "the value", "message": "what the rule says of it", "logic": "the rule", "models": "the model"}
    changed = [word for key, word in words.items() if record.subject.get(key) != wanted[key]]
    return f"{' and '.join(changed or ['its tier'])} changed since it was written"


def sha256(data: bytes) -> str:
    """In hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _canonical(subject: Subject) -> bytes:
    return json.dumps(dict(subject), sort_keys=True, separators=(",", ":")).encode()
