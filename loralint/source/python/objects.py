"""Attributes and items: what is in an object, and what the program puts there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.python import environment, fold
from loralint.source.python.emit import text_node
from loralint.source.python.held import (
    OPEN,
    Attributes,
    Class,
    Entries,
    Function,
    Instance,
    Mapping,
    Module,
    Object,
    Scalar,
    Sequence,
    Super,
    find,
    library_base,
    thing_of,
)
from loralint.source.python.modules import member
from loralint.source.python.walk import dotted, evaluate, opaque
from loralint.source.script import Argument, Call, Thing

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Node
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State


def imported(state: State, name: str, node: Spot) -> Object:
    """Something imported, by its full name, as it is used here."""
    thing = state.imported.get(name)
    if thing is None:
        thing = state.imported[name] = state.thing(name=name)
    return Object(state.node(node, "name", name, name), thing)


def attribute(state: State, held: Held, name: str, node: Spot) -> Held:
    """What `held.name` holds."""
    if name == "__dict__":
        return attributes(state, held, node)
    if isinstance(held, Object):
        return _of_object(state, held.thing, name, node)
    reader = _OF.get(type(held))
    if reader is not None:
        return reader(state, held, name, node)
    entry = held.store.get(name) if isinstance(held, Mapping) and held.dotted else None
    return entry[1] if isinstance(entry, tuple) else opaque(state, node)


def of_module(state: State, held: Module, name: str, node: Spot) -> Held:
    """What a module holds; what it cannot be seen to hold is a name of it, as that of any library."""
    found = member(state, held, name, node)
    if isinstance(found, Object) and found.node.tag == "import":
        return imported(state, found.thing.name, node)
    return imported(state, f"{held.name}.{name}", node) if found is None else found


def _of_class(state: State, held: Class, name: str, node: Spot) -> Held:
    member = find(held, name)
    if member is not None and (OPEN not in held.members or isinstance(member, Function)):
        return bound(member, held)
    base = library_base(held)
    return imported(state, f"{base}.{name}", node) if base and member is None else opaque(state, node)


def _of_object(state: State, thing: Thing, name: str, node: Spot) -> Held:
    store = state.given.get(thing.number)
    if store is not None and name in store:
        found: Held = store[name]
        return found
    if thing.name:
        return imported(state, f"{thing.name}.{name}", node)
    return child(state, thing, "__getattr__", name, node)


def child(state: State, thing: Thing, kind: str, key: object, node: Spot) -> Object:
    """What an object holds that nobody looked into: always the same Thing, until the program puts another there."""
    store = state.given.setdefault(thing.number, Attributes())
    found = store.get(key)
    if isinstance(found, Object):
        return found
    told = Argument("", text_node(state, node, str(key)[:80]))
    result = state.thing()
    place = state.span(node)
    result.made = Call(kind, thing, (told,), place, place, open=False, sure=state.unsure == 0, result=result)
    held = Object(state.node(node, "object", Unknown(f"it is `{dotted(node) or key}` when the script runs")), result)
    store[key] = held
    return held


def turn(state: State, source: Held, node: Spot) -> Object:
    """What a loop over something holds in one of its turns: made by the call `__next__` on it."""
    thing = thing_of(source)
    reason = Unknown("it differs from turn to turn of a loop")
    if thing is not None:
        return Object(state.node(node, "object", reason), child(state, thing, "__next__", "__next__", node).thing)
    return Object(state.node(node, "object", reason), state.thing())


def bound(member: Held, owner: Held) -> Held:
    """A member as its object or class gives it: a static method gets neither, a class gives itself to class methods."""
    if not isinstance(member, Function) or isinstance(member.code, ast.Lambda):
        return member._replace(bound=owner) if isinstance(member, Function) else member
    marks = {one.id for one in member.code.decorator_list if isinstance(one, ast.Name)}
    alone = "staticmethod" in marks or (isinstance(owner, Class) and "classmethod" not in marks)
    return member if alone else member._replace(bound=owner)


def _of_instance(state: State, held: Instance, name: str, node: Spot) -> Held:
    member = find(held.cls, name) if held.cls else None
    if OPEN in held.store and not isinstance(member, Function):
        return opaque(state, node)
    if name in held.store:
        found: Held = held.store[name]
        return found
    if member is not None:
        return bound(member, held)
    if held.parsed:
        return _argument(state, name, node)
    return child(state, held.thing, "__getattr__", name, node)


def _argument(state: State, name: str, node: Spot) -> Scalar:
    """What the command line gives."""
    known = state.arguments.get(name)
    written = dotted(node)
    raw = written if written.rpartition(".")[2] == name else f"args.{name}"
    return Scalar(state.node(node, "argument", option(name, known.node if known else None), raw))


def attributes(state: State, held: Held | None, node: Spot) -> Mapping:
    """What `vars(held)` gives."""
    found = Mapping(state.node(node, "map", Unknown("a dictionary")), Entries(), held)
    if not isinstance(held, Instance):
        found.store[OPEN] = True
        return found
    for name, one in held.store.items():
        found.store[name] = (text_node(state, node, str(name)), one) if name is not OPEN else True
    if held.parsed:
        for name in (one for one in state.arguments if not one.startswith("$")):
            value = _of_instance(state, held, name, node)
            found.store.setdefault(name, (text_node(state, node, name), value))
        found.store[OPEN] = True
    return found


def option(name: str, default: Node | None) -> Unknown:
    """Say that the command line gives a value. Never quotes a text: it may be a secret."""
    words = f", default {default.raw}" if default and default.tag in {"int", "float", "bool"} else ""
    return Unknown(f"--{name} of the command line{words}")


def _of_super(state: State, held: Super, name: str, node: Spot) -> Held:
    for base in held.cls.bases:
        member = find(base, name) if isinstance(base, Class) else None
        if member is not None:
            return bound(member, held.instance)
    thing = thing_of(held.instance)
    return child(state, thing, "__getattr__", name, node) if thing else opaque(state, node)


_OF: dict[type, Callable[[State, Any, str, Spot], Held]] = {
    Instance: _of_instance, Class: _of_class, Super: _of_super, Module: of_module,
}  # fmt: skip


def item(state: State, held: Held, key: Held, node: Spot) -> Held:
    """What `held[key]` holds."""
    at = fold.value(key)
    if isinstance(held, Sequence):
        items = held.store["items"]
        whole = isinstance(at, int) and items is not None and -len(items) <= at < len(items)
        return items[at] if whole and items is not None and isinstance(at, int) else opaque(state, node)
    if isinstance(at, Unknown):
        return opaque(state, node)
    if isinstance(held, Mapping):
        entry = held.store.get(at)
        return entry[1] if isinstance(entry, tuple) else opaque(state, node)
    thing = thing_of(held)
    if thing is None:
        return opaque(state, node)
    store = state.given.get(thing.number, {})
    found = store.get(("item", at))
    if found is None and thing.name == environment.ENVIRON and isinstance(at, str):
        return environment.variable(state, at, None, node)
    return found if found is not None else child(state, thing, "__getitem__", ("item", at), node)


def unpack(state: State, held: Held, count: int, node: Spot) -> list[Held]:
    """What `a, b = held` gives each of `count` names."""
    if isinstance(held, Sequence):
        items = held.store["items"]
        return list(items) if items is not None and len(items) == count else [opaque(state, node)] * count
    if isinstance(held, Object):
        return [_part(state, held, place) for place in range(count)]
    return [opaque(state, node) for _ in range(count)]


def _part(state: State, held: Object, place: int) -> Object:
    store = state.given.setdefault(held.thing.number, Attributes())
    found = store.get(("part", place))
    if not isinstance(found, Object):
        found = Object(held.node, state.thing(held.thing.made, place=place))
        store["part", place] = found
    return found


def subscript(state: State, node: ast.Subscript) -> Held:
    """What `a[b]` holds."""
    held = evaluate(state, node.value)
    if isinstance(node.slice, ast.Slice):
        return opaque(state, node)
    return item(state, held, evaluate(state, node.slice), node)
