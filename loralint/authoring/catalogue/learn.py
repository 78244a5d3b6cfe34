"""From models built with one field changed at a time to rows that give the modules of any config."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from math import prod
from typing import Any, NamedTuple

from loralint.authoring.catalogue.configs import are_kinds, is_number
from loralint.authoring.catalogue.trace import Part
from loralint.knowledge.peft import SUPPORTED
from loralint.knowledge.structure import Fields, Module, Row, Unsolved, expand, holds, size

_INDEX = re.compile(r"(?<=\.)\d+(?=\.|$)")


class Sample(NamedTuple):
    """A model that was built: what was changed, its fields, its modules with plain shapes."""

    changed: dict[str, Any]
    values: dict[str, Any]
    tree: dict[str, Any]
    fields: Fields
    modules: list[Part]


class Structure(NamedTuple):
    """Rows and counts as the catalogue holds them; `unsure` are fields that change modules in ways not learned."""

    rows: list[Row]
    lists: dict[str, str]
    unsure: list[str]


def learn(samples: list[Sample], again: Callable[[Sample], list[Part] | None]) -> Structure:
    """Learn from samples, the first of which is the unchanged one; `again` builds a sample with traced numbers."""
    lists = _lists(samples)
    seen = [_seen(sample.modules, lists) for sample in samples]
    units: dict[_Unit, None] = {}
    for number, sample in enumerate(samples):
        if number == 0 or _missing(units, sample, seen[number]):
            known = {_evaluated(unit, sample.fields) for unit in units}
            new = [unit for unit in _units(again(sample) or [], lists) if _evaluated(unit, sample.fields) not in known]
            texts = [*units, *new]
            units |= _known({unit: _solved(unit, texts, samples, seen, sample) for unit in new})
    lost = {unit[:3] for unit in units if unit.sizes == _UNKNOWN}
    units = {unit: None for unit in units if unit[:3] not in lost or unit.sizes == _UNKNOWN}
    rows = _rows(units, samples, seen, lists)
    return Structure(rows, lists, _unsure(rows, lists, samples))


class _Unit(NamedTuple):
    """What is learned on its own: that a module is there (weight None), or one weight of it, with its sizes."""

    path: str
    kind: str
    weight: str | None
    sizes: tuple[str, ...] = ()


_Places = dict[tuple[str, str, str | None, tuple[int, ...] | None], set[tuple[int, ...]]]


def _units(parts: Iterable[Part], lists: Mapping[str, str]) -> dict[_Unit, None]:
    found: dict[_Unit, None] = {}
    for part in parts:
        path = _template(part.path, lists)
        found.setdefault(_Unit(path, part.kind, None))
        for name, sizes in part.weights:
            found.setdefault(_Unit(path, part.kind, name, sizes))
    return found


def _seen(parts: Iterable[Part], lists: Mapping[str, str]) -> _Places:
    """Where each module, and each weight of each shape, stands in one sample."""
    found: _Places = defaultdict(set)
    for part in parts:
        path = _template(part.path, lists)
        at = tuple(int(a) for a, b in zip(part.path.split("."), path.split("."), strict=True) if b == "*")
        found[path, part.kind, None, None].add(at)
        for name, sizes in plain(part):
            found[path, part.kind, name, sizes].add(at)
            found[path, part.kind, name, None].add(at)
    return found


def _evaluated(unit: _Unit, fields: Fields) -> tuple[str, str, str | None, tuple[int, ...] | None] | None:
    """The unit as it stands in a sample; None where its sizes cannot be."""
    if unit.weight is None or unit.sizes == _UNKNOWN:
        return (unit.path, unit.kind, unit.weight, None)
    try:
        return (unit.path, unit.kind, unit.weight, tuple(size(one, fields) for one in unit.sizes))
    except (Unsolved, IndexError, TypeError):
        return None


def _missing(units: Iterable[_Unit], sample: Sample, here: _Places) -> bool:
    known = {_evaluated(unit, sample.fields) for unit in units}
    return any(key not in known for key in here if key[2] is None or key[3] is not None)


_UNKNOWN = ("?",)


def _known(solved: Mapping[_Unit, _Unit | None]) -> dict[_Unit, None]:
    """The units, where a weight with sizes that nothing explains counts as one of unknown shape."""
    lost = {unit[:3] for unit, found in solved.items() if found is None}
    units = (unit if found is None else found for unit, found in solved.items())
    return dict.fromkeys(unit._replace(sizes=_UNKNOWN) if unit[:3] in lost else unit for unit in units)


def _solved(
    unit: _Unit, units: Iterable[_Unit], samples: list[Sample], seen: list[_Places], found: Sample
) -> _Unit | None:
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


def _fits(unit: _Unit, sample: Sample, here: _Places) -> bool:
    """Whether wherever the weight is in a sample, it has these sizes somewhere."""
    if not any(key[:3] == unit[:3] for key in here):
        return True
    return _evaluated(unit, sample.fields) in here


def plain(part: Part) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """A module's weights with the shapes that they were built with."""
    return tuple((name, tuple(map(int, sizes))) for name, sizes in part.weights)


def _template(path: str, folded: Mapping[str, str]) -> str:
    """The path with `*` for the numbers of folded lists."""
    words: list[str] = []
    for word in path.split("."):
        words.append("*" if word.isdigit() and ".".join(words) in folded else word)
    return ".".join(words)


