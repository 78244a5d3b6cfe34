"""Dictionaries whose entries are attributes as well: those of OmegaConf, EasyDict, Box, Munch and their kin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.python import literals
from loralint.source.python.held import OPEN, Entries, Items, Mapping, Sequence, thing_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def _made(state: State, call: Invocation) -> Held | None:
    """`EasyDict(config)`, `OmegaConf.create({...})`."""
    placed = call.placed()
    return _dotted(state, placed[0]) if len(placed) == 1 and isinstance(placed[0], Mapping) else None


def _dotted(state: State, held: Held) -> Held:
    state.spend()
    if isinstance(held, Mapping):
        entries = Entries(held.store)
        for key, entry in held.store.items():
            if isinstance(entry, tuple):
                entries[key] = (entry[0], _dotted(state, entry[1]))
        return Mapping(held.node, entries, dotted=True)
    items = held.store["items"] if isinstance(held, Sequence) else None
    return Sequence(held.node, Items(items=tuple(_dotted(state, one) for one in items))) if items is not None else held


def _merged(state: State, call: Invocation) -> Held | None:
    """`OmegaConf.merge(base, OmegaConf.from_cli())`: later ones go over earlier; of the command line
    nobody knows.

    As with a parser's defaults, what stands in the files counts unless somebody says otherwise.
    """
    found = literals.mapping(state, call.node)._replace(dotted=True)
    for one in call.placed():
        made = thing.made if (thing := thing_of(one)) is not None else None
        if isinstance(one, Mapping):
            _over(state, found, one)
        elif made is not None and made.name == "omegaconf.OmegaConf.from_cli":
            found.store[OPEN] = True
        else:
            return None
    return found


def _over(state: State, found: Mapping, over: Mapping) -> None:
    state.spend()
    for key, entry in over.store.items():
        below = found.store.get(key)
        if isinstance(entry, tuple) and isinstance(below, tuple) and _both_map(entry[1], below[1]):
            inner = Mapping(below[1].node, Entries(below[1].store), dotted=True)
            _over(state, inner, entry[1])
            found.store[key] = (below[0], inner)
        else:
            found.store[key] = entry


def _both_map(one: Held, other: Held) -> bool:
    return isinstance(one, Mapping) and isinstance(other, Mapping)


def _same(_: State, call: Invocation) -> Held | None:
    placed = call.placed()
    return placed[0] if placed and isinstance(placed[0], (Mapping, Sequence)) else None


_NAMES = (
    "omegaconf.OmegaConf.create", "easydict.EasyDict", "box.Box", "munch.Munch", "munch.munchify", "addict.Dict",
    "dotmap.DotMap", "attrdict.AttrDict", "ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict",
)  # fmt: skip
KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    **dict.fromkeys(_NAMES, _made),
    "omegaconf.OmegaConf.merge": _merged,
    "omegaconf.OmegaConf.to_container": _same,
    "omegaconf.OmegaConf.to_object": _same,
}
