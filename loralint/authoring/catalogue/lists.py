"""Lists of alike modules, and how their lengths follow from a config."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from loralint.authoring.catalogue.configs import is_number
from loralint.authoring.catalogue.sample import Sample, template
from loralint.knowledge.structure import size


def lists_of(samples: list[Sample]) -> dict[str, str]:
    """Counts of the lists whose members are alike or whose length follows from a field."""
    lengths = [{part.path: part.length for part in sample.modules if part.length is not None} for sample in samples]
    found: dict[str, str] = {}
    known: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    paths = dict.fromkeys(path for one in lengths for path in one)
    for path in paths:
        folded = template(path, found)
        for sample, length in zip(samples, lengths, strict=True):
            if path in length:
                known[folded][path].append((sample, length[path]))
        count = count_of(known[folded][path], samples[0])
        seen = known[folded][path]
        if (
            folded not in found
            and (not count.isdigit() or _repeats(path, seen[0]))
            and all(_even(path, one) for one, _ in seen)
        ):
            found[folded] = count
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


def count_of(seen: list[tuple[Sample, int]], base: Sample) -> str:
    """A list's length as an expression: constant, linear in the one field that changes it, or a field's own length."""
    if not seen:
        return "0"
    usual = seen[0][1]
    changing: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for sample, length in seen[1:]:
        if length != usual:
            for name, value in _numbers_changed(sample, base):
                changing[name].append((value, length))
    for name, points in changing.items():
        before: Any = base.fields.get(name)
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
    return next((f"len:{name}" for name in base.values if _is_long_as(name, seen)), str(usual))


def _numbers_changed(sample: Sample, base: Sample) -> Iterator[tuple[str, int]]:
    """Fields that are other numbers than usual, and entries of lists that are."""
    for name, value in sample.changed.items():
        usual = base.values.get(name)
        if isinstance(value, int):
            yield name, value
        elif isinstance(value, list) and isinstance(usual, (list, tuple)) and len(value) == len(usual):
            pairs = enumerate(zip(value, usual, strict=True))
            yield from ((f"{name}.{i}", one) for i, (one, before) in pairs if one != before and isinstance(one, int))


def _is_long_as(name: str, seen: list[tuple[Sample, int]]) -> bool:
    """Whether a list is as long as a field's in all samples, of which some have it longer or shorter."""
    lists = [sample.values.get(name) for sample, _ in seen]
    if not all(isinstance(one, (list, tuple)) for one in lists) or len({length for _, length in seen}) < 2:
        return False
    return all(len(one) == length for one, (_, length) in zip(lists, seen, strict=True) if one is not None)


def _is_number_of(sample: Sample, name: str) -> bool:
    return is_number(sample.fields.get(name))
