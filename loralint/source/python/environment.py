"""Environment variables that a program reads: what a launch sets, else the default that the program gives them.

Each is an argument of the program whose name begins with `$`, which no option of a command line can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import fold
from loralint.source.python.held import Scalar
from loralint.source.python.options import converted, declare

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State

ENVIRON = "os.environ"


def variable(state: State, name: str, default: Held | None, node: Spot) -> Held:
    """What `os.environ[name]` or `os.environ.get(name, default)` holds, unless the program put something there."""
    own = state.given.get(state.imported[ENVIRON].number, {}) if ENVIRON in state.imported else {}
    if (put := own.get(("item", name))) is not None:
        held: Held = put
        return held
    if not name.isidentifier():
        return Scalar(state.unknown(node, "an environment variable"))
    words = f"the environment variable {name}"
    if default is not None and default.node.tag in {"int", "float", "bool"}:
        words += f", default {default.node.raw}"
    if default is not None or f"${name}" not in state.arguments:
        known = default or Scalar(state.unknown(node, words))
        declare(state, f"${name}", known, state.node(node, "str", name, name))
    return Scalar(state.node(node, "argument", Unknown(words), f"{ENVIRON}.${name}"))


def made_number(state: State, held: Held, kind: str) -> None:
    """Let the default of a variable be a number from here on, as `int(os.getenv("R", "8"))` makes one of its text."""
    name = held.node.raw.rpartition(".")[2]
    known = state.arguments.get(name) if name.startswith("$") else None
    if known is not None and fold.text(Scalar(known.node)) is not None:
        place: Node = converted(Scalar(known.node), kind).node
        state.arguments[name] = known._replace(node=place)
