"""From models built with one field changed at a time to rows that give the modules of any config."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from loralint.authoring.catalogue.frame import Frame, frame_of, last_star
from loralint.authoring.catalogue.lists import count_of, lists_of
from loralint.authoring.catalogue.sample import Sample, plain
from loralint.authoring.catalogue.trace import Part
from loralint.authoring.catalogue.units import (
    UNKNOWN,
    Places,
    Unit,
    evaluated,
    missing,
    seen_in,
    settled,
    solved,
    units_of,
)
from loralint.knowledge.structure import Module, Row, Unsolved, expand


class Structure(NamedTuple):
    """Rows and counts as the catalogue holds them; `unsure` are fields that change modules in ways not learned."""

    rows: list[Row]
    lists: dict[str, str]
    unsure: list[str]


def learn(samples: list[Sample], again: Callable[[Sample], list[Part] | None]) -> Structure:
    """Learn from samples, the first of which is the unchanged one; `again` builds a sample with traced numbers."""
    lists = lists_of(samples)
    seen = [seen_in(sample.modules, lists) for sample in samples]
    units: dict[Unit, None] = {}
    for number, sample in enumerate(samples):
        if number == 0 or missing(units, sample, seen[number]):
            known = {evaluated(unit, sample.fields) for unit in units}
            new = [unit for unit in units_of(again(sample) or [], lists) if evaluated(unit, sample.fields) not in known]
            texts = [*units, *new]
            units |= settled({unit: solved(unit, texts, samples, seen, sample) for unit in new})
    lost = {unit[:3] for unit in units if unit.sizes == UNKNOWN}
    units = {unit: None for unit in units if unit[:3] not in lost or unit.sizes == UNKNOWN}
    rows = _rows(units, samples, seen, lists)
    return Structure(rows, lists, _unsure(rows, lists, samples))


def _rows(units: Iterable[Unit], samples: list[Sample], seen: list[Places], lists: dict[str, str]) -> list[Row]:
    frames: dict[str, Frame] = {}
    modules: dict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in units:
        modules[unit.path, unit.kind].extend([unit] if unit.weight else [])
    rows: list[Row] = []
    for (path, kind), weights in modules.items():
        name = ".".join(path.split(".")[: last_star(path)])
        if name not in frames:
            frames[name] = frame_of(name, samples, lists)
        frame = frames[name]
        there = frame.places_of(Unit(path, kind, None), samples, seen)
        always, more = _weights(there, frame, {unit: frame.places_of(unit, samples, seen) for unit in weights})
        row: list[Any] = [path, kind, ";".join(always), frame.where(there, frame.everywhere), more]
        while not row[-1] and len(row) > 3:
            row.pop()
        rows.append(row)
    return rows


def _weights(there: int, frame: Frame, masks: dict[Unit, int]) -> tuple[list[str], list[list[Any]]]:
    """Weights that a module always has, and those under conditions: [text, where]."""
    always, more = [], []
    claimed: dict[str | None, int] = defaultdict(int)
    # where two expressions give one shape by chance, the places of just one of them tell when it holds
    for unit, wanted in sorted(masks.items(), key=lambda item: _alone(item[0], masks) == 0):
        text = " ".join((str(unit.weight), *unit.sizes))
        alone = _alone(unit, masks) or wanted & ~claimed[unit.weight]
        if wanted == there:
            always.append(text)
        elif alone:
            among = there & ~(wanted & ~alone) & ~(0 if _alone(unit, masks) else claimed[unit.weight])
            more.append([text, frame.where(alone, among)])
        claimed[unit.weight] |= wanted
    return always, more


def _alone(unit: Unit, masks: dict[Unit, int]) -> int:
    """The places where no other expression gives the shape that this one gives."""
    others = [mask for other, mask in masks.items() if other.weight == unit.weight and other != unit]
    return masks[unit] & ~_joined(others)


def _joined(masks: Iterable[int]) -> int:
    joined = 0
    for mask in masks:
        joined |= mask
    return joined


def _unsure(rows: list[Row], lists: dict[str, str], samples: list[Sample]) -> list[str]:
    """Fields that, changed, give other modules than the rows say; null counts as the default where a config has it."""
    wrong: dict[str, None] = {}
    for sample in samples:
        if not matches(rows, lists, sample):
            given = (name for name, value in sample.changed.items() if value is not None)
            wrong |= dict.fromkeys(given if sample.changed else ("*",))
    return list(wrong)


def matches(rows: list[Row], lists: dict[str, str], sample: Sample) -> bool:
    """Whether the rows give exactly the modules of a sample."""
    try:
        made = expand(rows, lists, sample.fields)
    except (Unsolved, IndexError, TypeError, KeyError):
        return False
    return alike(made, sample)


def alike(made: Sequence[Module], sample: Sample) -> bool:
    """Whether modules are those of a sample."""
    actual = {part.path: (part.kind, dict(plain(part))) for part in sample.modules}
    if sorted(module.path for module in made) != sorted(actual):
        return False
    return all(_alike(module, *actual[module.path]) for module in made)


def _alike(module: Module, kind: str, weights: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a module is as it was built, as far as its shapes are known."""
    told = dict(module.weights)
    return (
        module.kind == kind
        and told.keys() == weights.keys()
        and all(shape is None or shape == weights[name] for name, shape in told.items())
    )


def default_list(name: str, samples: list[Sample]) -> Any:
    """How a list with one entry a layer comes about where a config does not give it; None where that is not learned."""
    usual = [sample for sample in samples if name not in sample.changed]
    usual = [sample for sample in usual if isinstance(sample.values.get(name), (list, tuple))]
    count = count_of([(sample, len(sample.values[name])) for sample in usual], samples[0])
    if count.isdigit():
        return None
    frame = frame_of(f"{name}.*", usual, {name: count}, entries=False)
    each = []
    for value in dict.fromkeys(entry for sample in usual for entry in sample.values[name]):
        wanted = 0
        for (number, at), bit in frame.bits.items():
            entries = usual[number].values[name]
            wanted |= (1 << bit) if at[0] < len(entries) and entries[at[0]] == value else 0
        each.append([value, frame.where(wanted, frame.everywhere)])
    if any(condition[0] in ("at", "places") for _, where in each for condition in where):
        return None
    return {"each": each, "of": count}
