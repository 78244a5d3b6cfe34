"""Text that we may ship a model of: the prose of this interpreter's own standard library.

Docstrings and comments of its modules and the topics of `help()`. They are the Python Software Foundation's and under
its licence (version 2), which lets derived works be distributed with notice; a file that speaks of a copyright or a
licence of its own is left out whole.
"""

from __future__ import annotations

import ast
import io
import random
import re
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

_LEFT_OUT = re.compile(r"/(site-packages|dist-packages|test|tests|idle_test|encodings|__pycache__|lib2to3)/")
_OWN_NOTICE = re.compile(r"copyright|licen[sc]e", re.IGNORECASE)
_TOPICS = "pydoc_data/topics.py"
_DOCSTRING, _COMMENT = 40, 60  # characters; shorter ones say little
_HELD_OUT = 12  # one document of so many is kept for the probe


def documents() -> tuple[list[str], list[str]]:
    """Documents to train on and documents held out, the same on every run with the same Python."""
    root = Path(sysconfig.get_paths()["stdlib"])
    found = [text for path in sorted(root.rglob("*.py")) for text in _of_file(path, root)]
    random.Random(0).shuffle(found)
    kept = len(found) // _HELD_OUT
    return found[kept:], found[:kept]


def _of_file(path: Path, root: Path) -> Iterator[str]:
    name = "/" + path.relative_to(root).as_posix()
    source = path.read_text("utf-8", errors="replace")
    if _LEFT_OUT.search(name):
        return
    if name.endswith(_TOPICS):  # help() prints them; they are one dictionary of texts
        yield from (value.value for value in _texts(ast.parse(source)))
        return
    if _OWN_NOTICE.search(source):
        return
    try:
        docstrings = list(_docstrings(ast.parse(source)))
        comments = list(_comments(source))
    except (SyntaxError, ValueError):
        return
    if docstrings:
        yield "\n\n".join(docstrings)
    if comments:
        yield "\n".join(comments)


def _texts(tree: ast.Module) -> Iterator[ast.Constant]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (one for one in node.values if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text and len(text) > _DOCSTRING:
                yield f"{node.name}: {text}" if hasattr(node, "name") else text


def _comments(source: str) -> Iterator[str]:
    """Comments of consecutive lines are one."""
    block, last = "", -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        text = token.string.lstrip("#! ").rstrip()
        if token.start[0] == last + 1:
            block = f"{block} {text}"
        else:
            if len(block) > _COMMENT:
                yield block
            block = text
        last = token.start[0]
    if len(block) > _COMMENT:
        yield block