def _lists(samples: list[Sample]) -> dict[str, str]:
    """Counts of the lists whose members are alike or whose length follows from a field."""
    lengths = [{part.path: part.length for part in sample.modules if part.length is not None} for sample in samples]
    found: dict[str, str] = {}
    known: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    paths = dict.fromkeys(path for one in lengths for path in one)
    for path in paths:
        template = _template(path, found)
        for sample, length in zip(samples, lengths, strict=True):
            if path in length:
                known[template][path].append((sample, length[path]))
        count = _count(known[template][path], samples[0])
        seen = known[template][path]
        if template not in found and (not count.isdigit() or _repeats(path, seen[0])) and _even(path, seen[0][0]):
            found[template] = count
    return found


def _even(path: str, sample: Sample) -> bool:
    """Whether lists inside the members of a list are equally long from member to member."""
    lengths: dict[str, int] = {}
    for part in sample.modules:
        if part.length is not None and part.path.startswith(f"{path}."):
            inside = part.path.removeprefix(f"{path}.").partition(".")[2]
            if inside and lengths.setdefault(inside, part.length) != part.length:
                return False
    return True


def _repeats(path: str, seen: tuple[Sample, int]) -> bool:
    """Whether members of a list are alike, so that it is more than a sequence of different modules."""
    sample, length = seen
    kinds = {part.kind for part in sample.modules if part.path.rpartition(".")[0] == path}
    return length > 1 and len(kinds) < length


def _count(seen: list[tuple[Sample, int]], base: Sample) -> str:
    """A list's length as an expression: constant, or linear in the one field that changes it."""
    if not seen:
        return "0"
    usual = seen[0][1]
    changing: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for sample, length in seen[1:]:
        for name, value in sample.changed.items():
            if length != usual and isinstance(value, int):
                changing[name].append((value, length))
    for name, points in changing.items():
        before: Any = base.values.get(name)
        if not is_number(before) or len(points) < 2:
            continue
        (x0, y0), (x1, y1) = (before, usual) if (before, usual) != points[0] else points[1], points[0]
        if x0 == x1 or (y1 - y0) % (x1 - x0):
            continue
        slope = (y1 - y0) // (x1 - x0)
        offset = y1 - slope * x1
        text = name + (f",{slope},*" if slope != 1 else "") + (f",{offset},+" if offset else "")
        if all(size(text, sample.fields) == length for sample, length in seen if _is_number_of(sample, name)):
            return text
    return str(usual)


def _is_number_of(sample: Sample, name: str) -> bool:
    return is_number(sample.fields.get(name))


class _Atom(NamedTuple):
    condition: list[Any]
    mask: int


def _rows(units: Iterable[_Unit], samples: list[Sample], seen: list[_Places], lists: dict[str, str]) -> list[Row]:
    frames: dict[str, _Frame] = {}
    modules: dict[tuple[str, str], list[_Unit]] = defaultdict(list)
    for unit in units:
        modules[unit.path, unit.kind].extend([unit] if unit.weight else [])
    rows: list[Row] = []
    for (path, kind), weights in modules.items():
        name = ".".join(path.split(".")[: _last_star(path)])
        if name not in frames:
            frames[name] = _frame(name, samples, lists)
        frame = frames[name]
        there = frame.places_of(_Unit(path, kind, None), samples, seen)
        always, more = _weights(there, frame, {unit: frame.places_of(unit, samples, seen) for unit in weights})
        row: list[Any] = [path, kind, ";".join(always), frame.where(there, frame.everywhere), more]
        while not row[-1] and len(row) > 3:
            row.pop()
        rows.append(row)
    return rows


def _weights(there: int, frame: _Frame, masks: dict[_Unit, int]) -> tuple[list[str], list[list[Any]]]:
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


def _alone(unit: _Unit, masks: dict[_Unit, int]) -> int:
    """The places where no other expression gives the shape that this one gives."""
    others = [mask for other, mask in masks.items() if other.weight == unit.weight and other != unit]
    return masks[unit] & ~_joined(others)


def _joined(masks: Iterable[int]) -> int:
    joined = 0
    for mask in masks:
        joined |= mask
    return joined


def _last_star(path: str) -> int:
    words = path.split(".")
    return max((i + 1 for i, word in enumerate(words) if word == "*"), default=0)


class _Frame:
    """All places that one path counts through, in all samples, as bits; and the conditions on them."""

    def __init__(self, bits: dict[tuple[int, tuple[int, ...]], int], atoms: list[_Atom]) -> None:
        self.bits, self.atoms = bits, atoms
        self.everywhere = (1 << len(bits)) - 1
        self._known: dict[tuple[int, int], list[Any]] = {}

    def places_of(self, unit: _Unit, samples: list[Sample], seen: list[_Places]) -> int:
        """The places where a unit is."""
        mask = 0
        for number, (sample, here) in enumerate(zip(samples, seen, strict=True)):
            for at in here.get(_evaluated(unit, sample.fields), ()):  # type: ignore[arg-type]
                mask |= 1 << self.bits[number, at] if (number, at) in self.bits else 0
        return mask

    def where(self, wanted: int, among: int) -> list[Any]:
        """The fewest conditions that tell the wanted places among all these; by enumeration where none do."""
        if (wanted, among) not in self._known:
            self._known[wanted, among] = self._where(wanted, among)
        return self._known[wanted, among]

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


def _frame(name: str, samples: list[Sample], lists: dict[str, str], *, entries: bool = True) -> _Frame:
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
    return _Frame(places, made)


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


def _unsure(rows: list[Row], lists: dict[str, str], samples: list[Sample]) -> list[str]:
    """Fields that, changed, give other modules than the rows say."""
    wrong: dict[str, None] = {}
    for sample in samples:
        if not matches(rows, lists, sample):
            wrong |= dict.fromkeys(sample.changed or ("*",))
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
    count = _count([(sample, len(sample.values[name])) for sample in usual], samples[0])
    if count.isdigit():
        return None
    frame = _frame(f"{name}.*", usual, {name: count}, entries=False)
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
