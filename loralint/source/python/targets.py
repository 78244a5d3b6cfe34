"""Names: what they hold, and what is given to them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from loralint.source.python import change, fold, objects
from loralint.source.python.emit import Given
from loralint.source.python.held import Mapping, Names, Object, Sequence
from loralint.source.python.state import MISSING
from loralint.source.python.walk import evaluate, opaque

if TYPE_CHECKING:
    from loralint.source.python.held import Held
    from loralint.source.python.program import Spot
    from loralint.source.python.state import State


def look_up(state: State, node: ast.Name) -> Held:
    """What a name holds here; one that nobody gave is taken for something imported, by its bare name."""
    held = search(state.scope, node.id)
    if held is None:
        return objects.imported(state, node.id, node)
    if isinstance(held, Object) and held.node.tag == "import":
        return objects.imported(state, held.thing.name, node)
    return held


def search(scope: Names | None, name: str) -> Held | None:
    """Look a name up from a scope outwards."""
    while scope is not None:
        names = scope.shared.get(name, scope)
        if name in names:
            found: Held = names[name]
            return found
        scope = scope.outer
    return None


def give(state: State, name: str, held: Held, node: Spot | None = None) -> None:
    """Let a name of this scope hold something."""
    names = state.scope.shared.get(name, state.scope)
    state.write(names, name, held)
    if node is not None and names is state.home:
        state.name_spans[name] = state.range(node)


def assign(state: State, target: ast.expr, held: Held, source: Spot | None = None) -> None:
    """Give what is held to a target. source: the expression that it came from."""
    if isinstance(target, ast.Name):
        give(state, target.id, held, target)
    elif isinstance(target, ast.Attribute):
        change.set_attribute(state, evaluate(state, target.value), target.attr, Given("", held, source), target)
    elif isinstance(target, ast.Subscript):
        _assign_item(state, target, held, source)
    elif isinstance(target, ast.Starred):
        assign(state, target.value, opaque(state, target))
    elif isinstance(target, (ast.Tuple, ast.List)):
        _assign_several(state, target, held)


def _assign_item(state: State, target: ast.Subscript, held: Held, source: Spot | None) -> None:
    on = evaluate(state, target.value)
    if isinstance(target.slice, ast.Slice):
        if isinstance(on, Sequence):
            state.write(on.store, "items", None)
        elif isinstance(on, Object) and on.thing.name:  # `sys.argv[1:] = [...]`
            change.set_item(state, on, opaque(state, target), Given("", held, source), target)
        return
    above = target.value.value if isinstance(target.value, ast.Subscript) else None
    if isinstance(above, ast.Name) and not isinstance(on, (Mapping, Sequence)):
        change.loosen(state, evaluate(state, above))
    change.set_item(state, on, evaluate(state, target.slice), Given("", held, source), target)


def _assign_several(state: State, target: ast.Tuple | ast.List, held: Held) -> None:
    starred = any(isinstance(one, ast.Starred) for one in target.elts)
    parts = [opaque(state, target)] * len(target.elts) if starred else None
    for one, part in zip(target.elts, parts or objects.unpack(state, held, len(target.elts), target), strict=True):
        assign(state, one, part)


def remove(state: State, target: ast.expr) -> None:
    """`del target`."""
    if isinstance(target, ast.Name):
        names = state.scope.shared.get(target.id, state.scope)
        if target.id in names:
            state.write(names, target.id, MISSING)
    elif isinstance(target, ast.Attribute):
        change.delete(state, evaluate(state, target.value), target.attr)
    elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
        change.delete(state, evaluate(state, target.value), fold.value(evaluate(state, target.slice)))
