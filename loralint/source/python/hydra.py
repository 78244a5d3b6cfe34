"""The config that `@hydra.main(config_path="conf", config_name="config")` hands to a function.

A file that builds on others (`defaults`) says too little by itself, and is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.python.held import Object
from loralint.source.python.opened import held_of

if TYPE_CHECKING:
    from loralint.source.document import Document
    from loralint.source.python.held import Function, Held
    from loralint.source.python.state import State
    from loralint.source.script import Call

_SUFFIXES = (".yaml", ".yml")


def config_of(state: State, function: Function) -> Held | None:
    """What a function gets that is called without arguments; None for any other function."""
    made = [one.thing.made for one in function.decorators if isinstance(one, Object) and one.thing.made is not None]
    main = next((one for one in made if one.name == "hydra.main"), None)
    document = _file(state, main) if main is not None and state.program.files is not None else None
    return held_of(state, document, "omegaconf") if document is not None else None


def _file(state: State, main: Call) -> Document | None:
    folder, name = (_text(main, key, place) for place, key in enumerate(("config_path", "config_name")))
    files = state.program.files
    if not name or files is None:
        return None
    path = "/".join(one for one in (folder, name if name.endswith(_SUFFIXES) else f"{name}.yaml") if one)
    document = files(path)
    root = document.root if document is not None and len(document.roots) == 1 and not document.problems else None
    return document if root is not None and root.kind == "mapping" and not _builds(root.get("defaults")) else None


def _builds(defaults: object) -> bool:
    return [one.raw for one in getattr(defaults, "items", ())] not in ([], ["_self_"])


def _text(call: Call, name: str, place: int) -> str:
    given = call.arg(name, place)
    return given.node.native if given is not None and isinstance(given.node.native, str) else ""
