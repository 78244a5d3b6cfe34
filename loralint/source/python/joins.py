"""What a name holds after paths that left different things in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python.held import Entries, Items, Names, Object, Scalar, Sequence, thing_of
from loralint.source.python.state import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Sequence as Several

    from loralint.source.python.held import Held
    from loralint.source.python.state import Changes, State


_DIFFERS = Unknown("it differs from branch to branch of the script")


_TURNS = Unknown("it changes from turn to turn of a loop")


_PERHAPS = Unknown("it is given in one branch of the script only")


_OVERLAID = Unknown("the script may put something else in its place when it runs")


def overlaid(held: Held) -> Held:
    """What an entry or a name holds over which something is put that nobody sees."""
    return _unknown(held.node, _OVERLAID)


def merge(state: State, found: Several[Changes]) -> None:
    """Let hold what several paths left, of which a run takes one."""
    places = {place: (store, key) for changes in found for place, (store, key, _) in changes.items()}
    for place, (store, key) in places.items():
        before = store.get(key, MISSING)
        after = [changes[place][2] if place in changes else before for changes in found]
        state.write(store, key, _joined(state, store, after))
    state.spend(len(places))


def _joined(state: State, store: dict[Any, Any], found: Several[Any]) -> Any:
    first = found[0]
    if all(one is first for one in found):
        return first
    present = [one for one in found if one is not MISSING]
    if any(one is True for one in present):
        return True  # of OPEN
    if isinstance(store, Items):
        return present[0] if all(equal_items(one, present[0]) for one in present) else None
    if not isinstance(store, Names) and len(present) < len(found):
        return _perhaps(store, present[0])
    if isinstance(store, Entries):
        return (present[0][0], join(state, [one[1] for one in present]))
    return join(state, present)


def _perhaps(store: dict[Any, Any], held: Any) -> Any:
    if isinstance(store, Entries):
        return (held[0], _unknown(held[1].node, _PERHAPS))
    return _unknown(held.node, _PERHAPS)


def join(state: State, found: Iterable[Held]) -> Held:
    """Say what a name holds that was given different things on different paths."""
    first, *rest = found
    if all(same(first, other) for other in rest):
        return first
    things = {thing.number: thing for one in (first, *rest) if (thing := thing_of(one))}
    if not things:
        return _unknown(first.node, _DIFFERS)
    thing = state.thing()
    thing.either = tuple(things.values())
    return Object(_unknown(first.node, _DIFFERS, "object").node, thing)


def same(one: Held, other: Held) -> bool:
    """Whether two are the same thing or equal literals."""
    if one is other:
        return True
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        mine, theirs = one.node, other.node
        known = not isinstance(mine.native, Unknown)
        return known and mine.tag == theirs.tag and _equal(mine.native, theirs.native)
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return one.store is other.store or (equal_items(one.store["items"], other.store["items"]))
    mine_thing, their_thing = thing_of(one), thing_of(other)
    return mine_thing is not None and mine_thing is their_thing


def _equal(one: object, other: object) -> bool:
    """Equality that takes nan for nan."""
    return one == other or (one != one and other != other)  # noqa: PLR0124 - only nan differs from itself


def equal_items(one: tuple[Held, ...] | None, other: tuple[Held, ...] | None) -> bool:
    """Whether two lists hold equal literals."""
    if one is None or other is None:
        return one is other
    if len(one) != len(other) or len(one) > 100:
        return False
    return all(isinstance(a, Scalar) and isinstance(b, Scalar) and same(a, b) for a, b in zip(one, other, strict=True))


def _unknown(place: Node, reason: Unknown, tag: str = "unknown") -> Scalar:
    return Scalar(Node("scalar", tag, place.start_mark, place.end_mark, place.raw, True, reason))


def settled(store: dict[Any, Any], once: Any, twice: Any) -> Any:
    """What holds after some turns of a loop, of which one and two leave these."""
    if once is twice or twice is MISSING or once is MISSING:
        return twice
    if isinstance(store, Items):
        return once if equal_items(once, twice) else None
    if once is True or twice is True:
        return True  # of OPEN
    if isinstance(store, Entries):
        return (once[0], settled(Names(), once[1], twice[1]))
    literal = isinstance(once, Scalar) or isinstance(twice, Scalar)
    return once if not literal or same(once, twice) else _unknown(once.node, _TURNS)
