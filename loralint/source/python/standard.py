"""What Python's own functions and library do to objects, in terms of what is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.python import change, classes, environment, fold, literals, objects
from loralint.source.python.emit import Given
from loralint.source.python.held import (
    OPEN,
    Attributes,
    Class,
    Entries,
    Instance,
    Items,
    Mapping,
    Scalar,
    Sequence,
    Super,
)
from loralint.source.python.walk import opaque

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def _getattr(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    name = fold.text(placed[1]) if len(placed) > 1 else None
    if name is None:
        return None
    held = placed[0]
    default = placed[2] if len(placed) > 2 else None
    if isinstance(held, Instance) and held.cls is None and not held.parsed and name not in held.store and default:
        return default
    return objects.attribute(state, held, name, call.node)


def _setattr(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    if len(placed) != 3 or len(call.given) != 3:
        return None
    name = fold.text(placed[1])
    if name is None:
        change.set_unknown_attribute(state, placed[0], call.given[2], call.node)
    else:
        change.set_attribute(state, placed[0], name, call.given[2], call.node)
    return Scalar(state.node(call.node, "null", None))


def _vars(state: State, call: Invocation) -> Held | None:
    """`vars(x)` and `asdict(x)`: the attributes as a dictionary."""
    placed = call.placed()
    return objects.attributes(state, placed[0] if placed else None, call.node)


def _globals(state: State, call: Invocation) -> Held | None:
    found = Mapping(state.node(call.node, "map", Unknown("the names of the program")), Entries(), state.module)
    found.store[OPEN] = True
    return found


def _exec(state: State, call: Invocation) -> Held | None:
    """`exec(open("configurator.py").read())` in the place where it stands; what names of its own it gets is seen."""
    if len(call.given) == 1:
        change.obscure(state, state.scope)
    return None


def _namespace(state: State, call: Invocation) -> Held | None:
    """`SimpleNamespace(lr=1e-4)`, or `Namespace(**vars(args))` of what the command line gave."""
    store = Attributes({one.name: one.held for one in call.given if one.name})
    node = state.node(call.node, "object", Unknown("a namespace"))
    return Instance(node, None, store, state.thing(), parsed=call.open)


def _super(state: State, call: Invocation) -> Held | None:
    frame = classes.current(state)
    if frame is None or not isinstance(frame.owner, Class) or frame.instance is None:
        return None
    return Super(state.node(call.node, "object", Unknown("an object")), frame.instance, frame.owner)


def _copied(_state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    held = placed[0] if len(placed) == 1 else None
    if isinstance(held, Sequence):
        return Sequence(held.node, Items(held.store))
    if isinstance(held, Mapping):
        return Mapping(held.node, Entries(held.store))
    return None


def _path(state: State, call: Invocation) -> Held | None:
    parts = [fold.text(one) for one in call.placed()]
    known = [one for one in parts if one is not None]
    if len(known) != len(parts) or not known or sum(map(len, known)) > fold.LENGTH:
        return opaque(state, call.node)
    whole = ""
    for part in known:
        whole = part if part.startswith("/") or not whole else f"{whole.removesuffix('/')}/{part}"
    return literals.scalar(state, call.node, whole)


def _environment(state: State, call: Invocation) -> Held | None:
    name = fold.text(call.arg("key", 0))
    default = call.arg("default", 1)
    if name is None:
        return None
    return environment.variable(state, name, default, call.node)


def _set_environment(state: State, call: Invocation) -> Held | None:
    placed = call.given
    if len(placed) < 2:
        return None
    environ = objects.imported(state, environment.ENVIRON, call.node)
    if isinstance(fold.value(placed[0].held), Unknown) or placed[0].name or placed[1].name:
        return None
    change.set_item(state, environ, placed[0].held, Given("", placed[1].held, placed[1].node), call.node)
    return Scalar(state.node(call.node, "null", None))


KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    "getattr": _getattr,
    "setattr": _setattr,
    "vars": _vars,
    "globals": _globals,
    "exec": _exec,
    "dataclasses.asdict": _vars,
    "super": _super,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "copy.copy": _copied,
    "copy.deepcopy": _copied,
    "os.path.join": _path,
    "os.getenv": _environment,
    "os.environ.get": _environment,
    "os.environ.setdefault": _set_environment,
    "os.putenv": _set_environment,
}
