"""A page in blocks and its two forms, for a terminal and as Markdown: the same words, whoever reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from loralint.render.style import Style

_CODE = re.compile(r"(`+[^`]*`+)")
_SPECIAL = re.compile(r"([<>|\\]|\*(?=\S)|(?<=\S)\*|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_LISTED = {"item", "row"}
_LABEL = 14  # columns that a label takes
_ENTITIES = {"<": "&lt;", ">": "&gt;"}


class Block(NamedTuple):
    """kind: title, head, meta (small print), strong, text, item (of a list), row (of a list with labels) or code.

    marks of code: for a line, counted from 1, what to say beside it. label of a row: what its text is.
    """

    kind: str
    text: str
    marks: Mapping[int, str] = {}
    label: str = ""


def as_text(page: Iterable[Block], style: Style, width: int) -> str:
    """For a terminal: paragraphs are filled to `width`, code and marks stay in their lines."""
    return _joined((block.kind, "\n".join(_text(block, style, width))) for block in page)


def as_markdown(page: Iterable[Block], level: int = 1) -> str:
    """As Markdown, with the title a heading of that level; what is special to Markdown is escaped."""
    return _joined((block.kind, "\n".join(_markdown(block, level))) for block in page)


def escaped(text: str) -> str:
    """Text in which nothing outside of code spans means anything to Markdown, not even in a table."""
    parts = _CODE.split(text)
    parts[::2] = [_SPECIAL.sub(lambda match: _ENTITIES.get(match[1], "\\" + match[1]), part) for part in parts[::2]]
    parts[1::2] = [part.replace("|", "\\|") for part in parts[1::2]]
    return "".join(parts)


def code_span(text: str) -> str:
    """The text as code, whatever backticks it holds; a line break becomes a space."""
    text = " ".join(text.split())
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _joined(blocks: Iterable[tuple[str, str]]) -> str:
    """Blocks with a blank line between them, but none inside of a list."""
    out, before = "", ""
    for kind, text in blocks:
        out += ("" if not out else "\n" if before == kind and kind in _LISTED else "\n\n") + text
        before = kind
    return out + "\n"


def _text(block: Block, style: Style, width: int) -> Iterator[str]:
    if block.kind == "code":
        yield from _code(block, style)
    elif block.kind in {"title", "head", "strong"}:
        yield from (style.bold(line) for line in _filled(block.text, width).split("\n"))
    elif block.kind == "item":
        yield _filled(block.text, width, "- ", 2)
    elif block.kind == "row":
        yield _filled(" ".join(block.text.split()), width, f"  {block.label:{_LABEL}} ", _LABEL + 3)
    else:
        for index, paragraph in enumerate(_paragraphs(block.text)):
            yield from [""] * bool(index)
            lines = _filled(paragraph, width).split("\n")
            yield from map(style.dim, lines) if block.kind == "meta" else lines


def _filled(text: str, width: int, head: str = "", indent: int = 0) -> str:
    """Lines of at most `width` columns; a word that is longer stays whole, so that it can be copied."""
    import textwrap  # Markdown needs none

    wrapper = textwrap.TextWrapper(
        width, initial_indent=head, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(text)


def _markdown(block: Block, level: int) -> Iterator[str]:
    if block.kind == "code":
        yield from _code(block, Style(on=False))
    elif block.kind in {"title", "head"}:
        yield f"{'#' * (level + (block.kind == 'head'))} {escaped(block.text)}"
    elif block.kind == "strong":
        yield f"**{escaped(block.text)}**"
    elif block.kind == "item":
        yield f"- {escaped(block.text)}"
    elif block.kind == "row":
        yield f"- {escaped(block.label)}: {escaped(' '.join(block.text.split()))}"
    else:
        yield "\n\n".join(map(escaped, _paragraphs(block.text)))


def _code(block: Block, style: Style) -> Iterator[str]:
    for number, line in enumerate(block.text.rstrip("\n").split("\n"), 1):
        mark = block.marks.get(number)
        yield f"    {style.caret(line)}  {style.dim('# <- ' + mark)}" if mark else f"    {line}".rstrip()


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text whose line breaks are its author's editor's."""
    return [" ".join(one.split()) for one in re.split(r"\n\s*\n", text.strip())]
