"""What a trainer refuses of several keys together, as data: a row for each of its own checks.

A value that is filled in when the run starts leaves every row that asks for it aside.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from loralint.frameworks.lookup import find, loader
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.model import Unknown
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, plain

Test = Callable[[object], bool]
_LATER = Unknown("filled in when the run starts")


class Refusal(NamedTuple):
    """One check at which a trainer stops.

    key: the one to point at, which is written and holds `holds`. why: the rest of "it stops, since ...". beside:
    further keys, dotted where they stand in a mapping, and what each of them holds; an absent or null one is None.
    when: the releases that check it. advice: what to write, where the message does not tell. stops: how the message
    begins, where the trainer stops elsewhere than at its other checks.
    """

    key: str
    holds: Test
    why: str
    beside: tuple[tuple[str, Test], ...] = ()
    when: str = ""
    advice: str = ""
    stops: str = ""


def on(value: object) -> bool:
    """Hold for what Python takes for true."""
    return bool(value)


def off(value: object) -> bool:
    """Hold for what is absent, null, false, zero or empty."""
    return not value


def given(value: object) -> bool:
    """Hold for anything but an absent key or null."""
    return value is not None


def no(value: object) -> bool:
    """Hold for a false that is written."""
    return value is False


def among(*words: object) -> Test:
    """Hold for one of these values, be it a text or a list of just that text."""
    return lambda value: (value[0] if isinstance(value, list) and len(value) == 1 else value) in words


def beyond(*words: object) -> Test:
    """Hold for anything that is written and is none of these values."""
    return lambda value: value is not None and not among(*words)(value)


def without(*words: object) -> Test:
    """Hold for an absent key, too, unless it is one of these values."""
    return lambda value: not among(*words)(value)


def above(limit: float) -> Test:
    """Hold for a number above the limit."""
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value > limit


def below(limit: float) -> Test:
    """Hold for a number below the limit."""
    return lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and value < limit


def like(pattern: str) -> Test:
    """Hold for a text, or a text of a list, in which the expression is found; most runs never ask, and compile none."""

    def holds(value: object) -> bool:
        return any(
            isinstance(one, str) and re.search(pattern, one) for one in (value if isinstance(value, list) else [value])
        )

    return holds


def refused(
    document: Document, look: Look, rows: Iterable[Refusal], stops: str, dialect: str, package: str
) -> Iterator[Observation]:
    """Observe every refusal that holds. stops: how the message begins; package: whose release decides."""
    root, dialect = document.root, loader(document, dialect)
    if root is None:
        return
    for row in rows:
        pair = find(root, row.key)
        if pair is None or not _holds(pair, row.holds, dialect) or (row.when and not look.version_is(row.when)):
            continue
        others = [(key, test, find(root, key)) for key, test in row.beside]
        if all(_holds(other, test, dialect) for _, test, other in others):
            beside = next((place(document, other, key) for key, _, other in others if other is not None), None)
            advice = {"advice": row.advice} if row.advice else {}
            at, message = place(document, pair, row.key), f"{row.stops or stops}, since {row.why}"
            yield Observation("rejected", at, "crash", message, package=package, other=beside, data=advice)


def _holds(pair: Pair | None, test: Test, dialect: str) -> bool:
    value = _plain(pair.value, dialect) if pair is not None else None
    return value is not _LATER and test(value)


def _plain(node: Node, dialect: str) -> object:
    """What the loader makes of a node; a text that holds a placeholder, or a list with one, is not known."""
    inner = node.items if node.kind == "sequence" else [node]
    if any(one.kind == "scalar" and is_template(one.raw) for one in inner):
        return _LATER
    value = plain(node, dialect)
    return _LATER if isinstance(value, Unknown) else value
