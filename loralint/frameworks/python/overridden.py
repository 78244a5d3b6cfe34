"""Methods of a program's own trainers and callbacks that do not take what the library hands them.

Sources: transformers 4.46.0 and 5.24.0 trainer.py (training_step, compute_loss), 4.47.0 (log), 4.52.1
(_get_train_sampler), and trainer_callback.py of all (call_event).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from loralint.frameworks.python.classes import CLASSES
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.syntax import Tree, once, place, written
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Script


class _Handed(NamedTuple):
    """What a method gets. by_name: by keyword, and otherwise as its last positional argument, of so many with self."""

    argument: str
    when: str
    by_name: bool = False
    places: int = 0


_HANDED = {
    "compute_loss": _Handed("num_items_in_batch", "transformers>=4.46", by_name=True),
    "training_step": _Handed("num_items_in_batch", "transformers>=4.46", places=4),
    "log": _Handed("start_time", "transformers>=4.47", places=3),
    "_get_train_sampler": _Handed("train_dataset", "transformers>=4.52", places=2),
}
# methods that call these, the only ones that do
_CALLERS = {"compute_loss": "training_step", "_get_train_sampler": "get_train_dataloader"}
_BASES = frozenset({"TrainerCallback", "EarlyStoppingCallback", "ProgressCallback", "PrinterCallback", "WandbCallback"})
_CLASS = re.compile(r"class\s+\w+\s*\([^()]{0,300}(?:Trainer|Callback)")
_CALLED = re.compile(r"(class\s+)?\b(\w+)\(")
_EVERY = frozenset({"model", "optimizer", "lr_scheduler", "train_dataloader", "eval_dataloader"})
_MOST = 101  # one more than are listed
_DEEP = 20  # classes of a program that build on each other


def of_overridden(script: Script, _: Parts, look: Look) -> Iterator[Observation]:
    """Observe them in each class that the program makes an object of."""
    for one in _in_any_release(script):
        when = str(one.data["when"])
        if not when or look.version_is(when):
            yield one


@once(lambda text: _CLASS.search(text) is not None)
def _in_any_release(found: tuple[Tree, ...]) -> Iterator[Observation]:
    """The first of them, with the releases in which the library hands so much."""
    return islice(_of_classes(found), _MOST)


def _of_classes(found: tuple[Tree, ...]) -> Iterator[Observation]:
    classes = {one.name: (one, tree) for tree in found for one in tree.body if isinstance(one, ast.ClassDef)}
    texts = {id(tree.document): tree.document.text for tree in found}.values()
    called = {one[2] for text in texts for one in _CALLED.finditer(text) if not one[1]}
    for name, (node, tree) in classes.items():
        base = _base(name, classes) if name in called else ""
        if base.endswith("Trainer") and getattr(CLASSES.get(base), "role", "") == "trainer":
            yield from _of_trainer(node, tree)
        elif base in _BASES:
            yield from _of_callback(node, tree)


def _base(name: str, classes: Mapping[str, tuple[ast.ClassDef, Tree]]) -> str:
    """The class of a library that one of the program builds on, by its last name; empty for several or none."""
    for _ in range(_DEEP):
        if name not in classes:
            return name
        bases = classes[name][0].bases
        if len(bases) != 1:
            return ""
        name = written(bases[0]).rpartition(".")[2] if isinstance(bases[0], ast.Name | ast.Attribute) else ""
    return ""


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    return (one for one in node.body if isinstance(one, ast.FunctionDef) and not one.decorator_list)


def _of_trainer(node: ast.ClassDef, tree: Tree) -> Iterator[Observation]:
    own = {one.name for one in _methods(node)}
    for method in _methods(node):
        handed = _HANDED.get(method.name)
        if handed is None or _takes(method, handed) or _CALLERS.get(method.name) in own:
            continue  # the last of these may well call it otherwise
        yield _told(node, method, tree, handed.argument, handed.when)


def _takes(method: ast.FunctionDef, handed: _Handed) -> bool:
    args = method.args
    if handed.by_name:
        names = {one.arg for one in (*args.args, *args.kwonlyargs)}
        return args.kwarg is not None or handed.argument in names
    return args.vararg is not None or len(args.posonlyargs) + len(args.args) >= handed.places


def _of_callback(node: ast.ClassDef, tree: Tree) -> Iterator[Observation]:
    for method in _methods(node):
        names = {one.arg for one in (*method.args.args, *method.args.kwonlyargs)}
        if method.name.startswith("on_") and method.args.kwarg is None and not names >= _EVERY:
            yield _told(node, method, tree, "model")


def _told(node: ast.ClassDef, method: ast.FunctionDef, tree: Tree, argument: str, when: str = "") -> Observation:
    key = f"{node.name}.{method.name}"
    span = place(tree.document, rf"class\s+{node.name}\b[\s\S]*?def\s+({method.name})\b")
    where = Value(None, key=key, pointer=f"/{key}", span=span or tree.document.span_at(0, 0), key_span=span)
    data = {"method": method.name, "class": node.name, "argument": argument, "callback": not when, "when": when}
    return Observation("override-takes", where, "crash", "", package="transformers" if when else "", data=data)
