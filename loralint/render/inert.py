"""Text that quotes a config, as Markdown in which nothing comes alive.

A forge makes links of more than Markdown says: addresses, @people, #numbers, hashes of commits, :shortcodes:. It looks
for them in text and leaves code alone, so every word that is not plain becomes code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.source.shown import shown

_CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")  # as our own messages quote
# Words that mean nothing to a forge: letters, digits and marks of prose, with no sign that Markdown reads.
_PLAIN = re.compile(r"(?:[\w.,;:()'\"/?=%+-]|[^\x00-\x7f])*")
_ALIVE = re.compile(
    r"://|www\.|^mailto:|^xmpp:|(?<![^\W_])_|_(?![^\W_])|:[\w+-]+:|^\W*[0-9a-f]{7,}\W*$|GH-\d|%\w",
    re.IGNORECASE,
)


def inert(text: str, limit: int = 1000) -> str:
    """A line of Markdown, or a part of one but its start, that reads as the text; words in backticks stay code."""
    out = ""
    for place, part in enumerate(_CODE.split(shown(text, limit))):
        for piece in [code(part)] if place % 2 else _words(part):
            # two runs of backticks that meet would be one, and open or close something else
            out += f" {piece}" if out.endswith("`") and piece.startswith("`") else piece
    return out.strip()


def code(text: str, *, table: bool = False) -> str:
    """The text as code, whatever it holds; in a table a bar would end the cell, so it is written as an escape."""
    text = " ".join(text.split()) or " "
    text = text.replace("|", "\\x7c") if table else text
    longest = max(map(len, re.findall("`+", text)), default=0)
    pad = " " if longest else ""
    return f"{'`' * (longest + 1)}{pad}{text}{pad}{'`' * (longest + 1)}"


def _words(text: str) -> Iterator[str]:
    for word in re.split(r"(\s+)", text):
        plain = not word or word.isspace() or (_PLAIN.fullmatch(word) and not _ALIVE.search(word))
        yield word if plain else code(word)
