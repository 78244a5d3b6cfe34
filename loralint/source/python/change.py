"""What the program puts into objects, lists and dictionaries, and takes out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.python import fold
from loralint.source.python.emit import Given, Invocation, emit, text_node
from loralint.source.python.held import (
    OPEN,
    Attributes,
    Class,
    Instance,
    Mapping,
    Module,
    Names,
    Scalar,
    Sequence,
    library_base,
    thing_of,
)
from loralint.source.python.joins import overlaid
from loralint.source.python.state import MISSING

_CONFIGS = ("Config", "Arguments", "Args")  # how classes are called whose attributes are settings

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State
    from loralint.source.script import Call, Thing


def set_attribute(state: State, held: Held, name: str, value: Given, node: Spot) -> None:
    """Put something into an attribute."""
    if isinstance(held, Instance) and not held.parsed and (held.cls is None or not library_base(held.cls)):
        state.write(held.store, name, value.held)
        return
    if isinstance(held, Class):
        state.write(held.members, name, value.held)
        return
    if isinstance(held, Module):
        state.write(held.names, name, value.held)
        return
    if isinstance(held, Mapping) and held.dotted:
        state.write(held.store, name, (text_node(state, node, name), value.held))
        return
    thing = thing_of(held)
    if thing is None:
        return
    store = held.store if isinstance(held, Instance) else state.given.setdefault(thing.number, Attributes())
    state.write(store, name, value.held)
    told = Given("", Scalar(text_node(state, node, name)))
    emit(state, "__setattr__", thing, Invocation(node, (told, value)))


def set_unknown_attribute(state: State, held: Held, value: Given, node: Spot) -> None:
    """Put something into an attribute that nobody can name: no attribute is known any more."""
    if isinstance(held, Module):
        obscure(state, held.names)
    if isinstance(held, (Instance, Class)) or (isinstance(held, Mapping) and held.dotted):
        state.write(held.members if isinstance(held, Class) else held.store, OPEN, held=True)
    thing = thing_of(held)
    if thing is not None:
        name = Scalar(state.node(node, "unknown", Unknown("a name that the script makes"), ""))
        emit(state, "__setattr__", thing, Invocation(node, (Given("", name), value)))
        if thing.made is not None and thing.made.name.endswith(_CONFIGS):
            _cover(state, thing, thing.made)


def _cover(state: State, thing: Thing, made: Call) -> None:
    """Let nobody know what the call that made a config gave it: any of it may be another by now."""
    hidden = tuple(one if one.thing else one._replace(node=overlaid(Scalar(one.node)).node) for one in made.args)
    thing.made = made._replace(args=hidden, open=True)
    state.calls[:] = [thing.made if call is made else call for call in state.calls]


def set_item(state: State, held: Held, key: Held, value: Given, node: Spot) -> None:
    """Put something into an item."""
    at = fold.value(key)
    if isinstance(held, Mapping) and isinstance(held.of, Names):  # `globals()["rank"] = 8`
        if isinstance(at, str):
            state.write(held.of, at, value.held)
        else:
            obscure(state, held.of)
    elif isinstance(held, Mapping):
        if isinstance(at, Unknown):
            overlay(state, held)
        else:
            state.write(held.store, at, (key.node, value.held))
    elif isinstance(held, Sequence):
        items = held.store["items"]
        if isinstance(at, int) and items is not None and -len(items) <= at < len(items):
            state.write(
                held.store, "items", tuple(value.held if i == at % len(items) else one for i, one in enumerate(items))
            )
        else:
            state.write(held.store, "items", None)
    elif (thing := thing_of(held)) is not None:
        if not isinstance(at, Unknown):
            state.write(state.given.setdefault(thing.number, Attributes()), ("item", at), value.held)
        emit(state, "__setitem__", thing, Invocation(node, (Given("", key), value)))


def overlay(state: State, held: Mapping) -> None:
    """Put entries that nobody sees into a dictionary, which may stand in the place of those that it has."""
    for key, entry in list(held.store.items()):
        if isinstance(entry, tuple):
            state.write(held.store, key, (entry[0], overlaid(entry[1])))
    state.write(held.store, OPEN, held=True)
    state.spend(len(held.store))


def obscure(state: State, names: Names) -> None:
    """Let names hold what nobody sees, in the place of the literals that they hold."""
    for name, held in list(names.items()):
        if isinstance(held, (Scalar, Sequence, Mapping)):
            state.write(names, name, overlaid(held))
    state.spend(len(names))


def loosen(state: State, held: Held) -> None:
    """Something is put into one of the lists and dictionaries in here, and nobody knows which."""
    if isinstance(held, Mapping):
        inside = [entry[1] for key, entry in held.store.items() if key is not OPEN and isinstance(entry, tuple)]
    else:
        inside = list(held.store["items"] or ()) if isinstance(held, Sequence) else []
    for one in inside:
        if isinstance(one, Mapping):
            overlay(state, one)
        elif isinstance(one, Sequence):
            state.write(one.store, "items", None)


def delete(state: State, held: Held, key: object) -> None:
    """Take an entry or attribute out."""
    store = held.store if isinstance(held, (Mapping, Instance)) else None
    if store is not None and key in store:
        state.write(store, key, MISSING)
