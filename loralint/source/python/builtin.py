"""Functions of Python itself whose result follows from literals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.python import classes, fold, literals, objects
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

_RANGE = 256


def _convert(kind: type) -> Callable[[State, Invocation], Held | None]:
    """`int("8")`, `float("2e-4")` ..."""

    def convert(state: State, call: Invocation) -> Held | None:
        placed = call.placed()
        if len(placed) != 1 or len(call.given) != 1:
            return None
        found = fold.value(placed[0])
        if isinstance(found, Unknown):
            return _same(placed[0]) or opaque(state, call.node)
        if isinstance(found, int) and found.bit_length() > fold.BITS:
            return opaque(state, call.node)
        try:
            result = kind(found[:400] if isinstance(found, str) else found)
        except (ValueError, TypeError, OverflowError):
            return opaque(state, call.node)
        return literals.scalar(state, call.node, result)

    return convert


def _same(held: Held) -> Held | None:
    """What the command line gives stays what it is: `int(args.rank)` is the argument."""
    return held if isinstance(held, Scalar) and held.node.tag == "argument" else None


def _truth(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    passed = fold.truth(placed[0]) if placed else False
    return opaque(state, call.node) if passed is None else literals.scalar(state, call.node, passed)


def _list(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    first = placed[0] if placed else None
    if first is None:
        return literals.sequence(state, call.node, ())
    if isinstance(first, Mapping) and not first.store.get(OPEN):
        return literals.sequence(state, call.node, tuple(Scalar(entry[0]) for entry in first.store.values()))
    return literals.sequence(state, call.node, first.store["items"] if isinstance(first, Sequence) else None)


def _dict(state: State, call: Invocation) -> Held | None:
    found = literals.mapping(state, call.node)
    for other in call.placed():
        literals.merge(found, other)
    for one in call.given:
        if one.name and one.key:
            found.store.pop(one.name, None)
            found.store[one.name] = (one.key, one.held)
    if call.open:
        found.store[OPEN] = True
    return found


def _length(state: State, call: Invocation) -> Held | None:
    placed = call.placed()
    first = placed[0] if placed else None
    text = fold.text(first)
    if text is not None:
        return literals.scalar(state, call.node, len(text))
    items = first.store["items"] if isinstance(first, Sequence) else None
    if isinstance(first, Mapping) and not first.store.get(OPEN):
        return literals.scalar(state, call.node, len(first.store))
    return opaque(state, call.node) if items is None else literals.scalar(state, call.node, len(items))


def _extreme(pick: Callable[..., float]) -> Callable[[State, Invocation], Held | None]:
    def extreme(state: State, call: Invocation) -> Held | None:
        placed = call.placed()
        found = [fold.value(one) for one in placed]
        numbers = [one for one in found if isinstance(one, (int, float))]
        if len(numbers) < 2 or len(numbers) != len(call.given):
            return opaque(state, call.node)
        return placed[found.index(pick(numbers))]

    return extreme


def _range(state: State, call: Invocation) -> Held | None:
    found = [fold.value(one) for one in call.placed()]
    numbers = [one for one in found if isinstance(one, int) and one.bit_length() < 32]
    if len(numbers) != len(found) or not 1 <= len(found) <= 3 or numbers[2:] == [0]:
        return literals.sequence(state, call.node, None)
    given = range(*numbers)
    if len(given) <= _RANGE:
        return literals.sequence(state, call.node, tuple(literals.scalar(state, call.node, one) for one in given))
    held = literals.sequence(state, call.node, None)
    held.store["some"] = ()
    return held


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
    name = fold.text(placed[1]) if len(placed) == 3 else None
    if name is None:
        return None
    objects.set_attribute(state, placed[0], name, call.given[2]._replace(name=""), call.node)
    return Scalar(state.node(call.node, "null", None))


def _vars(state: State, call: Invocation) -> Held | None:
    """`vars(x)` and `asdict(x)`: the attributes as a dictionary."""
    placed = call.placed()
    held = placed[0] if placed else None
    found = literals.mapping(state, call.node)
    if not isinstance(held, Instance):
        found.store[OPEN] = True
        return found
    for name, one in held.store.items():
        found.store[name] = (literals.scalar(state, call.node, name).node, one)
    if held.parsed:
        for name in state.arguments:
            value = objects.attribute(state, held, name, call.node)
            found.store.setdefault(name, (literals.scalar(state, call.node, name).node, value))
        found.store[OPEN] = True
    return found


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
    words = f"the environment variable {name}" if name.isidentifier() else "an environment variable"
    if default is not None and default.node.tag in {"int", "float", "bool"}:
        words += f", default {default.node.raw}"
    return Scalar(state.unknown(call.node, words))


def _set_environment(state: State, call: Invocation) -> Held | None:
    placed = call.given
    if len(placed) < 2:
        return None
    environment = objects.imported(state, "os.environ", call.node)
    if isinstance(fold.value(placed[0].held), Unknown) or placed[0].name or placed[1].name:
        return None
    objects.set_item(state, environment, placed[0].held, Given("", placed[1].held, placed[1].node), call.node)
    return Scalar(state.node(call.node, "null", None))


KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    "int": _convert(int),
    "float": _convert(float),
    "str": _convert(str),
    "abs": _convert(abs),  # type: ignore[arg-type]
    "bool": _truth,
    "list": _list,
    "tuple": _list,
    "set": _list,
    "dict": _dict,
    "collections.OrderedDict": _dict,
    "len": _length,
    "max": _extreme(max),
    "min": _extreme(min),
    "range": _range,
    "getattr": _getattr,
    "setattr": _setattr,
    "vars": _vars,
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
