"""Python programs and notebooks, read with the syntax tree alone: nothing of them is imported or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.document import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from loralint.source.overrides import Line
    from loralint.source.script import Script

    # Give the file that a program means by a name, and by an import: its dotted name, the dots before it, and the file
    # from which it is looked for.
    Files = Callable[[str], Document | None]
    Modules = Callable[[str, int, str], Document | None]

__all__ = ["might_train", "read_script"]


def read_script(
    given: Document | str, files: Files | None = None, modules: Modules | None = None, line: Line | None = None
) -> Script:
    """Say what a program does. given: its document (format "python", or "notebook" for the JSON of one), or its text.

    files: gives the file that the program means by a name, if it is at hand; what it loads of one is then known.
    modules: gives the file that is meant by an import: its dotted name, the dots before it, the file that has it.
    line: Hydra's command line, where one is seen.
    Faults of the text become problems of the document; what could not be followed stands in Script.unread.
    """
    doc = given if isinstance(given, Document) else Document("", "python", given.lstrip("\ufeff"))
    if doc.problems:  # it could not be read as a text
        from loralint.source.script import Script

        return Script(doc, ())
    if doc.format == "notebook":
        from loralint.source.python.notebook import read

        return read(doc, files, modules)
    from loralint.source.python.script import read_text

    return read_text(doc, files, modules, line)


def might_train(text: str, words: Iterable[str]) -> bool:
    """Whether any of some words stands in a text: a cheap look before a program is read."""
    return any(word in text for word in words)
