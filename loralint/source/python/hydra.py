"""The config that `@hydra.main(config_path="conf", config_name="config")` hands to a function.

A file that builds on others (`defaults`) is composed with them; if one is not at hand, nothing of it is known.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from loralint.source.overrides import Line
from loralint.source.python.held import Object, root
from loralint.source.python.opened import held_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.composed import Composed
    from loralint.source.document import Document
    from loralint.source.python.held import Function, Held
    from loralint.source.python.state import State
    from loralint.source.script import Call

_SUFFIXES = (".yaml", ".yml")


def config_of(state: State, function: Function) -> Held | None:
    """What a function gets that is called without arguments; None for any other function."""
    made = [one.thing.made for one in function.decorators if isinstance(one, Object) and one.thing.made is not None]
    main = next((one for one in made if one.name == "hydra.main"), None)
    return _config(state, main, root(function.scope).program.document.file) if main is not None else None


def _config(state: State, main: Call, near: str) -> Held | None:
    """The config of `hydra.main(...)`, given the file that it stands in, beside which its folder is looked for."""
    line = state.program.line or _without_line(state)
    folder, name = (_text(main, key, place) for place, key in enumerate(("config_path", "config_name")))
    folder, name = line.folder if line and line.folder else folder, line.name if line and line.name else name
    if line is None or not line.seen or not name:
        return None

    def look(path: str) -> Document | None:
        found = line.files(posixpath.join(folder, path), near)
        return found if found is not None or line.added is None else line.added(path)

    document = look(name if name.endswith(_SUFFIXES) else f"{name}.yaml")
    if document is None or len(document.roots) != 1 or document.problems or document.root is None:
        return None
    made = _composed(document, look, posixpath.dirname(name), line)
    if made is None:
        return None
    held = held_of(state, document, "omegaconf", made.root)
    state.loaded.update((one.file, one) for one in made.documents)
    state.composed = True
    return held


def _without_line(state: State) -> Line | None:
    """A program that nobody is seen to launch."""
    files = state.program.files
    return Line(lambda path, _: files(path)) if files is not None else None


def _composed(document: Document, look: Callable[[str], Document | None], group: str, line: Line) -> Composed | None:
    from loralint.source.composed import Composed, builds, compose
    from loralint.source.overrides import applied, sorted_out

    choices = sorted_out(line.words, document, look)
    if choices is None or document.root is None:
        return None
    alone = not (builds(document) or choices.made or choices.added)
    made = Composed(document.root, ()) if alone else compose(document, look, group, choices)
    tree = applied(made.root, choices.values) if made is not None else None
    return made._replace(root=tree) if made is not None and tree is not None else None


def _text(call: Call, name: str, place: int) -> str:
    given = call.arg(name, place)
    return given.node.native if given is not None and isinstance(given.node.native, str) else ""
