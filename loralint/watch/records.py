"""Entries of logs that people can read: `trainer_state.json`, JSON Lines, CSV, and what the Trainer prints.

A log is read while it is written. An entry that is not whole yet is left for the next look, never a fault.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from loralint.watch.history import Record, number

_ITEM = json.JSONDecoder().raw_decode
_BETWEEN = re.compile(r"[\s,]*")
_PRINTED = re.compile(r"\{'[^{}]*\}")
_LOSSES = ("'loss'", "'eval_loss'")
_PAIR = re.compile(r"'([\w/.-]+)': '?([-+.\w]+)'?")


class Log(NamedTuple):
    """What a text holds. total: steps of the whole run, None where it does not say. broken: entries left out."""

    title: str
    records: Sequence[Record]
    total: float | None = None
    broken: int = 0


def trainer_state(text: str) -> Log | None:
    """The `log_history` of a `trainer_state.json`, as far as it is written; None for another file."""
    start = re.search(r'"log_history"\s*:\s*\[', text)
    if start is None:
        return None
    records, at, line, counted, broken = [], start.end(), 1, 0, 0
    while True:
        at = _end(_BETWEEN, text, at)
        line, counted = line + text.count("\n", counted, at), at
        try:
            value, at = _ITEM(text, at)
        except (ValueError, RecursionError):
            broken = int(text[at : at + 1] != "]")
            break
        if isinstance(value, dict):
            records.append(Record(value, line))
    said = re.search(r'"max_steps"\s*:\s*(\d+)', text)
    return Log("trainer_state", records, (float(said[1]) or None) if said else None, broken)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def json_lines(text: str) -> Log | None:
    """One object a line; None where the first line is none."""
    records, broken = [], 0
    for line, said in enumerate(text.splitlines(), 1):
        if not said.strip():
            continue
        try:
            value = json.loads(said)
        except (ValueError, RecursionError):
            broken += 1
            continue
        if isinstance(value, dict):
            records.append(Record(_flat(value), line))
    return Log("JSON Lines", records, broken=broken) if records else None


def _flat(value: dict[str, object], before: str = "") -> dict[str, object]:
    """{"train": {"loss": 1}} as {"train/loss": 1}."""
    found: dict[str, object] = {}
    for key, inner in value.items():
        if isinstance(inner, dict) and not before:
            found |= _flat(inner, f"{key}/")
        else:
            found[before + key] = inner
    return found


def table(text: str) -> Log | None:
    """CSV with a line of names; None where no column has a name that could be one of a curve. Empty cells are none."""
    lines = text.splitlines()
    try:
        names = next(csv.reader(lines[:1]), [])
        if len(names) < 2 or all(number(name) is not None for name in names):
            return None
        rows = list(csv.reader(lines[1:]))
    except csv.Error:
        return None
    whole = [(line, row) for line, row in enumerate(rows, 2) if len(row) == len(names)]
    records = [Record({name: cell for name, cell in zip(names, row, strict=True) if cell}, line) for line, row in whole]
    return Log("CSV", records, broken=sum(map(bool, rows)) - len(whole))


def printed(text: str) -> Log | None:
    """What the Trainer prints at each log, `{'loss': 1.9, 'grad_norm': 0.4, ...}`, in the output of a run."""
    records = list(_printed(text))
    return Log("printed log", records) if records else None


def _printed(text: str) -> Iterator[Record]:
    for line, said in enumerate(text.splitlines(), 1):
        if "loss'" in said:
            for found in _PRINTED.findall(said):
                if any(name in found for name in _LOSSES):
                    yield Record(dict(_PAIR.findall(found)), line)
