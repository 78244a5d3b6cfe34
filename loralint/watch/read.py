"""From a path to a history: which file of a folder is the log, and which reader it gets, by what it holds."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from loralint.source.read import NotRegularError, open_regular
from loralint.watch import records
from loralint.watch.events import is_events, scalars
from loralint.watch.history import History, Record, history

MOST = 256 * 1024 * 1024  # bytes of one log
_ENTRIES = 4_000_000  # lines, or objects: each takes some 400 bytes of memory, however short it is
_DEEP = 3  # folders under the one given, such as runs/<date>_<host>/
_MANY = 20_000  # names looked at
_LOGS = ("trainer_state.json", "trainer_log.jsonl", "logging.jsonl", "wandb-history.jsonl", "stability_guard.jsonl")
_EVENTS = "events.out.tfevents."
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_READERS = (records.trainer_state, records.json_lines, records.printed, records.table)


class UnreadableError(ValueError):
    """The path leads to no log; the message says why, and what to give instead."""


def read(path: str) -> History:
    """The history of a log, or of the newest log in a folder. Raises UnreadableError."""
    files = find(path) if os.path.isdir(path) else [path]
    if not files:
        known = f"{', '.join(_LOGS)} or {_EVENTS}*"
        raise UnreadableError(f"{path}: no log is there; looked for {known}, also in checkpoint-*; give its path")
    if os.path.basename(files[0]).startswith(_EVENTS):
        return _events(files)
    if files[0].endswith(".wandb"):
        raise UnreadableError(f"{files[0]}: W&B's own binary form; export the history as CSV or JSON Lines")
    data = _load(files[0])
    if is_events(data):
        return _events(files)
    text = data.decode("utf-8-sig", "replace")
    for reader in _READERS:
        found = reader(text)
        if found is not None and found.records:
            return _checked(_history(files[0], found))
    raise UnreadableError(
        f"{files[0]}: no losses are in it; a log is a trainer_state.json, TensorBoard's, JSONL or CSV"
    )


def find(folder: str) -> list[str]:
    """The log that changed last; TensorBoard's files of one folder belong together, oldest first."""
    found = list(_candidates(folder))
    if not found:
        return []
    newest = max(found, key=lambda path: (_changed(path), _number(path)))
    if not os.path.basename(newest).startswith(_EVENTS):
        return [newest]
    beside = os.path.dirname(newest)
    return sorted((one for one in found if _of_events(one, beside)), key=_changed)


def _of_events(path: str, folder: str) -> bool:
    return os.path.dirname(path) == folder and os.path.basename(path).startswith(_EVENTS)


def _candidates(folder: str) -> Iterator[str]:
    """Logs by their names, not following links to folders."""
    seen = 0
    for place, folders, names in os.walk(folder):
        depth = os.path.relpath(place, folder).count(os.sep) + (place != folder)
        if depth >= _DEEP:
            folders.clear()
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        seen += len(names)
        yield from (os.path.join(place, name) for name in names if name in _LOGS or name.startswith(_EVENTS))
        if seen > _MANY:
            return


def _changed(path: str) -> float:
    try:
        return os.path.getmtime(path)
    except OSError:  # a checkpoint that was deleted meanwhile
        return 0.0


def _number(path: str) -> int:
    """Of the checkpoint that a file is in; what is in none is as new as can be."""
    found = _CHECKPOINT.findall(path)
    return int(found[-1]) if found else 1 << 62


def _events(files: Sequence[str]) -> History:
    entries: list[Record] = []
    left = 0
    for file in files:
        found, broken = scalars(_load(file))
        entries.extend(found)
        left += broken
    return _checked(_history(files[-1], records.Log("TensorBoard", entries, broken=left)))


def _history(file: str, log: records.Log) -> History:
    return history(file, log.title, log.records, log.total, [_left_out(log.broken)] if log.broken else [])


def _left_out(broken: int) -> str:
    return (
        f"{broken} {'entry is' if broken == 1 else 'entries are'} not whole and left out, as in a log that is written"
    )


def _checked(found: History) -> History:
    if not found.loss and not found.norm and not found.held_out:
        raise UnreadableError(f"{found.file}: no losses are in it (yet)")
    return found


def _load(file: str) -> bytes:
    try:
        with open_regular(file) as opened:
            data = opened.read(MOST + 1)
    except NotRegularError as error:
        raise UnreadableError(f"{file}: it is {error}, not a regular file") from None
    except OSError as error:
        raise UnreadableError(f"{file}: it cannot be read: {os.strerror(error.errno or 0).lower()}") from None
    if len(data) > MOST:
        raise UnreadableError(f"{file}: larger than {MOST >> 20} MiB")
    if max(map(data.count, (b"\n", b"\r", b"{"))) > _ENTRIES:
        raise UnreadableError(f"{file}: of more than {_ENTRIES:,} entries; give a shorter part of it")
    return data
