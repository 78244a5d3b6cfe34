"""The config that `@hydra.main(config_path="conf", config_name="config")` hands to a function.

A file that builds on others (`defaults`) is composed with them; if one is not at hand, nothing of it is known.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loralint.source.python.held import Object
from loralint.source.python.opened import held_of

if TYPE_CHECKING:
    from loralint.source.python.held import Function, Held
    from loralint.source.python.state import State
    from loralint.source.script import Call

_SUFFIXES = (".yaml", ".yml")


def config_of(state: State, function: Function) -> Held | None:
    """What a function gets that is called without arguments; None for any other function."""
    made = [one.thing.made for one in function.decorators if isinstance(one, Object) and one.thing.made is not None]
    main = next((one for one in made if one.name == "hydra.main"), None)
    return _config(state, main) if main is not None and state.program.files is not None else None


def _config(state: State, main: Call) -> Held | None:
    folder, name = (_text(main, key, place) for place, key in enumerate(("config_path", "config_name")))
    files = state.program.files
    if not name or files is None:
        return None
    path = posixpath.join(folder, name if name.endswith(_SUFFIXES) else f"{name}.yaml")
    document = files(path)
    if document is None or len(document.roots) != 1 or document.problems or document.root is None:
        return None
    from loralint.source.composed import builds, compose

    if not builds(document):
        return held_of(state, document, "omegaconf")
    whole = compose(document, lambda one: files(posixpath.join(folder, one)), posixpath.dirname(name))
    if whole is None:
        return None
    held = held_of(state, document, "omegaconf", whole.root)
    state.loaded.update((one.file, one) for one in whole.documents)
    return held


def _text(call: Call, name: str, place: int) -> str:
    given = call.arg(name, place)
    return given.node.native if given is not None and isinstance(given.node.native, str) else ""
