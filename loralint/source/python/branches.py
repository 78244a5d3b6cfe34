"""Paths that part and meet again: each is followed from the same state, then what they left is joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from loralint.source.python.held import Class, Function, Object
from loralint.source.python.joins import merge, settled
from loralint.source.python.state import MISSING, Frame
from loralint.source.python.walk import LOOP, ON, RAISE, RETURN

if TYPE_CHECKING:
    from collections.abc import Sequence as Several

    from loralint.source.python.state import Changes, State

# One path: follows it, and says how it ends.
Way = Callable[[], str]
# Items of a list over which a loop is followed turn by turn.
TURNS = 8


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
    if not state.muted:
        state.muted += 1
        enter(state, state.loops)
        body()
        leave(state, state.loops)
        state.muted -= 1
    for place, (store, key, now) in state.changes(begin).items():
        before = once[place][2] if place in once else MISSING
        state.write(store, key, settled(store, before, now))
    return ON


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
