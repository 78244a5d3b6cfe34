"""What the engine says of a reviewed object; values of objects that were only looked up never leave this module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from loralint.api import make_job, options, report
from loralint.engine.lint import Job
from loralint.engine.ratchet import distinct, key_of, new_findings
from loralint.engine.settings import Settings
from loralint.engine.settings_file import read_settings
from loralint.frameworks.detect import COMPANIONS
from loralint.knowledge.rules import find, wording
from loralint.model import Finding, Report
from loralint.run.mapped import ENDS
from loralint.run.project import Project
from loralint.run.starts import is_manifest
from loralint.source.document import Document
from loralint.source.read import read_text
from loralint.webhook.objects import CONFIG_MAP, NOWHERE, Lent, MapFiles, contents, document_of, group_kind

_FILE = f"{NOWHERE}object.json"
_LIST = '{"apiVersion":"v1","kind":"List","items":['
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
_KEY = re.compile(r"[A-Za-z_][\w-]*")


class Task(NamedTuple):
    """One object to judge. text: it as a file; base: what it was before, "" for a new one. maps: those it mounts; lent:
    what it takes its training from, which was looked up as they were.
    """

    text: str
    base: str = ""
    maps: tuple[MapFiles, ...] = ()
    lent: tuple[Lent, ...] = ()


class Told(NamedTuple):
    """One finding. place: key of the map, `ConfigMap/NAME/KEY` or `KIND/NAME` of what was looked up, or empty. line: 0
    where there is none.

    new: not in the base.
    """

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


def settings_of(text: str, file: str) -> Settings | None:
    """The settings in a text. Raises SettingsError."""
    return read_settings(text.encode(), file, inside="")


def webhook_job(
    *, gpu: str = "", target: tuple[str, ...] = (), select: tuple[str, ...] = (), ignore: tuple[str, ...] = (),
    settings: Settings | None = None,
) -> Job:  # fmt: skip
    """What is the same for all reviews. Raises ValueError for a name that is not known.

    Patterns of the settings are held against keys of maps, which no folder of this machine is around.
    """
    settings = settings or Settings()
    chosen = options(gpu=gpu, target=target, settings=settings)
    return make_job(settings._replace(root=NOWHERE), chosen, chosen=select, ignored=ignore, fixes=False)


def judge(task: Task, job: Job) -> Judged:
    """The findings that stand, gravest first, with what of them is new."""
    whole = _look(_with_lent(task.text, task), job, task.maps)
    found = _standing(whole)
    base = _standing(_look(_with_lent(task.base, task), job, task.maps)) if task.base else []
    new = {id(one) for one in new_findings(base, found, {})}
    alone = _alone(task, job) if task.maps or task.lent else whole
    open_ = {key_of(one, one.span.file) for one in _standing(alone)}
    told = [
        _told(one, _place(one, task), id(one) in new, hidden=key_of(one, one.span.file) not in open_)
        for one in sorted(found, key=lambda one: (-"BAS".index(one.tier), one.span.file, one.span.start))
    ]
    trains = any(run.framework is not None for run in whole.runs)
    return Judged(tuple(dict.fromkeys(told)), trains, tuple(dict.fromkeys(_unread(whole, alone))))


def _with_lent(text: str, task: Task) -> str:
    """An object with what it takes its training from, as one file."""
    return _listed(text, *(one.text for one in task.lent)) if task.lent else text


def _listed(*texts: str) -> str:
    return f"{_LIST}{','.join(texts)}]}}"


def _look(text: str, job: Job, maps: tuple[MapFiles, ...]) -> Report:
    project = Project(NOWHERE)
    project.maps = tuple(one.config_map for one in maps)
    whole = report(_documents(text), job, project=project)
    return whole._replace(runs=tuple(run for run in whole.runs if run.framework not in COMPANIONS))


def _documents(text: str) -> Iterator[Document]:
    """The files of an object: the configs of a map, which so keep their lines, else the object itself."""
    obj = json.loads(text)
    if group_kind(obj) != CONFIG_MAP:
        yield read_text(text, _FILE, "json")
        return
    for key, held in contents(obj):
        document = document_of(held, NOWHERE + key) if key.endswith(ENDS) else None
        if document is not None and not is_manifest(document):  # one that lies in a map is not applied by that
            yield document


def _standing(whole: Report) -> list[Finding]:
    return [one for one in distinct(whole) if one.suppressed is None]


def _alone(task: Task, job: Job) -> Report:
    """What is said without anything that was looked up, so that telling it in full tells nothing of that."""
    return _look(_listed(task.text) if task.lent else task.text, job, ())


def _place(one: Finding, task: Task) -> tuple[str, int]:
    """Where it stands; the one line of an object's JSON is nobody's."""
    if one.span.file != _FILE:
        return _shown(one.span.file), one.span.line
    end = len(_LIST) + len(task.text)
    for lent in task.lent:
        if one.span.start > end:
            end += len(lent.text) + 1
            if one.span.start < end:
                return lent.what, 0
    return "", 0


def _told(one: Finding, place: tuple[str, int], new: bool, *, hidden: bool) -> Told:
    if hidden:
        return Told(one.rule, one.tier, *place, _without_values(one), "", new)
    return Told(one.rule, one.tier, *place, _shown(one.message), _shown(one.help), new)


def _shown(text: str) -> str:
    return text.replace(NOWHERE, "")


def _without_values(one: Finding) -> str:
    """The finding as far as whoever may not read the map may know it: what the rule is about, and a key that is ours.

    A key that only the map's author chose is a value, too.
    """
    rule = find(one.rule)
    start = wording(rule).message.partition(": ")[0] if rule is not None else ""
    said = start if start and not _PLACEHOLDER.search(start) else one.name.replace("-", " ")
    key = one.key.rpartition(".")[2] if one.parameter else ""
    return f"{said} (see `{key}`)" if _KEY.fullmatch(key) else said


def _unread(whole: Report, alone: Report) -> Iterator[str]:
    """What nobody could look into. A file that only a looked-up object names is not named here."""
    for run in whole.runs:
        if run.framework is None:
            yield from (note.message for note in run.notes if note.kind == "not-checked")
    known = set(_not_at_hand(alone))
    for said in _not_at_hand(whole):
        yield said if said in known else "what a file says that a looked-up object names: it is not at hand"


def _not_at_hand(whole: Report) -> Iterator[str]:
    """Files that a run reads and that nobody has here; of a map, the lookup says that itself."""
    for run in whole.runs:
        for note in run.notes if run.framework is not None else ():
            if note.message.startswith("what `") and not note.rules and "--configmap" not in note.message:
                yield _shown(note.message)
