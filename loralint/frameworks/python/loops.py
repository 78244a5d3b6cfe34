"""Loops of a program's own whose gradients are not those that the program looks to take.

Sources: accelerate 1.15.0 accelerator.py (backward, accumulate) and optimizer.py (zero_grad acts where gradients are
synced), torch 2.13.0 optim/optimizer.py.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.paces import out_of_step
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.syntax import Tree, place, trees, written
from loralint.frameworks.python.trace import last
from loralint.frameworks.table import Observation
from loralint.model import Value
from loralint.source.script import Script

# what makes steps or empties gradients by itself, and other ways to do so
_ELSEWHERE = re.compile(
    r"\bdeepspeed\b|model_engine|\bbooster\b|\.grad\s*=\s*None|\bzero_\(\)|\bfused_backward|lomo\b", re.IGNORECASE
)


def of_loops(script: Script, parts: Parts) -> Iterator[Observation]:
    """All of that in a program that no trainer trains."""
    if parts.trainer is not None or ".backward(" not in script.text or _ELSEWHERE.search(script.text):
        return
    found = trees(script)
    loops = [(tree, node) for tree in found for node in _walk(tree.body) if isinstance(node, ast.For) and _trains(node)]
    if not loops or any(last(call) == "Fabric" for call in script.calls):
        return
    optimizers = any((known := of(call)) is not None and known.role == "optimizer" for call in script.calls)
    if optimizers and ".step(" not in script.text:
        what, advice = (
            "no step of the optimizer is ever made, and nothing trains",
            "call optimizer.step() after backward",
        )
        yield _told(loops[0][0], "backward", "lost", what, advice)
    elif optimizers and "zero_grad" not in script.text and any(_steps(loop) for _, loop in loops):
        what = "the gradients are never emptied, and each step goes by the sum of all batches so far"
        yield _told(loops[0][0], "step", "changed", what, "call optimizer.zero_grad() after each step")
    yield from _accumulated(script, found)


def _accumulated(script: Script, found: tuple[Tree, ...]) -> Iterator[Observation]:
    """An Accelerator that is to add up several batches, and never does or only looks so."""
    asked = [one for call in script.calls if last(call) == "Accelerator" for one in call.args]
    count = next((one.node.native for one in asked if one.name == "gradient_accumulation_steps"), None)
    if not isinstance(count, int) or isinstance(count, bool) or count < 2:
        return
    if (
        "accumulate(" not in script.text
        and len(re.findall("accumul", script.text)) == 1
        and "no_sync" not in script.text
    ):
        what = f"without accelerator.accumulate each batch makes a step of its own, of gradients divided by {count}"
        advice = "put the loop's body under `with accelerator.accumulate(model):`"
        yield _told(found[-1], "gradient_accumulation_steps", "changed", what, advice)
    for tree in found:
        for node in _walk(tree.body):
            if isinstance(node, ast.With) and ".accumulate(" in written(node.items[0]) and _emptied_first(node):
                what = f"zero_grad before backward empties what {count - 1} batches added up, and the last alone counts"
                yield _told(tree, "zero_grad", "changed", what, "call optimizer.zero_grad() behind optimizer.step()")
                return
        for key, what, advice in out_of_step(tree.body, script.text, count):
            yield _told(tree, key, "changed", what, advice)


def _emptied_first(block: ast.With) -> bool:
    names = [_called(node) for statement in block.body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    where = {name: at for at, name in reversed(list(enumerate(names)))}
    return names.count("zero_grad") == 1 and where.get("backward", -1) > where["zero_grad"]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _walk(body: list[ast.stmt]) -> Iterator[ast.AST]:
    return (node for statement in body for node in ast.walk(statement))


def _trains(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Call) and _called(node) == "backward" for node in ast.walk(loop))


def _steps(loop: ast.For) -> bool:
    return any(isinstance(node, ast.Call) and _called(node) == "step" for node in ast.walk(loop))


def _told(tree: Tree, key: str, effect: str, what: str, advice: str) -> Observation:
    span = place(tree.document, rf"\b({re.escape(key)})\b\s*[(=]") or tree.document.span_at(0, 0)
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    return Observation("loop", where, effect, what, data={"advice": advice})
