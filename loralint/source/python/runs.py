"""Files of the program that it starts by name: `runpy.run_module("pkg.train", run_name="__main__")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.python import fold
from loralint.source.python.held import Module
from loralint.source.python.modules import LIBRARIES, imported_module, started
from loralint.source.python.walk import opaque

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.document import Document
    from loralint.source.python.emit import Invocation
    from loralint.source.python.held import Held
    from loralint.source.python.state import State


def _run_module(state: State, call: Invocation) -> Held | None:
    return _run(state, call, "mod_name", _named)


def _run_path(state: State, call: Invocation) -> Held | None:
    return _run(state, call, "path_name", _at)


def _run(state: State, call: Invocation, key: str, find: Callable[[State, str], Document | None]) -> Held | None:
    """Follow a file as the program that it is when it gets that name; what its names hold then is not looked into."""
    name, called = fold.text(call.arg(key, 0)), fold.text(call.arg("run_name", 2))
    document = find(state, name) if name else None
    if document is None or called != "__main__":
        return None
    started(state, document, name or "", call.node)
    return opaque(state, call.node)


def _at(state: State, path: str) -> Document | None:
    return state.program.files(path) if state.program.files is not None else None


def _named(state: State, name: str) -> Document | None:
    look = state.program.modules
    if look is None or name.partition(".")[0] in LIBRARIES:
        return None
    found = look(name, 0, state.program.document.file)
    package = found is not None and found.file.endswith("__init__.py")
    return look(f"{name}.__main__", 0, state.program.document.file) if package else found


def _import_module(state: State, call: Invocation) -> Held | None:
    name = fold.text(call.arg("name", 0))
    found = imported_module(state, name, 0, call.node) if name and len(call.given) == 1 else None
    return found if isinstance(found, Module) else None


KNOWN: dict[str, Callable[[State, Invocation], Held | None]] = {
    "runpy.run_module": _run_module,
    "runpy.run_path": _run_path,
    "importlib.import_module": _import_module,
}
