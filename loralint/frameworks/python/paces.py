"""Schedules whose steps are counted in batches where several batches make a step, and the other way round.

A schedule that Accelerate prepared moves on with each step of the optimizer, another with each call. Run with
accelerate 1.15.0 on a CPU: gradients of four batches, 80 batches, a linear schedule of 80 or 20 steps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.syntax import written

_MAKES = re.compile(r"get_(?:\w+_)?schedule(?:r|_\w+)?")
_WITH_THE_OPTIMIZER = "step_scheduler_with_optimizer"
_ROUNDS = frozenset({"math.ceil", "math.floor", "ceil", "int", "round", "max", "min", "len"})
_DEPTH = 4  # assignments back
_LONGEST = 1000  # characters of an expression


def out_of_step(body: list[ast.stmt], text: str, count: int) -> Iterator[tuple[str, str, str]]:
    """Key, what is wrong and advice, of each schedule that moves at another pace than its number of steps is for."""
    named = _named(body)
    prepared = _prepared(body)
    if prepared is None or _WITH_THE_OPTIMIZER in text:
        return
    for name in sorted(_stepped(body)):
        made = named.get(name)
        total = _total(made) if isinstance(made, ast.Call) else None
        if total is None:
            continue
        steps = _resolved(total, named, _DEPTH)
        if "len(" not in steps:
            continue
        if name in prepared and "/" not in steps:
            what = f"the schedule has a step for each batch and makes one in {count}: the rate stays high"
            yield "num_training_steps", what, f"divide num_training_steps by {count}"
        elif name not in prepared and re.search(rf"//?\s*(?:{count}\b|\w*accum|[\w.]+accum)", steps):
            what = f"the schedule moves on with each batch, and is over after 1/{count} of the run"
            yield f"{name}.step", what, f"hand {name} to accelerator.prepare as well"


def _named(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """What is assigned to a name, where that is done once."""
    found: dict[str, list[ast.expr]] = {}
    for node in _walk(body):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _prepared(body: list[ast.stmt]) -> frozenset[str] | None:
    """The names that Accelerate prepares; None where nobody can tell them."""
    calls = [
        node for node in _walk(body) if isinstance(node, ast.Call) and _method(node) in ("prepare", "prepare_scheduler")
    ]
    given = [one for call in calls for one in call.args]
    if not calls or not all(isinstance(one, ast.Name) for one in given) or any(call.keywords for call in calls):
        return None
    return frozenset(one.id for one in given if isinstance(one, ast.Name))


def _stepped(body: list[ast.stmt]) -> set[str]:
    """The names whose step is called for each batch below `accumulate`."""
    blocks = (node for node in _walk(body) if isinstance(node, ast.With) and ".accumulate(" in written(node.items[0]))
    calls = (
        one.value
        for block in blocks
        for one in block.body
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
    )
    return {
        call.func.value.id
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "step" and isinstance(call.func.value, ast.Name)
    }


def _total(made: ast.Call) -> ast.expr | None:
    name = written(made.func)
    if not _MAKES.fullmatch(name.rpartition(".")[2]):
        return None
    given = next((one.value for one in made.keywords if one.arg == "num_training_steps"), None)
    place = 3 if name.endswith("get_scheduler") else 2
    return given if given is not None else made.args[place] if len(made.args) > place else None


def _resolved(node: ast.expr, named: dict[str, ast.expr], depth: int) -> str:
    """An expression with what its names stand for; empty where that is longer than people write."""
    text = written(node)
    for one in {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} if depth else ():
        if len(text) > _LONGEST:
            return ""
        if one in named and _counts(named[one]):
            inner = f"({_resolved(named[one], named, depth - 1)})".replace("\\", r"\\")
            text = re.sub(rf"(?<![\w.]){one}\b", inner, text)
    return text if len(text) <= _LONGEST else ""


def _counts(node: ast.expr) -> bool:
    """Whether an expression is arithmetic, and no object that is made."""
    return not isinstance(node, ast.Call) or written(node.func) in _ROUNDS


def _method(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in body for node in ast.walk(statement))
