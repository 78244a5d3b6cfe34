"""What `install_requires` of setup.cfg and setup.py asks for; the script is read, never run.

What an extra fixes nobody has to install, but who installs the package has no newer one by it: it counts as a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.companions.pins import Found, of_extra, requirement
from loralint.source.document import Document, Node

_KEY = re.compile(r"^install_requires[ \t]*=", re.MULTILINE)
_INDENTED = re.compile(r"[^\r\n]*(?:\r?\n(?:[ \t]+[^\r\n]*|(?=\r?\n)))*")
_LINE = re.compile(r"[^\r\n]+")
# `_deps = [...]`, from which `setup()` picks by name, as Transformers' own setup.py does
_LISTED = re.compile(r"^\w*(?:deps|dependencies|requires|requirements)[ \t]*\+?=[ \t]*\[", re.IGNORECASE | re.MULTILINE)
_END = re.compile(r"^\]|\][ \t]*(?:#[^\r\n]*)?\r?$", re.MULTILINE)
_TEXT = re.compile(r"""^[^#"'\r\n]*["']([^"'\r\n]{1,300})["']""", re.MULTILINE)


def of_cfg(document: Document) -> Iterator[Found]:
    """The requirements behind the key, one on each indented line."""
    key = _KEY.search(document.text)
    found = _INDENTED.match(document.text, key.end()) if key is not None else None
    for line in _LINE.finditer(document.text, found.start(), found.end()) if found is not None else ():
        yield from requirement(line[0], line.start())


def of_script(document: Document) -> Iterator[Found]:
    """The requirements that `setup()` is given, as far as the program's text tells them, else those that it lists."""
    from loralint.source.python import read_script

    told = False
    for call in read_script(Document(document.file, "python", document.text)).calls:
        if call.name.rpartition(".")[2] != "setup":
            continue
        given, extras = call.arg("install_requires"), call.arg("extras_require")
        for pair in extras.node.pairs if extras is not None else ():
            for node in pair.value.items:
                if isinstance(node.native, str):
                    yield from of_extra(_at(node, node.native))
        for node in given.node.items if given is not None else ():
            if node.kind == "scalar" and isinstance(node.native, str):
                told = True
                yield from _at(node, node.native)
    if not told:
        yield from _listed(document)


def _listed(document: Document) -> Iterator[Found]:
    """What stands in lists of requirements by their name, one on each line."""
    for head in _LISTED.finditer(document.text):
        end = _END.search(document.text, head.end())
        for one in _TEXT.finditer(document.text, head.end(), end.start() if end else head.end()):
            yield from requirement(one[1], one.start(1))


def _at(node: Node, text: str) -> Iterator[Found]:
    for one in requirement(text, 0):
        yield one._replace(start=node.start, end=node.end)
