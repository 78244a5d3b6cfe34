"""Words that the libraries' classes do not take for one of their arguments: Python stops with a ValueError.

The closed lists are those of TRL's files (knowledge part `keys-trl`, `choices`): a file's keys become these arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import chosen
from loralint.frameworks.python.build import tree
from loralint.frameworks.python.keywords import every_keyword
from loralint.frameworks.table import Look, Observation, Reader
from loralint.source.document import Document, Pair

_LISTS = Reader("trl", "TRL", "python", (), "trl", coerces=False, packages=("trl",))


def observe_words(document: Document, look: Look) -> list[Observation]:
    """Observe words that no release of these libraries takes where they stand."""
    outers = document.root.pairs if document.root is not None else []
    return [one for outer in outers for one in _observed(document, outer, look)]


def _observed(document: Document, outer: Pair, look: Look) -> Iterator[Observation]:
    known = every_keyword(outer.key)
    if known is None or outer.value.tag == "own":
        return
    ours = [one for one in outer.value.pairs if one.key in known and one.key_node.tag != "own"]
    section = tree(document, [one for one in ours if one.value.kind == "scalar" and isinstance(one.value.native, str)])
    for found in chosen(section, _LISTS, look):
        key = f"{outer.key}.{found.value.key}"
        yield found._replace(value=found.value._replace(key=key, pointer="/" + key.replace(".", "/")))
