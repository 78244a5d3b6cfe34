"""Programs that name nothing of a training and start that of another file of the repository."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain, islice

from loralint.source.document import Document, Fault

# A longer program that names nothing of a training does more than to start one.
LENGTH = 16 * 1024
# Files between a program and the one that it starts, and files that are looked at for it.
_DEEPEST = 2
_MOST = 40
# What is only done by the file that is started.
STARTS = re.compile(r"""(?m)^if[ \t(]+__name__[ \t]*==[ \t]*["']__main__""")
_FROM = re.compile(r"(?m)^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n#;]{1,2000})")
_IMPORT = re.compile(r"(?m)^[ \t]*import[ \t]+([\w., \t]{1,400})")
_RUN = re.compile(r"""\b(?:run_module|import_module)\([ \t\n]*(?:mod_)?(?:name[ \t]*=[ \t]*)?["']([\w.]{1,200})["']""")
_PATH = re.compile(r"""["']([\w./-]{1,200}\.py)["']""")

# What makes a trainer, or puts an adapter on a model.
_TRAINS = re.compile(r"(?:Trainer|get_peft_model|Fast(?:Language|Vision)?Model)[ \t]*[(.]")


def leads(
    document: Document,
    imported: Callable[[str, int, str], Document | None],
    opened: Callable[[str], Document | None] | None,
    speaks: Callable[[str], bool],
) -> bool:
    """Whether a program imports, or runs by name, a file of its repository that trains."""
    text = _cells(document) if document.format == "notebook" else document.text
    if len(text) > LENGTH or "import" not in text:
        return False
    paths = _PATH.findall(text) if opened is not None and "run_path(" in text else []
    named = (found for path in paths if opened is not None and (found := opened(path)) is not None)
    several = islice(chain(_imported(document, text, imported, 0), named), _MOST)
    return any(_trains(one, speaks) for one in several)


@lru_cache(maxsize=512)  # launches of one program look at the same files
def _trains(document: Document, speaks: Callable[[str], bool]) -> bool:
    return _TRAINS.search(document.text) is not None and speaks(document.text)


def _cells(document: Document) -> str:
    """The text of a notebook's cells."""
    from loralint.source.python.cellfile import cells_of

    try:
        return "\n".join(cell.text for cell in cells_of(document))
    except (ValueError, IndexError, RecursionError, Fault):
        return ""


def _imported(
    document: Document, text: str, imported: Callable[[str, int, str], Document | None], depth: int
) -> Iterator[Document]:
    for name, level in dict.fromkeys(_names(text)):
        found = imported(name, level, document.file)
        if found is None:
            continue
        yield found
        if depth < _DEEPEST and len(found.text) <= LENGTH:
            yield from _imported(found, found.text, imported, depth + 1)


def _names(text: str) -> Iterator[tuple[str, int]]:
    """The modules that the imports of a text may mean, with the dots before each."""
    from loralint.source.python.modules import LIBRARIES

    for dots, name, things in _FROM.findall(text):
        if dots or name.partition(".")[0] not in LIBRARIES:
            if name:
                yield name, len(dots)
            for thing in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?[ \t\n]*(?:,|\)|$)", things):
                yield f"{name}.{thing}".lstrip("."), len(dots)
    several = [one.split()[0] for names in _IMPORT.findall(text) for one in names.split(",") if one.strip()]
    for name in (*several, *_RUN.findall(text)):
        if name.partition(".")[0] not in LIBRARIES:
            yield name, 0
