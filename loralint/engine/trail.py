"""The audit trail: one file for each change that a fix made, named by its SHA-256, naming those before it.

Branches add files of different names, so they merge without a conflict; a record that was taken out is missed by those
that name it. Secrets are masked before anything is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from loralint.engine.mend import Change
from loralint.source.clean import clean
from loralint.source.rewrite import RefusedError, leads_elsewhere, sync_folder
from loralint.source.secrets import redact
from loralint.version import __version__

FOLDER = os.path.join(".loralint", "audit")
_ENDING = ".json"
# Characters of a changed line that are kept, and bytes of a record that are read.
_WIDEST = 400
_BYTES = 64 * 1024
_TEXTS = ("time", "user", "tool", "file", "rule", "name", "tier", "key", "before", "after")


class Record(NamedTuple):
    """One change. name: the SHA-256 of its file. old, new: SHA-256 of the changed file before and after.

    parents: names of the records that were the last ones when it was written.
    """

    name: str
    time: str
    user: str
    tool: str
    file: str
    line: int
    cell: int | None
    rule: str
    title: str
    tier: str
    key: str
    before: str
    after: str
    old: str
    new: str
    parents: tuple[str, ...]


class Added(NamedTuple):
    """Records that were just written. before: the last ones until then; paths: their files, in order."""

    before: list[str]
    paths: tuple[str, ...]


class Broken(NamedTuple):
    """A file of the trail that is no record of ours, and why."""

    name: str
    reason: str


def root_of(folder: str, fallback: str) -> str:
    """The folder that holds the trail: that of the git checkout, else the nearest with a trail, else `fallback`."""
    current = os.path.abspath(folder)
    while True:
        if os.path.exists(os.path.join(current, ".git")) or os.path.isdir(os.path.join(current, FOLDER)):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            return os.path.abspath(fallback)
        current = parent


def read_trail(root: str) -> tuple[dict[str, Record], list[Broken]]:
    """All records by name, and what lies among them and is none."""
    records: dict[str, Record] = {}
    broken: list[Broken] = []
    for name in _names(root):
        found = _read(os.path.join(root, FOLDER, name + _ENDING), name)
        if isinstance(found, Record):
            records[name] = found
        else:
            broken.append(Broken(name, found))
    return records, broken


def heads(records: Iterable[Record]) -> list[str]:
    """The records that no other one names, sorted."""
    kept = list(records)
    named = {parent for one in kept for parent in one.parents}
    return sorted(one.name for one in kept if one.name not in named)


class Trail:
    """The trail as one invocation adds to it. root: the folder that holds it; time: ISO 8601, in UTC."""

    def __init__(self, root: str, user: str, time: str) -> None:
        self.root = root
        self.user = user
        self.time = time
        self._heads: list[str] | None = None  # read when there is something to add

    def add(self, changes: Iterable[Change], old: bytes, new: bytes) -> Added:
        """Write a record for each change of one file, each naming the one before. Raises RefusedError.

        old, new: the whole file before and after all of them.
        """
        folder = os.path.join(self.root, FOLDER)
        if leads_elsewhere(self.root, FOLDER):
            raise RefusedError(f"its audit record cannot be written: {FOLDER} is a link that leads elsewhere")
        before = self._heads = heads(read_trail(self.root)[0].values()) if self._heads is None else self._heads
        paths: list[str] = []
        try:
            os.makedirs(folder, exist_ok=True)
            for change in changes:
                data = (json.dumps(self._body(change, old, new), indent=1, sort_keys=True) + "\n").encode()
                name = sha256(data)
                paths.append(_put(folder, name, data))
                self._heads = [name]
            sync_folder(folder)
        except OSError as error:
            self.take_back(Added(before, tuple(paths)))
            why = (error.strerror or str(error)).lower()
            raise RefusedError(f"its audit record cannot be written: {why}") from None
        return Added(before, tuple(paths))

    def take_back(self, added: Added) -> None:
        """Remove the records of changes that did not come about, the last one first."""
        self._heads = added.before
        for path in reversed(added.paths):
            os.unlink(path)

    def _body(self, change: Change, old: bytes, new: bytes) -> dict[str, object]:
        path = os.path.relpath(os.path.realpath(change.file), os.path.realpath(self.root))
        return {
            "version": 1,
            "time": self.time,
            "user": clean(self.user),
            "tool": f"loralint {__version__}",
            "file": redact(path.replace(os.sep, "/")),
            "line": change.line,
            "cell": change.cell,
            "rule": change.rule,
            "name": change.name,
            "tier": change.tier,
            "key": clean(redact(change.key)),
            "before": masked(change.before),
            "after": masked(change.after),
            "sha256": {"before": sha256(old), "after": sha256(new)},
            "parents": self._heads,
        }


def sha256(data: bytes) -> str:
    """In hexadecimal digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def masked(lines: str) -> str:
    """Lines of a config without secrets, controls or endless length; breaks stay."""
    return "\n".join(clean(line, limit=_WIDEST) for line in redact(lines).splitlines())


def _put(folder: str, name: str, data: bytes) -> str:
    """Write a record so that it is there whole or not at all."""
    import tempfile

    path = os.path.join(folder, name + _ENDING)
    descriptor, beside = tempfile.mkstemp(".tmp", ".", folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, 0o644)  # to be read by all, as what git checks out
            file.flush()
            os.fsync(descriptor)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
    return path


def _names(root: str) -> Iterator[str]:
    folder = os.path.join(root, FOLDER)
    if os.path.isdir(folder):
        yield from sorted(one.removesuffix(_ENDING) for one in os.listdir(folder) if one.endswith(_ENDING))


def _read(path: str, name: str) -> Record | str:
    """A record, or what is wrong with it."""
    from loralint.source.read import NotRegularError, open_regular

    try:
        with open_regular(path) as file:
            data = file.read(_BYTES + 1)
    except (OSError, NotRegularError):
        return "it cannot be read"
    if sha256(data) != name:
        return "it was changed after it was written: its name is not its SHA-256"
    try:
        return _record(name, json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "it is no record of this version"


def _record(name: str, body: Any) -> Record:
    texts = {key: body[key] for key in _TEXTS}
    parents, old, new = tuple(body["parents"]), body["sha256"]["before"], body["sha256"]["after"]
    if body["version"] != 1 or not all(isinstance(one, str) for one in (*texts.values(), *parents, old, new)):
        raise ValueError
    title = texts.pop("name")
    place = {"line": int(body["line"]), "cell": body["cell"]}
    return Record(name, title=title, old=old, new=new, parents=parents, **place, **texts)
