"""Everything about one model type as one record, and a record as the text of its file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from loralint.authoring.catalogue.learn import Structure, learn, matches
from loralint.authoring.catalogue.normed import normed
from loralint.authoring.catalogue.sample import Sample, plain, template
from loralint.authoring.catalogue.study import Subject, about, experts, field_table, fields_used, study
from loralint.knowledge import catalogue
from loralint.knowledge.prefix import below, moved
from loralint.knowledge.structure import Module, Row, whole
from loralint.knowledge.targets import SUPPORTED, holds_experts


def record(subjects: dict[str, Subject]) -> dict[str, Any]:
    """The record of one model type from its classes by task; the first one is studied, the others compared with it."""
    (_, first), *others = subjects.items()
    samples, structure = study(first)
    kept: dict[str, Structure] = {first.model.__name__: structure}
    classes = {first.model.__name__: _own(structure) | about(first) | fed(first, structure.rows, structure.lists)}
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


def agrees(model_type: str, subjects: dict[str, Subject]) -> bool:
    """Whether the catalogue gives, for the default config, the modules that the main class of a type builds."""
    task, subject = next(iter(subjects.items()))
    return _agrees(model_type, task, subject)


def packs_experts(model_type: str) -> bool:
    """Whether some class of a type keeps all experts of a layer in one weight, as the record on disk says."""
    rows = catalogue.every(model_type) or []
    weights = (weight for row in rows if holds_experts(row[0], row[1]) for weight in row[2].split(";"))
    return any(len(weight.split(" ")) == 4 for weight in weights)


def _agrees(model_type: str, task: str, subject: Subject) -> bool:
    base = subject.sample({})
    config = {**base.tree, "model_type": model_type, "architectures": None}
    try:
        modules = catalogue.from_config(config, task).modules
    except catalogue.Unsolved:
        return False
    return _weighty(modules) == _weighty(Module(part.path, part.kind, plain(part)) for part in base.modules)


def _weighty(modules: Iterable[Module]) -> set[tuple[str, str, frozenset[Any]]]:
    """What training can see of modules: those with weights, and the kinds that take an adapter."""
    return {
        (module.path, module.kind if module.kind in SUPPORTED else "", frozenset(module.weights))
        for module in modules
        if module.weights
    }


def fed(subject: Subject, rows: list[Row], lists: dict[str, str]) -> dict[str, list[int]]:
    """The places of rows whose layers all read what a norm gives, as far as one pass over tokens shows it."""
    seen: dict[str, bool] = {}
    for path, reads in normed(subject).items():
        shared = template(path, lists)
        seen[shared] = seen.get(shared, True) and reads
    places = [place for place, row in enumerate(rows) if seen.get(row[0])]
    return {"normed": places} if places else {}


def _own(structure: Structure) -> dict[str, Any]:
    said: dict[str, Any] = {"rows": structure.rows, "lists": structure.lists}
    return said | ({"unsure": structure.unsure} if structure.unsure else {})


def _like(
    subject: Subject, first: Subject, main: Structure, kept: dict[str, Structure], samples: dict[str, list[Sample]]
) -> dict[str, Any]:
    """A class as its own rows beside those of the first class's base, or studied in full where the bases differ."""
    base = subject.sample({})
    old = _prefix(first, {row[0] for row in main.rows})
    new = _prefix(subject, {part.path for part in base.modules})
    alone = learn([base], subject.again)
    shared, lists = moved(main.rows, main.lists, old, new)
    there = {_top(row[0], new) for row in alone.rows}
    missing = sorted({_top(row[0], new) for row in shared} - there)
    shared = [row for row in shared if not any(below(row[0], path) for path in missing)]
    told = {row[0] for row in shared}
    own: list[Row] = [row for row in alone.rows if row[0] not in told]
    if all(path in lists for path in alone.lists) and matches([*own, *shared], lists, base):
        kept[subject.model.__name__] = Structure(own, {}, [])
        return {"like": [first.model.__name__, old, new, missing], "rows": own}
    samples[subject.model.__name__], structure = study(subject)
    kept[subject.model.__name__] = structure
    return _own(structure)


def _prefix(subject: Subject, paths: set[str]) -> str:
    """The attribute that holds the model without its head; empty where the class has it all at its root."""
    prefix = str(subject.model.base_model_prefix)  # type: ignore[attr-defined]
    return prefix if prefix in paths else ""


def _top(path: str, prefix: str) -> str:
    """The first part of a path below a prefix, with the prefix."""
    rest = path.removeprefix(f"{prefix}.") if prefix else path
    return f"{prefix}.{rest.split('.')[0]}".lstrip(".")


def text(record: dict[str, Any]) -> str:
    """A record as committed: one line, and what rows share written once.

    A row is [words of its path that the path before has as well, the other words, kind, weights, where, more]; kind and
    weights are places in the table `words`, and conditions places in `where`.
    """
    words, where = _Table(), _Table()
    classes = {
        name: {**entry, "rows": _written(entry["rows"], words, where)}
        for name, entry in sorted(record["classes"].items())
    }
    fields = {name: _folded(value) for name, value in record["fields"].items()}
    made = {**record, "fields": fields, "classes": classes, "where": where.entries, "words": words.entries}
    return json.dumps(made, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _folded(value: Any) -> Any:
    """A default; a list that repeats its beginning as {"cycle": beginning, "of": length} where that is shorter."""
    if not isinstance(value, list):
        return value
    for length in range(1, len(value) // 2 + 1):
        made = {"cycle": value[:length], "of": len(value)}
        if whole(made) == value:
            return min(made, value, key=lambda one: len(json.dumps(one)))
    return value


class _Table:
    """Entries in the order first met, each once."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, entry: Any) -> int:
        """The place of an entry, which is put in where it is new."""
        key = json.dumps(entry)
        if key not in self._places:
            self._places[key] = len(self.entries)
            self.entries.append(entry)
        return self._places[key]


def _written(rows: list[Row], words: _Table, where: _Table) -> list[list[Any]]:
    before: list[str] = []
    made = []
    for path, kind, weights, *rest in rows:
        conditions, more = (*rest, [], [])[:2]
        here = path.split(".")
        same = next((i for i, pair in enumerate(zip(before, here, strict=False)) if pair[0] != pair[1]), None)
        same = min(len(before), len(here)) if same is None else same
        row: list[Any] = [same, ".".join(here[same:]), words.place(kind)]
        if weights or conditions or more:
            row.append(words.place(weights))
        if conditions or more:
            row.append(where.place(conditions))
        if more:
            row.append([[weight, where.place(condition)] for weight, condition in more])
        made.append(row)
        before = here
    return made
