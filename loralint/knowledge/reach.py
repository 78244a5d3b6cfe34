"""What a name may mean in a model of which only the type is known: in any class, with Transformers 4 or 5.

Paths hold `*` for the number of a layer. So "nothing has this name" can be proved, and "this many have it" cannot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loralint.knowledge import catalogue
from loralint.knowledge.pattern import Unmatchable, lines
from loralint.knowledge.structure import Row
from loralint.knowledge.targets import PACKED, SUPPORTED

_TRIED = (1, 200, 64, 12, 4)  # numbers, by how many lists lie in one another
_MOST_NAMED = 32  # numbers that one expression may name beside these


class Names(NamedTuple):
    """Paths: layers that take an adapter, modules that take none (with their class), and weights of the latter."""

    layers: tuple[str, ...]
    others: dict[str, str]
    weights: tuple[str, ...]


def names(model_type: str, *, bare: bool = True) -> Names | None:
    """All names of a type, in the class without a head only with `bare`; None where a part may be of another type."""
    rows, layers = catalogue.every(model_type, bare=bare), catalogue.adaptable(model_type, bare=bare)
    if rows is None or layers is None:
        return None
    packs = packed(model_type)
    holders = {path for path, *_ in rows if path.endswith(".experts")} if packs else ()
    layers += tuple(f"{holder}.*.{old}" for holder in holders for old in packs)
    others = {path: kind for path, kind, *_ in rows if path and kind not in (*SUPPORTED, "Same") and path not in layers}
    weights = {f"{row[0]}.{name}": None for row in rows if row[0] in others for name in _weights(row)}
    return Names(layers, others, tuple(weights))


def _weights(row: Row) -> Iterator[str]:
    """The names of a module's own weights, those that only some configs give it included."""
    _, _, weights, *rest = row
    more = [weight for weight, _ in rest[1]] if len(rest) > 1 else []
    return (one.partition(" ")[0] for one in [*weights.split(";"), *more] if one)


def ends(path: str, name: str) -> bool:
    """Whether a path ends in a name after a dot, or is it; a number in the name stands for itself."""
    words, wanted = path.split("."), name.split(".")
    tail = words[-len(wanted) :]
    return len(tail) == len(wanted) and all(
        a == b or (a == "*" and b.isdigit()) for a, b in zip(tail, wanted, strict=True)
    )


def trial(expression: str, *, everywhere: bool = False) -> Callable[[str], bool]:
    """The trial whether an expression means any layer of a path, or with `everywhere` each of them.

    Raises Unmatchable.
    """
    search = lines(expression)
    named = {int(number) for number in re.findall(r"\d{1,4}", expression)} - set(range(_TRIED[-1]))
    if len(named) > _MOST_NAMED:
        raise Unmatchable("the regular expression names more numbers than are tried")
    spoken = frozenset(named)

    def means(path: str) -> bool:
        text = _spelled(path, spoken)
        found = search(text)
        return sum(1 for _ in found) == text.count("\n") + 1 if everywhere else any(True for _ in found)

    return means


@lru_cache(maxsize=32)  # of up to 200 KB each
def _spelled(path: str, named: frozenset[int]) -> str:
    """A path with numbers in the place of each `*`, those that the expression names among them: a line for each way."""
    pieces = path.split("*")
    numbers = sorted({*range(_TRIED[min(len(pieces), len(_TRIED)) - 1]), *named})
    spelled = pieces[:1]
    for piece in pieces[1:]:
        ends = [f"{number}{piece}" for number in numbers]
        spelled = [start + end for start in spelled for end in ends]
    return "\n".join(spelled)


def packed(model_type: str) -> dict[str, str]:
    """The names of an expert's layers, and the packed weights that Transformers 5 has instead; empty without them."""
    return dict(PACKED.get(catalogue.experts(model_type) or "", {}))
