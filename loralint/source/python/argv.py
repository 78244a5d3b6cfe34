"""Command lines that a program makes itself: `parser.parse_args(["--lr", "2e-4"])`, `sys.argv = ["train.py", ...]`.

What is given there in plain text counts, and what is left out has its default: no word of the launch arrives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import fold
from loralint.source.python.held import OPEN, Attributes, Scalar, Sequence

if TYPE_CHECKING:
    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State
    from loralint.source.script import Call

_ADDS = frozenset({"sys.argv.append", "sys.argv.extend", "sys.argv.insert"})
# As scripts take out the rank that a launcher puts there.
_FILTERED = re.compile(r"\bargv[ \t]*=[ \t]*\[[^\]\n]{0,200}\bin[ \t]+sys\.argv\b")
_SWITCHES = {"store_true": True, "store_false": False}


def own_line(state: State, call: Invocation) -> Attributes | None:
    """The options as a program hands them to its parser itself; None where the launch's command line gives them.

    Where more is done with the words than can be followed, nobody knows any of them.
    """
    if not is_own(state, call):
        return None
    given = _given(state, _words(state, call))
    if given is None:
        return Attributes({OPEN: True})
    names = (name for name in state.arguments if not name.startswith("$"))
    return Attributes({name: given.get(name) or Scalar(state.arguments[name].node) for name in names})


def is_own(state: State, call: Invocation) -> bool:
    """Whether a program hands its parser words of its own, or puts some among those of the launch."""
    return isinstance(call.arg("args", 0), Sequence) or _line(state) is not None or _is_touched(state)


def _words(state: State, call: Invocation) -> tuple[Held, ...] | None:
    """The words that the parser gets, without the program's name; None where they are not seen."""
    held = call.arg("args", 0)
    if isinstance(held, Sequence):
        items: tuple[Held, ...] | None = held.store["items"]
        return items
    line = _line(state)
    items = line.store["items"] if isinstance(line, Sequence) and not _is_touched(state) else None
    return items[1:] if items else None


def _line(state: State) -> Held | None:
    """What the program puts in the place of `sys.argv`; None where most of it is what the launch gave."""
    system = state.imported.get("sys")
    held: Held | None = state.given.get(system.number, {}).get("argv") if system is not None else None
    known = isinstance(held, Sequence) and held.store["items"] is not None
    several = (state.document, *state.documents()) if held is not None and not known else ()
    return None if any(_FILTERED.search(one.text) for one in several) else held


def _is_touched(state: State) -> bool:
    """Whether words are put among those that the launch gives."""
    line = state.imported.get("sys.argv")
    return line is not None and any(one.name in _ADDS or (one.on is line and _is_slice(one)) for one in state.calls)


def _is_slice(call: Call) -> bool:
    """Whether a call gives several items at once: `sys.argv[1:] = [...]`."""
    return call.name == "__setitem__" and ":" in call.args[0].node.raw


def _given(state: State, words: tuple[Held, ...] | None) -> dict[str, Held] | None:
    """The options that the words give; None where a word is none of them that can be told."""
    found: dict[str, Held] = {}
    rest = list(words or ())[::-1]
    while rest:
        word = rest.pop()
        flag, equals, value = (fold.text(word) or "").partition("=")
        option = state.options.get(flag)
        if option is None or not (option.plain or option.action in _SWITCHES):
            return None
        if option.action in _SWITCHES:
            found[option.name] = _scalar(word.node, "bool", _SWITCHES[option.action])
        elif equals or rest:
            found[option.name] = _as_given(_scalar(word.node, "str", value) if equals else rest.pop(), option.kind)
        else:
            return None
    return found if words is not None else None


def _as_given(value: Held, kind: str) -> Held:
    """A word as the parser hands it on."""
    if fold.text(value) is None or kind not in ("", "str", "int", "float"):
        return _scalar(value.node, "unknown", Unknown("the script makes its command line itself"))
    text = fold.text(value) or ""
    try:
        number = int(text[:400]) if kind == "int" else float(text) if kind == "float" else text
    except ValueError:
        return value
    return _scalar(value.node, kind or "str", number)


def _scalar(place: Node, tag: str, value: object) -> Scalar:
    raw = str(value) if not isinstance(value, Unknown) else place.raw
    return Scalar(Node("scalar", tag, place.start_mark, place.end_mark, raw, tag != "str", value))
