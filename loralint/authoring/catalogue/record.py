"""Everything about one model type as one record, and a record as the text of its file."""

from __future__ import annotations

import json
import sys
from typing import Any

from loralint.authoring.catalogue.learn import Sample, Structure, learn, matches
from loralint.authoring.catalogue.study import Subject, about, experts, field_table, fields_used, study
from loralint.knowledge.structure import below, moved


def record(subjects: dict[str, Subject]) -> dict[str, Any]:
    """The record of one model type from its classes by task; the first one is studied, the others compared with it."""
    (_, first), *others = subjects.items()
    samples, structure = study(first)
    kept: dict[str, Structure] = {first.model.__name__: structure}
    classes = {first.model.__name__: _own(structure) | about(first)}
    used_samples = {first.model.__name__: samples}
    for _, subject in others:
        if subject.model.__name__ in classes:
            continue
        try:
            classes[subject.model.__name__] = _like(subject, first, structure, kept, used_samples) | about(subject)
        except Exception as error:  # noqa: BLE001 - a class that cannot be built is left out, and told
            sys.stderr.write(f"  {subject.model.__name__}: {error!r}\n")
    tasks = {task: s.model.__name__ for task, s in subjects.items() if s.model.__name__ in classes}
    table = field_table(first, samples, fields_used(kept.values()))
    packed = experts(first.config.model_type)  # type: ignore[attr-defined]
    return {"tasks": tasks, "classes": classes, **table, **({"experts": packed} if packed else {})}


def _own(structure: Structure) -> dict[str, Any]:
    said: dict[str, Any] = {"rows": structure.rows, "lists": structure.lists}
    return said | ({"unsure": structure.unsure} if structure.unsure else {})


def _like(
    subject: Subject, first: Subject, main: Structure, kept: dict[str, Structure], samples: dict[str, list[Sample]]
) -> dict[str, Any]:
    """A class as its own rows beside those of the first class's base, or studied in full where the bases differ."""
    base = subject.sample({})
    old, new = first.model.base_model_prefix, subject.model.base_model_prefix  # type: ignore[attr-defined]
    if not any(part.path == new for part in base.modules):
        new = ""
    old = old if any(row[0] == old for row in main.rows) else ""
    shared = moved(main.rows, main.lists, old, new)
    alone = learn([base], subject.again)
    wanted = [row for row in alone.rows if not below(row[0], new)]
    lists = {path: count for path, count in alone.lists.items() if not below(path, new)}
    whole = Structure([*wanted, *map(list, shared[0])], {**shared[1], **lists}, [])
    if old and matches(whole.rows, whole.lists, base) and not lists:
        kept[subject.model.__name__] = Structure(wanted, {}, [])
        return {"like": [first.model.__name__, old, new], "rows": wanted}
    samples[subject.model.__name__], structure = study(subject)
    kept[subject.model.__name__] = structure
    return _own(structure)


def text(record: dict[str, Any]) -> str:
    """A record as committed: one line, and conditions that rows share written once."""
    shared: list[Any] = []
    indices: dict[str, int] = {}

    def index(where: Any) -> int:
        key = json.dumps(where)
        if key not in indices:
            indices[key] = len(shared)
            shared.append(where)
        return indices[key]

    classes = {}
    for name, entry in record["classes"].items():
        rows = []
        for path, kind, weights, *rest in entry["rows"]:
            where, more = (*rest, [], [])[:2]
            row: list[Any] = [path, kind, weights]
            if where or more:
                row.append(index(where))
            if more:
                row.append([[weight, index(condition)] for weight, condition in more])
            while not row[-1] and row[-1] != 0:
                row.pop()
            rows.append(row)
        classes[name] = {**entry, "rows": rows}
    made = {**record, "classes": classes, "where": shared}
    return json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"
