"""Whether an audit trail is whole: every record as it was written, none taken out, and what became of the files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from loralint.engine.trail import Broken, Record, sha256
from loralint.source.discover import within
from loralint.source.limits import NOTEBOOK_BYTES
from loralint.source.read import NotRegularError, open_regular


class Audited(NamedTuple):
    """faults: what is wrong with the trail. notes: what became of the files that it speaks of, which is no fault."""

    faults: tuple[str, ...]
    notes: tuple[str, ...]


def audit(root: str, records: Mapping[str, Record], broken: Iterable[Broken], base: Iterable[str] = ()) -> Audited:
    """base: names of the records that an earlier state holds, all of which must be there still."""
    faults = [f"{one.name[:12]}: {one.reason}" for one in broken]
    there = records.keys() | {one.name for one in broken}
    for one in records.values():
        gone = [parent for parent in one.parents if parent not in there]
        faults += [f"{parent[:12]}: it is missing; {one.name[:12]} comes after it" for parent in gone]
    faults += [f"{name[:12]}: it is missing; the base holds it" for name in base if name not in there]
    return Audited(tuple(dict.fromkeys(faults)), tuple(_files(root, records)))


def in_order(records: Mapping[str, Record]) -> list[Record]:
    """Each record after its parents; of two branches the older one first."""
    from graphlib import TopologicalSorter

    ordered = sorted(records.values(), key=lambda one: (one.time, one.name))
    graph = {one.name: [parent for parent in one.parents if parent in records] for one in ordered}
    return [records[name] for name in TopologicalSorter(graph).static_order()]


def _files(root: str, records: Mapping[str, Record]) -> Iterator[str]:
    """Files that are not as their last record left them."""
    last = {one.file: one for one in in_order(records)}
    for file, one in sorted(last.items()):
        path = os.path.join(root, *file.split("/"))
        if not within(path, root):  # of a file elsewhere, or of a record that somebody made up, nothing is read
            continue
        digest = _digest(path)
        if not digest:
            yield f"{file}: it is not there any more"
        elif digest == one.old and digest != one.new:
            yield f"{file}: it is as it was before {one.name[:12]}: that change was interrupted or taken back"
        elif digest != one.new:
            yield f"{file}: it was edited since {one.name[:12]}"


def _digest(path: str) -> str:
    try:
        with open_regular(path) as file:
            return sha256(file.read(NOTEBOOK_BYTES + 1))
    except (OSError, ValueError, NotRegularError):
        return ""
