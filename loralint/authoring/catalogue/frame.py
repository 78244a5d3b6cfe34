"""Conditions on the number of a layer and on fields, and the search for the few that tell some places from others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import Any, NamedTuple

from loralint.authoring.catalogue.configs import are_kinds, is_number
from loralint.authoring.catalogue.sample import Sample
from loralint.authoring.catalogue.units import Places, Unit, evaluated
from loralint.knowledge.structure import Fields, Unsolved, holds, size


class _Atom(NamedTuple):
    condition: list[Any]
    mask: int


def last_star(path: str) -> int:
    """How many words of a path its last `*` ends."""
    words = path.split(".")
    return max((i + 1 for i, word in enumerate(words) if word == "*"), default=0)


class Frame:
    """All places that one path counts through, in all samples, as bits; and the conditions on them."""

    def __init__(self, bits: dict[tuple[int, tuple[int, ...]], int], atoms: list[_Atom]) -> None:
        self.bits, self.atoms = bits, atoms
        self.everywhere = (1 << len(bits)) - 1
        self.known: dict[tuple[int, int], list[Any]] = {}

    def places_of(self, unit: Unit, samples: list[Sample], seen: list[Places]) -> int:
        """The places where a unit is."""
        mask = 0
        for number, (sample, here) in enumerate(zip(samples, seen, strict=True)):
            for at in here.get(evaluated(unit, sample.fields), ()):  # type: ignore[arg-type]
                mask |= 1 << self.bits[number, at] if (number, at) in self.bits else 0
        return mask

    def where(self, wanted: int, among: int) -> list[Any]:
        """The fewest conditions that tell the wanted places among all these; by enumeration where none do."""
        if (wanted, among) not in self.known:
            self.known[wanted, among] = self._where(wanted, among)
        return self.known[wanted, among]

    def _where(self, wanted: int, among: int) -> list[Any]:
        found, rest = self._together(wanted, among)
        if not rest:
            return found
        unless, rest = self._together(among & ~wanted, among)
        if not rest:
            return [["not", unless]]
        for atom in self.atoms:  # one condition, and not several others together
            inside = among & atom.mask
            if not wanted & ~atom.mask and inside != among:
                unless, rest = self._together(inside & ~wanted, inside)
                if not rest:
                    return [atom.condition, ["not", unless]]
        base = [at for (number, at), bit in self.bits.items() if number == 0 and wanted >> bit & 1]
        depth = len(next(iter(self.bits), (0, ()))[1])
        if depth == 0:  # as it is by default, which the fields that change it are then told to be unsure of
            return [] if base else [["true", "-"]]
        numbers = [sorted({at[axis] for at in base}) for axis in range(depth)]
        if len(base) < prod(map(len, numbers)):
            return [["places", sorted(map(list, base)), 0]]
        return [["at", one, axis] for axis, one in enumerate(numbers)]

    def _together(self, wanted: int, among: int) -> tuple[list[Any], int]:
        """Conditions that all hold at the wanted places, chosen greedily, and the other places where they do too."""
        fitting = [atom for atom in self.atoms if not wanted & ~atom.mask]
        extra = among & ~wanted
        chosen: list[Any] = []
        while extra:
            best = max(fitting, key=lambda atom: (extra & ~atom.mask).bit_count(), default=None)
            if best is None or not extra & ~best.mask or len(chosen) > 3:
                break
            chosen.append(best.condition)
            extra &= best.mask
        return chosen, extra


def frame_of(name: str, samples: list[Sample], lists: dict[str, str], *, entries: bool = True) -> Frame:
    """The places that a path with `*` counts through in the samples; `entries`: with conditions on lists of kinds."""
    places: dict[tuple[int, tuple[int, ...]], int] = {}
    for number, sample in enumerate(samples):
        for at in _grid(name, lists, sample.fields):
            places[number, at] = len(places)
    made = []
    for condition in _conditions(samples, name.split(".").count("*")):
        if not entries and "in" in (condition[0], condition[1][0][0]):
            continue
        mask = 0
        try:
            for (number, at), bit in places.items():
                if holds([condition], at, samples[number].fields):
                    mask |= 1 << bit
        except (Unsolved, IndexError, TypeError, KeyError):
            continue
        made.append(_Atom(condition, mask))
    return Frame(places, made)


def _grid(frame: str, lists: dict[str, str], fields: Fields) -> Iterator[tuple[int, ...]]:
    counts, words = [], frame.split(".") if frame else []
    for i, word in enumerate(words):
        if word == "*":
            try:
                counts.append(size(lists[".".join(words[:i])], fields))
            except Unsolved:
                counts.append(0)
    return product(*map(range, counts))


def _conditions(samples: list[Sample], depth: int) -> Iterator[list[Any]]:
    base = samples[0].values
    changed = {name for sample in samples for name in sample.changed}
    for name in sorted(changed):
        yield from (["true", name], ["false", name])
        words = {
            value
            for value in (base.get(name), *(s.changed[name] for s in samples if name in s.changed))
            if isinstance(value, str)
        }
        for word in sorted(words):
            yield from (["is", name, word], ["not", [["is", name, word]]])
    sizes = [name for name in sorted(changed) if re.search(r"(size|dim|model)$", name) and is_number(base.get(name))]
    for name, other in combinations(sizes, 2):
        if base[name] == base[other]:
            yield from (["same", name, other], ["not", [["same", name, other]]])
    for axis in range(depth):
        for condition in _of_layers(base, changed, samples):
            yield from ([*condition, axis], ["not", [[*condition, axis]]])


def _of_layers(base: dict[str, Any], changed: set[str], samples: list[Sample]) -> Iterator[list[Any]]:
    """Conditions on a layer's number, the likeliest first."""
    yield from (["below", "1"], ["below", "2"])
    entries: dict[str, set[Any]] = defaultdict(set)
    for sample in samples:
        for name, value in sample.values.items():
            if are_kinds(value):
                entries[name] |= set(value)
    for name, words in entries.items():
        for word in sorted(words, key=str):
            yield ["in", name, [word]]
    yield from (["listed", name] for name, value in base.items() if isinstance(value, list) and not are_kinds(value))
    yield from _of_numbers(base, changed)


def _of_numbers(base: dict[str, Any], changed: set[str]) -> Iterator[list[Any]]:
    """Conditions that compare a layer's number with fields."""
    numbers = [name for name in sorted(changed) if isinstance(base.get(name), int) and not isinstance(base[name], bool)]
    for name in numbers:
        if re.search(r"layer|dense|first|last|step|freq|interval|every|period|offset|shared|depth|num_\w+s$", name):
            yield from (["below", name], ["below", f"{name},1,-"])
            yield from (["every", name, "0"], ["every", name, f"{name},1,-"])
            total = f"{name.rpartition('.')[0]}.num_hidden_layers".lstrip(".")
            if total in base and total != name:
                yield ["below", f"{total},{name},-"]
            for other in numbers:
                if "offset" in other and other != name:
                    yield ["every", name, other]
