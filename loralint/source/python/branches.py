"""Paths that part and meet again: each is followed from the same state, then what they left is joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python.held import Class, Entries, Function, Items, Names, Object, Scalar, Sequence, thing_of
from loralint.source.python.state import MISSING, Frame
from loralint.source.python.walk import LOOP, ON, RAISE, RETURN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Sequence as Several

    from loralint.source.python.held import Held
    from loralint.source.python.state import Changes, State

# One path: follows it, and says how it ends.
Way = Callable[[], str]
# Items of a list over which a loop is followed turn by turn.
TURNS = 8
_DIFFERS = Unknown("it differs from branch to branch of the script")
_TURNS = Unknown("it changes from turn to turn of a loop")
_PERHAPS = Unknown("it is given in one branch of the script only")


def branch(state: State, ways: Several[Way]) -> str:
    """Follow ways of which a run takes one; say how they end together."""
    begin = len(state.journal)
    ends = []
    for way in ways:
        state.unsure += 1
        flow = way()
        state.unsure -= 1
        ends.append((flow, state.undo(begin)))
    staying = [changes for flow, changes in ends if flow == ON]
    leaving = [(flow, changes) for flow, changes in ends if flow not in {ON, RAISE}]
    if staying:
        for flow, changes in leaving:
            _leave(state, flow, changes)
        merge(state, staying)
        return ON
    merge(state, [changes for _, changes in leaving])
    flows = {flow for flow, _ in leaving}
    return RETURN if RETURN in flows else LOOP if LOOP in flows else RAISE


def _leave(state: State, flow: str, changes: Changes) -> None:
    """Keep what a path had changed when it left its function or loop; what follows is for the other paths only."""
    frames = state.functions if flow == RETURN else state.loops
    if frames:
        frame = frames[-1]
        frame.exits.append({**state.changes(frame.begin), **changes})
        state.unsure += 1


def loop(state: State, body: Way, sure: bool) -> str:
    """Follow a loop: its body once, and once more unheard, to see what differs from turn to turn."""
    if not sure:
        return branch(state, [lambda: loop(state, body, sure=True), lambda: ON])
    begin = len(state.journal)
    enter(state, state.loops)
    flow = body()
    leave(state, state.loops)
    if flow in {RETURN, RAISE}:
        return flow
    once = state.changes(begin)
    if state.muted < 2:
        state.muted += 1
        enter(state, state.loops)
        body()
        leave(state, state.loops)
        state.muted -= 1
    for place, (store, key, now) in state.changes(begin).items():
        before = once[place][2] if place in once else MISSING
        state.write(store, key, _settled(store, before, now))
    return ON


def _settled(store: dict[Any, Any], once: Any, twice: Any) -> Any:
    """What holds after some turns of a loop, of which one and two leave these."""
    if once is twice or twice is MISSING or once is MISSING:
        return twice
    if isinstance(store, Items):
        return once if _equal_items(once, twice) else None
    if isinstance(store, Entries):
        if not isinstance(once, tuple) or not isinstance(twice, tuple):
            return True  # OPEN
        return (once[0], _settled(Names(), once[1], twice[1]))
    literal = isinstance(once, Scalar) or isinstance(twice, Scalar)
    return once if not literal or same(once, twice) else _unknown(once.node, _TURNS)


def rescue(state: State, flow: str, handlers: Several[Way]) -> str:
    """Follow the handlers of a `try` whose body was followed and ended with `flow`; its sure calls stay sure."""
    begin = len(state.journal)
    staying = []
    for way in handlers:
        state.unsure += 1
        end = way()
        state.unsure -= 1
        changes = state.undo(begin)
        if end == ON:
            staying.append({place: one for place, one in changes.items() if not _defined(one[0].get(one[1]))})
        elif end != RAISE:
            _leave(state, end, changes)
    if flow == ON:
        merge(state, [{}, *staying])
    elif staying:
        if flow != RAISE:
            _leave(state, flow, {})
        merge(state, staying)
        return ON
    return flow


def _defined(held: Any) -> bool:
    """Whether a name holds what an import or definition gave it, which is taken to have succeeded."""
    return isinstance(held, (Function, Class)) or (isinstance(held, Object) and held.node.tag == "import")


def enter(state: State, frames: list[Frame], owner: Any = None, instance: Any = None) -> Frame:
    """Begin a function or loop."""
    frame = Frame(len(state.journal), [], [], owner, instance, state.muted)
    frames.append(frame)
    return frame


def leave(state: State, frames: list[Frame]) -> Frame:
    """End a function or loop: the paths that left it early meet the one that went through."""
    frame = frames.pop()
    if frame.exits:
        state.unsure -= len(frame.exits)
        merge(state, [state.undo(frame.begin), *frame.exits])
    return frame


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
    if isinstance(store, Items):
        return present[0] if all(_equal_items(one, present[0]) for one in present) else None
    if not isinstance(store, Names) and len(present) < len(found):
        return _perhaps(store, present[0])
    if isinstance(store, Entries):
        if not all(isinstance(one, tuple) for one in present):
            return True  # OPEN
        return (present[0][0], join(state, [one[1] for one in present]))
    return join(state, present)


def _perhaps(store: dict[Any, Any], held: Any) -> Any:
    if isinstance(store, Entries):
        return (held[0], _unknown(held[1].node, _PERHAPS)) if isinstance(held, tuple) else True
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
        return known and mine.tag == theirs.tag and repr_equal(mine.native, theirs.native)
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return one.store is other.store or (_equal_items(one.store["items"], other.store["items"]))
    mine_thing, their_thing = thing_of(one), thing_of(other)
    return mine_thing is not None and mine_thing is their_thing


def repr_equal(one: object, other: object) -> bool:
    """Equality that takes nan for nan."""
    return one == other or (one != one and other != other)  # noqa: PLR0124 - only nan differs from itself


def _equal_items(one: tuple[Held, ...] | None, other: tuple[Held, ...] | None) -> bool:
    if one is None or other is None:
        return one is other
    if len(one) != len(other) or len(one) > 100:
        return False
    return all(isinstance(a, Scalar) and isinstance(b, Scalar) and same(a, b) for a, b in zip(one, other, strict=True))


def _unknown(place: Node, reason: Unknown, tag: str = "unknown") -> Scalar:
    return Scalar(Node("scalar", tag, place.start_mark, place.end_mark, place.raw, True, reason))
