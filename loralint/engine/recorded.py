"""What people recorded about the files of a report, as tables: approvals, and what fixes changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from loralint.engine.approval import FOLDER, Record, Subject, id_of, models_of, read_record, subject_of, void
from loralint.engine.audit import audit, in_order
from loralint.engine.trail import Record as Change
from loralint.engine.trail import read_trail
from loralint.model import Report, Table
from loralint.source.discover import within
from loralint.source.read import NotRegularError, open_regular

_MOST = 200  # rows of a table, and records that are read
_BYTES = 1 << 17
_GATE = "whether two people have signed it, `loralint gate` says"
APPROVALS = ("id", "rule", "file", "value", "by", "reason", "state")
CHANGES = ("time", "by", "file", "rule", "before", "after")


def recorded(report: Report, root: str) -> tuple[Table, ...]:
    """The records below `root` about the files of a report; what no key of a base confirms stays open."""

    def named(file: str) -> str:
        return os.path.relpath(os.path.realpath(file), os.path.realpath(root)).replace(os.sep, "/")

    files = {named(file) for run in report.runs for file in run.files}
    subjects = [one | {"file": named(str(one["file"]))} for one in _subjects(report)]
    return (*approvals(_records(root), files, subjects, lambda _: _GATE), *changes(root, files))


def _subjects(report: Report) -> list[dict[str, object]]:
    models = models_of(report)
    found = (one for run in report.runs for one in run.findings if one.tier == "A")
    return [dict(subject_of(one, models.get((one.rule, one.span, one.key), set()))) for one in found]


def approvals(
    records: Iterable[Record], files: Collection[str], subjects: Collection[Subject], confirmed: Callable[[Record], str]
) -> tuple[Table, ...]:
    """One row for each approval about these files. subjects: findings that wait or were approved; confirmed: what
    stands of a record's signatures, in words.
    """
    own = [one for one in records if one.fault or one.subject.get("file") in files]
    rows = tuple(_approval(one, subjects, confirmed) for one in own[:_MOST])
    return (Table("approvals", f"{_counted(len(own), 'approval')} in {FOLDER}", APPROVALS, rows),) if rows else ()


def _approval(record: Record, subjects: Collection[Subject], confirmed: Callable[[Record], str]) -> tuple[object, ...]:
    if record.fault:
        return (record.id[:12], "", "", "", "", "", f"void: {record.fault}")
    about = record.subject
    stale = (why for one in subjects if (why := void(record, one)))
    if any(dict(about) == dict(one) for one in subjects):
        state = confirmed(record)
    else:
        state = f"void: {next(stale, 'no finding of this report is what it was written for')}"
    told = (about.get(key, "") for key in ("rule", "file", "value"))
    return (id_of(about), *told, record.by, record.reason, state)


def changes(root: str, files: Collection[str], base: Collection[str] = ()) -> tuple[Table, ...]:
    """What fixes changed in these files, newest first, and whether the trail is whole. base: records that must be."""
    records, broken = read_trail(root)
    faults = audit(root, records, broken, base).faults
    own = [one for one in reversed(in_order(records)) if one.file in files]
    if not own and not faults:
        return ()
    state = f"the trail has {_counted(len(faults), 'fault')}: {faults[0]}" if faults else "the trail is whole"
    title = f"{_counted(len(own), 'change')} that fixes made; {state}"
    return (Table("audit", title, CHANGES, tuple(map(_change, own[:_MOST]))),)


def _change(one: Change) -> tuple[object, ...]:
    cell = f" cell {one.cell}" if one.cell is not None else ""
    return one.time, one.user, f"{one.file}{cell}:{one.line}", one.rule, one.before, one.after


def _records(root: str) -> list[Record]:
    folder = os.path.join(root, FOLDER)
    if not os.path.isdir(folder) or not within(folder, root):
        return []
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    return [_read(folder, name) for name in names[:_MOST]]


def _read(folder: str, name: str) -> Record:
    try:
        with open_regular(os.path.join(folder, name)) as file:
            data = file.read(_BYTES)
    except (OSError, NotRegularError):
        return Record(name.removesuffix(".json"), {}, "", "", fault="it cannot be read")
    return read_record(name.removesuffix(".json"), data)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"
