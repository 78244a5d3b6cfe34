"""What the engine says of a reviewed object; values of objects that were only looked up never leave this module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.api import make_job, options, report
from loralint.engine.lint import Job
from loralint.engine.ratchet import distinct, key_of, new_findings
from loralint.engine.rules import find
from loralint.engine.settings import Settings
from loralint.model import Finding, Report
from loralint.run.project import Project
from loralint.source.document import Document
from loralint.source.read import read_text
from loralint.webhook.objects import MapFiles
from loralint.webhook.places import place_of

# No folder: whatever a config names, nothing of the server's own files is ever looked at.
_NOWHERE = "/dev/null"
_FILE = f"{_NOWHERE}/object.json"
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_KEY = re.compile(r"[A-Za-z_][\w-]*")


class Task(NamedTuple):
    """One object to judge. text: it as a file; base: what it was before, "" for a new one. maps: those it mounts."""

    text: str
    base: str = ""
    maps: tuple[MapFiles, ...] = ()


class Told(NamedTuple):
    """One finding. place: key of the map, `ConfigMap/NAME/KEY` of a looked-up one, or empty. new: not in the base."""

    rule: str
    tier: str
    place: str
    line: int
    message: str
    help: str
    new: bool = True


class Judged(NamedTuple):
    """trains: whether any training was seen. unread: why a part of it could not be looked into."""

    findings: tuple[Told, ...] = ()
    trains: bool = False
    unread: tuple[str, ...] = ()


def webhook_job(
    *, gpu: str = "", target: tuple[str, ...] = (), select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> Job:
    """What is the same for all reviews. Raises ValueError for a name that is not known."""
    settings = Settings()
    chosen = options(gpu=gpu, target=target, settings=settings)
    return make_job(settings, chosen, chosen=select, ignored=ignore, fixes=False)


def judge(task: Task, job: Job) -> Judged:
    """The findings that stand, gravest first, with what of them is new."""
    document, whole = _look(task.text, job, task.maps)
    found = _standing(whole)
    base = _standing(_look(task.base, job, task.maps)[1]) if task.base else []
    new = {id(one) for one in new_findings(base, found, {})}
    open_ = _open_keys(task, job) if task.maps else None
    told = [
        _told(one, document, id(one) in new, hidden=open_ is not None and key_of(one, one.span.file) not in open_)
        for one in sorted(found, key=lambda one: (-"BAS".index(one.tier), one.span.start))
    ]
    trains = any(run.framework is not None for run in whole.runs)
    return Judged(tuple(dict.fromkeys(told)), trains, tuple(_unread(whole)))


def _look(text: str, job: Job, maps: tuple[MapFiles, ...]) -> tuple[Document, Report]:
    document = read_text(text, _FILE, "json")
    project = Project(_NOWHERE)
    project.maps = tuple(one.config_map for one in maps)
    return document, report([document], job, project=project)


def _standing(whole: Report) -> list[Finding]:
    return [one for one in distinct(whole) if one.suppressed is None]


def _open_keys(task: Task, job: Job) -> set[tuple[str, ...]]:
    """What is found without the looked-up maps, so that telling it in full tells nothing of them."""
    alone = _standing(_look(task.text, job, ())[1])
    return {key_of(one, one.span.file) for one in alone}


def _told(one: Finding, document: Document, new: bool, *, hidden: bool) -> Told:
    place, line = place_of(one.span, document)
    if hidden:
        return Told(one.rule, one.tier, place, line, _without_values(one), "", new)
    return Told(one.rule, one.tier, place, line, one.message, one.help, new)


def _without_values(one: Finding) -> str:
    """The finding as far as whoever may not read the map may know it: what the rule is about, and a key that is ours.

    A key that only the map's author chose is a value, too.
    """
    rule = find(one.rule)
    start = rule.message.partition(": ")[0] if rule is not None else ""
    said = start if start and not _PLACEHOLDER.search(start) else one.name.replace("-", " ")
    key = one.key.rpartition(".")[2] if one.parameter else ""
    return f"{said} (see `{key}`)" if _KEY.fullmatch(key) else said


def _unread(whole: Report) -> Iterator[str]:
    for run in whole.runs:
        if run.framework is None:
            yield from (note.message for note in run.notes if note.kind == "not-checked")
