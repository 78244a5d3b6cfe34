"""The syntax trees of a program, of its modules and of a notebook's cells, with where a text of them stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.table import Observation
from loralint.model import Span
from loralint.source.document import Document
from loralint.source.python.cellfile import cells_of
from loralint.source.script import Script

_KEPT = 32  # programs whose observations are at hand while the starts of others are read
_TYPED = re.compile(r"^[ \t]*[!%].*$", re.MULTILINE)  # what a notebook gives to a shell


# cells that are no code of the notebook's own: what they hold goes to a file, to a shell, or nowhere
_OTHERS = re.compile(r"\s*%%(?!time|capture|prun)")


class Tree(NamedTuple):
    """What is parsed at once: a file, or one cell of a notebook. shown: the last expression of it is printed."""

    body: list[ast.stmt]
    document: Document
    shown: bool


_Observer = Callable[[tuple[Tree, ...]], Iterable[Observation]]


def once(worth: Callable[[str], bool]) -> Callable[[_Observer], Callable[[Script], tuple[Observation, ...]]]:
    """Make of what looks at nothing but a program's trees what is asked for each of its starts, and looks once.

    worth: whether the text of a file may have what is sought; only then is the program parsed.
    """

    def decorated(observe: _Observer) -> Callable[[Script], tuple[Observation, ...]]:
        @lru_cache(maxsize=_KEPT)
        def kept(document: Document, modules: tuple[Document, ...]) -> tuple[Observation, ...]:
            asked = any(worth(one.text) for one in (document, *modules))
            return tuple(observe(_trees(document, modules))) if asked else ()

        return lambda script: kept(script.document, script.modules)

    return decorated


def trees(script: Script) -> tuple[Tree, ...]:
    """Every part of a program that Python can parse."""
    return _trees(script.document, script.modules)


@lru_cache(maxsize=1)  # asked for each start of a program
def _trees(document: Document, modules: tuple[Document, ...]) -> tuple[Tree, ...]:
    several = [(one, one.text, False) for one in modules]
    if document.format == "notebook":  # cells_of puts the rest of the file into what it is given
        cells = cells_of(Document(document.file, "notebook", document.text))
        several += [(document, _TYPED.sub("", one.text), True) for one in cells if not _OTHERS.match(one.text)]
    else:
        several.append((document, document.text, False))
    return tuple(Tree(_parsed(text), one, shown) for one, text, shown in several)


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def written(node: ast.AST) -> str:
    """A part of a program as Python writes it; empty where it is nested too deep for that."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return ""


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement, in the order of the text; of the nodes of a program these are one in ten."""
    left = body[::-1]
    while left:
        one = left.pop()
        yield one
        inner = [*getattr(one, "body", ()), *(inside for part in _parts(one) for inside in part.body)]
        left += [*inner, *getattr(one, "orelse", ()), *getattr(one, "finalbody", ())][::-1]


def _parts(one: ast.stmt) -> list[ast.ExceptHandler | ast.match_case]:
    return [*getattr(one, "handlers", ()), *getattr(one, "cases", ())]


@lru_cache(maxsize=64)
def says(sought: re.Pattern[str] | tuple[str, ...], text: str) -> bool:
    """Whether a program's text has what an expression seeks, or one of these words, which takes a tenth of the time:
    asked for each of its starts and calls, sought once.
    """
    return any(word in text for word in sought) if isinstance(sought, tuple) else sought.search(text) is not None


def place(document: Document, pattern: str) -> Span | None:
    """Where the first group of an expression stands in a file for the first time."""
    found = re.search(pattern, document.text, re.MULTILINE)
    return document.span_at(found.start(1), found.end(1)) if found is not None else None
