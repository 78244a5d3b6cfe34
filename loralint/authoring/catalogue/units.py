"""What is learned one by one: that a module is there, and each weight with its sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice, product
from typing import NamedTuple

from loralint.authoring.catalogue.sample import Sample, plain, template
from loralint.authoring.catalogue.trace import Part
from loralint.knowledge.structure import Fields, Unsolved, size
from loralint.knowledge.targets import SUPPORTED


class Unit(NamedTuple):
    """What is learned on its own: that a module is there (weight None), or one weight of it, with its sizes."""

    path: str
    kind: str
    weight: str | None
    sizes: tuple[str, ...] = ()


Places = dict[tuple[str, str, str | None, tuple[int, ...] | None], set[tuple[int, ...]]]


def units_of(parts: Iterable[Part], lists: Mapping[str, str]) -> dict[Unit, None]:
    """The units of a model, with the sizes as it was given them."""
    found: dict[Unit, None] = {}
    for part in parts:
        path = template(part.path, lists)
        found.setdefault(Unit(path, part.kind, None))
        for name, sizes in part.weights:
            found.setdefault(Unit(path, part.kind, name, sizes))
    return found


def seen_in(parts: Iterable[Part], lists: Mapping[str, str]) -> Places:
    """Where each module, and each weight of each shape, stands in one sample."""
    found: Places = defaultdict(set)
    for part in parts:
        path = template(part.path, lists)
        at = tuple(int(a) for a, b in zip(part.path.split("."), path.split("."), strict=True) if b == "*")
        found[path, part.kind, None, None].add(at)
        for name, sizes in plain(part):
            found[path, part.kind, name, sizes].add(at)
            found[path, part.kind, name, None].add(at)
    return found


def evaluated(unit: Unit, fields: Fields) -> tuple[str, str, str | None, tuple[int, ...] | None] | None:
    """The unit as it stands in a sample; None where its sizes cannot be."""
    if unit.weight is None or unit.sizes == UNKNOWN:
        return (unit.path, unit.kind, unit.weight, None)
    try:
        return (unit.path, unit.kind, unit.weight, tuple(size(one, fields) for one in unit.sizes))
    except (Unsolved, IndexError, TypeError):
        return None


def missing(units: Iterable[Unit], sample: Sample, here: Places) -> bool:
    """Whether a sample has something that no unit explains."""
    known = {evaluated(unit, sample.fields) for unit in units}
    return any(key not in known for key in here if key[2] is None or key[3] is not None)


UNKNOWN = ("?",)


def settled(found: Mapping[Unit, Unit | None]) -> dict[Unit, None]:
    """The units, where a weight with sizes that nothing explains counts as one of unknown shape."""
    lost = {unit[:3] for unit, better in found.items() if better is None}
    units = (unit if better is None else better for unit, better in found.items())
    return dict.fromkeys(unit._replace(sizes=UNKNOWN) if unit[:3] in lost else unit for unit in units)


def solved(unit: Unit, units: Iterable[Unit], samples: list[Sample], seen: list[Places], found: Sample) -> Unit | None:
    """The unit with sizes that lost their expression replaced by one that other weights have, if one fits everywhere.

    None where none does, and the module is none that takes an adapter.
    """
    if unit.weight is None or not any(one.isdigit() and int(one) > 1 for one in unit.sizes):
        return unit
    if all(_fits(unit, sample, here) for sample, here in zip(samples, seen, strict=True)):
        return unit
    known = dict.fromkeys(one for other in units for one in other.sizes if not one.isdigit())
    known |= dict.fromkeys(name for name, value in samples[0].values.items() if isinstance(value, int))
    choices = [
        [one, *(other for other in known if _equal(other, one, found.fields))] if one.isdigit() else [one]
        for one in unit.sizes
    ]
    for sizes in islice(product(*choices), 400):
        tried = unit._replace(sizes=sizes)
        if all(_fits(tried, sample, here) for sample, here in zip(samples, seen, strict=True)):
            return tried
    return unit if unit.kind in SUPPORTED else None


def _equal(text: str, literal: str, fields: Fields) -> bool:
    try:
        return size(text, fields) == int(literal)
    except (Unsolved, IndexError, TypeError):
        return False


def _fits(unit: Unit, sample: Sample, here: Places) -> bool:
    """Whether wherever the weight is in a sample, it has these sizes somewhere."""
    if not any(key[:3] == unit[:3] for key in here):
        return True
    return evaluated(unit, sample.fields) in here
