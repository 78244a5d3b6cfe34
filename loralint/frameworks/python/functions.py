"""The functions of a program that its trainer gets, as Python parses them; what wraps or replaces one hides it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from loralint.source.document import Document, Node
from loralint.source.python.cellfile import cells_of
from loralint.source.script import Script

_TYPED = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)  # what a notebook gives to a shell


def function_of(node: Node, script: Script) -> ast.FunctionDef | None:
    """The function that stands here by its name, where the program defines one such at its top, and plainly."""
    found = (
        [one for one in _defined(script.document, script.modules) if one.name == node.raw]
        if node.tag == "object"
        else []
    )
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def given_back(function: ast.FunctionDef) -> list[ast.expr | None]:
    """What the function itself returns, in its order; None for a `return` of nothing."""
    return [one.value for one in _own(function.body) if isinstance(one, ast.Return)]


def _own(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All that stands in a function and in no other one inside it."""
    for node in nodes:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            yield from _own(list(ast.iter_child_nodes(node)))


@lru_cache(maxsize=1)  # asked for each trainer of a program
def _defined(document: Document, modules: tuple[Document, ...]) -> tuple[ast.FunctionDef, ...]:
    texts = [document.text, *(one.text for one in modules)]
    if document.format == "notebook":  # cells_of puts the rest of the file into what it is given
        cells = cells_of(Document(document.file, "notebook", document.text))
        texts[:1] = [_TYPED.sub("", one.text) for one in cells]
    return tuple(one for text in texts for one in _parsed(text) if isinstance(one, ast.FunctionDef))


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
