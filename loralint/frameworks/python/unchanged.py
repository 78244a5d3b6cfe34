"""Rows that a program means to change, or to choose from, by methods that leave them as they are or give no rows.

Sources: datasets 4.4.1 arrow_dataset.py (map, filter and the like give back another dataset; a slice is a dictionary of
columns), and transformers 5.24.0 trainer.py, which asks its rows for number 0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from loralint.frameworks.python.syntax import Tree, once, place, statements, written
from loralint.frameworks.table import Observation
from loralint.model import Value

_LOADS = frozenset({"load_dataset", "load_from_disk"})
_MADE = frozenset({"from_dict", "from_list", "from_pandas", "from_json", "from_csv", "from_generator"})
_CHANGE = frozenset(
    {"map", "filter", "remove_columns", "rename_column", "rename_columns", "select_columns", "cast_column",
     "add_column", "class_encode_column", "with_format", "with_transform", "shuffle", "select", "sort"}
)  # fmt: skip
_GIVE = _CHANGE | {"train_test_split", "take", "skip", "shard", "repeat", "flatten_indices", "concatenate_datasets"}
_LOOKED_AT = frozenset({"filter", "select", "shuffle", "sort", "with_format", "select_columns"})  # shown in a notebook
_ROWS = frozenset({"train_dataset", "eval_dataset"})


_SOURCES = re.compile("|".join(sorted(_LOADS | _MADE)))
# such a call; a line with one that is no assignment; and a slice as any is written
_CALL = re.compile(rf"\.\s*(?:{'|'.join(sorted(_CHANGE))})\(")
_LINE = re.compile(
    r"^[ \t]*(?:\\?\"[ \t]*)?(?!\w[\w.\[\]\"'\\]*\s*(?:=[^=]|,))(?:[^\s#][^\n]*?)?" + _CALL.pattern, re.MULTILINE
)
_SLICE = re.compile(r"\[[^\[\]]{0,80}:[^\[\]]{0,80}\]")


def _worth(text: str) -> bool:
    if _SOURCES.search(text) is None:
        return False
    own = text.replace("\\n", "\n")
    return _SLICE.search(text) is not None or (_CALL.search(own) is not None and _LINE.search(own) is not None)


@once(_worth)
def of_unchanged(found: tuple[Tree, ...]) -> Iterator[Observation]:
    """Observe both in every part of the program."""
    named = _datasets(found)
    for tree in found:
        yield from _dropped(tree, named)
        yield from _sliced(tree, named)


def _datasets(found: tuple[Tree, ...]) -> frozenset[str]:
    """Names that hold rows of the library, or a dictionary of such rows, and nothing else."""
    given = [
        (target.id, node.value)
        for tree in found
        for node in statements(tree.body)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    named: set[str] = set()
    for _ in range(3):
        named |= {name for name, value in given if _is_rows(value, named)}
    return frozenset(name for name in named if all(_is_rows(value, named) for other, value in given if other == name))


def _is_rows(node: ast.expr, named: set[str] | frozenset[str]) -> bool:
    if isinstance(node, ast.Name):
        return node.id in named
    if isinstance(node, ast.Subscript):
        named_part = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        return named_part and _is_rows(node.value, named)
    return isinstance(node, ast.Call) and _gives_rows(node.func, named)


def _gives_rows(called: ast.expr, named: set[str] | frozenset[str]) -> bool:
    if isinstance(called, ast.Name):
        return called.id in _LOADS
    if not isinstance(called, ast.Attribute):
        return False
    if called.attr in _LOADS or called.attr in _MADE:
        return isinstance(called.value, ast.Name) and called.value.id in ("datasets", "Dataset", "DatasetDict")
    return called.attr in _GIVE and _is_rows(called.value, named)


def _dropped(tree: Tree, named: frozenset[str]) -> Iterator[Observation]:
    """What such a method gives back, and nobody takes."""
    last = tree.body[-1] if tree.body and tree.shown else None
    for node in statements(tree.body):
        call = node.value if isinstance(node, ast.Expr) and node is not last else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        method, held = call.func.attr, call.func.value
        if method not in _CHANGE or (tree.shown and method in _LOOKED_AT) or not _is_rows(held, named):
            continue
        rows = written(held)
        span = place(tree.document, rf"^[ \t]*(?:\\?\"[ \t]*)?({_written(held)}\s*\.\s*{method})\b")
        key = f"{rows}.{method}" if len(rows) < 40 else method
        where = Value(None, key=key, pointer=f"/{key}", span=span or tree.document.span_at(0, 0), key_span=span)
        data = {"method": method, "rows": rows if len(rows) < 40 else "rows"}
        yield Observation("rows-dropped", where, "lost", "", data=data)


def _sliced(tree: Tree, named: frozenset[str]) -> Iterator[Observation]:
    """A slice of rows where a trainer wants rows."""
    if _SLICE.search(tree.document.text) is None:
        return
    slices = {
        target.id: node.value
        for node in statements(tree.body)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and _is_slice(node.value, named)
    }
    for statement in tree.body:
        for node in ast.walk(statement):
            for word in _words(node):
                given = slices.get(word.value.id) if isinstance(word.value, ast.Name) else word.value
                if word.arg not in _ROWS or given is None or not _is_slice(given, named):
                    continue
                assert isinstance(node, ast.Call)
                key = f"{written(node.func).rpartition('.')[2]}.{word.arg}"
                span = place(tree.document, rf"\b({word.arg})\s*=")
                where = Value(None, key=key, pointer=f"/{key}", span=span or tree.document.span_at(0, 0), key_span=span)
                assert isinstance(given, ast.Subscript)
                data = {"rows": written(given.value), "slice": written(given.slice)}
                yield Observation("rows-sliced", where, "crash", "", data=data)


def _is_slice(node: ast.expr, named: frozenset[str]) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and _is_rows(node.value, named)


def _words(node: ast.AST) -> list[ast.keyword]:
    """What a trainer is told by name."""
    called = node.func if isinstance(node, ast.Call) else None
    trainer = isinstance(called, ast.Name | ast.Attribute) and written(called).endswith("Trainer")
    return node.keywords if isinstance(node, ast.Call) and trainer else []


def _written(node: ast.expr) -> str:
    """An expression for how a node may be written in a file; of anything but names the name that it starts with."""
    while not isinstance(node, ast.Name):
        inner = getattr(node, "value", None) or getattr(node, "func", None)
        if inner is None:
            return r"[\w.\[\]'\"]+"
        node = inner
    return rf"{node.id}[\w.\[\]'\"\\]*"
