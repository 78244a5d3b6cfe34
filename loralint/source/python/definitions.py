"""Functions, imports and scopes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python.change import obscure
from loralint.source.python.classes import define
from loralint.source.python.held import Function, Object
from loralint.source.python.modules import LIBRARIES, imported_module, member, package, public
from loralint.source.python.targets import give
from loralint.source.python.walk import ON, evaluate

if TYPE_CHECKING:
    from loralint.source.python.held import Held, Module
    from loralint.source.python.state import State


def _function(state: State, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = tuple(evaluate(state, one) for one in node.decorator_list)
    place = state.node(node, "object", Unknown(f"the function `{node.name}`"), node.name)
    made = function(state, node, place, decorators)
    state.defined[id(node)] = made
    give(state, node.name, made)
    return ON


def function(
    state: State,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    place: Node,
    decorators: tuple[Held, ...] = (),
) -> Function:
    """A function as it is defined here, with what its defaults are now."""
    arguments = node.args
    plain = [*arguments.posonlyargs, *arguments.args]
    given = list(zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True))
    given += [(one, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    defaults = {one.arg: evaluate(state, value) for one, value in given}
    scope = state.scope
    return Function(place, node, scope, defaults, decorators)


def _lambda(state: State, node: ast.Lambda) -> Held:
    made = state.defined[id(node)] = function(state, node, state.node(node, "object", Unknown("a lambda")))
    return made


def _import(state: State, node: ast.Import) -> str:
    for one in node.names:
        name = one.name if one.asname else one.name.partition(".")[0]
        module = imported_module(state, name, 0, one) if one.asname else package(state, one.name, one)
        if module is not None:
            give(state, one.asname or name, module)
        else:
            _bind_import(state, one.asname or name, name, one)
    return ON


def _import_from(state: State, node: ast.ImportFrom) -> str:
    name = "." * node.level + (node.module or "")
    module = imported_module(state, node.module or "", node.level, node)
    for one in node.names:
        held = member(state, module, one.name, one) if module is not None else None
        if held is None and one.name != "*":  # a folder needs no file of its own
            held = imported_module(state, f"{node.module or ''}.{one.name}".lstrip("."), node.level, one)
        if held is not None:
            give(state, one.asname or one.name, held)
        elif one.name == "*":
            _everything(state, module, name)
        else:
            dot = "" if name.endswith(".") or not name else "."
            _bind_import(state, one.asname or one.name, f"{name}{dot}{one.name}", one)
    return ON


def _everything(state: State, module: Module | None, name: str) -> None:
    """`from local_config import *`, which puts names in the place of those that the program gave its own settings."""
    if module is not None:
        for one, held in public(module):
            give(state, one, held)
    elif name.partition(".")[0] not in LIBRARIES:
        obscure(state, state.scope)


def _bind_import(state: State, bound: str, name: str, node: ast.alias) -> None:
    thing = state.imported.get(name)
    if thing is None:
        thing = state.imported[name] = state.thing(name=name)
    marks = state.program.marks(*state.range(node))
    give(state, bound, Object(Node("scalar", "import", *marks, name, True, name), thing))


def _shared(state: State, node: ast.Global | ast.Nonlocal) -> str:
    for name in node.names:
        scope = state.module
        outer = state.scope.outer
        while isinstance(node, ast.Nonlocal) and outer is not None:
            if name in outer:
                scope = outer
                break
            outer = outer.outer
        state.scope.shared[name] = scope
    return ON


EXPRESSIONS: dict[type, Any] = {ast.Lambda: _lambda}


STATEMENTS: dict[type, Any] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: define,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: _shared,
    ast.Nonlocal: _shared,
}
