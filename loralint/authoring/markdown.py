"""Markdown of the generated pages: tables, and the line that says who writes them."""

from __future__ import annotations

from collections.abc import Iterable

from loralint.render.page import code_span, escaped

GENERATED = "<!-- Written by `python -m loralint.authoring`; edits here are lost. -->\n"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of cells that are Markdown already (see `escaped`); line breaks in a cell become spaces."""
    names = list(header)
    lines = [names, ["---"] * len(names), *map(list, rows)]
    return "".join(f"| {' | '.join(' '.join(cell.split()) for cell in line)} |\n" for line in lines)


def code(words: Iterable[str]) -> str:
    """Words as code, with commas between them; fit for a cell."""
    return ", ".join(escaped(code_span(word)) for word in words)
