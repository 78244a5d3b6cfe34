"""The words of a launch as Hydra reads them: options of its own, and overrides."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from loralint.frameworks.launch.flags import is_open, listed
from loralint.frameworks.launched import Launch
from loralint.model import Unknown
from loralint.source.command import Word
from loralint.source.document import Document, Node
from loralint.source.elsewhere import FileMark
from loralint.source.overrides import Line, Override
from loralint.source.shell.words import tail

if TYPE_CHECKING:
    from loralint.run.project import Lookup

_NAME = ("--config-name", "-cn")
_FOLDER = ("--config-path", "-cp")
_ADDED = ("--config-dir", "-cd")
_MULTIRUN = ("--multirun", "-m")
_PLAIN = (*_MULTIRUN, "--run", "-r", "--resolve")
_OVERRIDE = re.compile(r"(~|\+{0,2})([A-Za-z_][\w\-./@:$]*)(?:(=)|$)")
# What the grammar of Hydra makes something else of than a text: sweeps, dictionaries, functions, interpolations.
_MORE = re.compile(r"[,{(\[$]")
# What else Hydra's grammar takes for more than a text; `yes` and `on` are none of it.
_INT = r"(?:0|[1-9](?:_?[0-9])*)"
_FORMS = (
    ("bool", re.compile("true|false", re.IGNORECASE)),
    ("null", re.compile("null", re.IGNORECASE)),
    ("int", re.compile(rf"[+-]?{_INT}")),
    (
        "float",
        re.compile(rf"[+-]?(?:{_INT}\.|{_INT}?\.[0-9](?:_?[0-9])*|{_INT}(?=[eE]))(?:[eE][+-]?[0-9](?:_?[0-9])*)?"),
    ),
)


def hydra_line(launch: Launch, document: Document, files: Lookup) -> Line:
    """Hydra's command line of a launch. document: the file that has it; files: where its configs are looked for."""
    line, words = Line(files.beside), list(launch.words)[::-1]
    while words and line.seen:
        word = words.pop()
        option, equals, _ = word.raw.partition("=")
        if option in (*_NAME, *_FOLDER, *_ADDED):
            value = tail(word, len(option) + 1, document.lines) if equals else words.pop() if words else None
            text = value.text if value is not None and isinstance(value.text, str) else ""
            if option in _ADDED:
                line = line._replace(added=partial(_below, files, document, text))
            else:
                line = line._replace(name=text) if option in _NAME else line._replace(folder=text)
            line = line._replace(seen=bool(text))
        elif word.raw in _PLAIN or is_open(word):
            continue
        else:
            made = _override(word, document)
            line = line._replace(words=(*line.words, made)) if made is not None else line._replace(seen=False)
    return line


def _below(files: Lookup, document: Document, folder: str, path: str) -> Document | None:
    """A file below a folder that is seen from where the command runs, which no file says: see `Lookup.find`."""
    return files.find(f"{folder.rstrip('/')}/{path}", document.file)


def _override(word: Word, document: Document) -> Override | None:
    match = _OVERRIDE.match(word.raw)
    if match is None or "$" in match[2] or (match[3] is None and match[1] != "~"):
        return None
    key = _placed(Node("scalar", "str", word.node.start_mark, word.node.end_mark, match[2]), document)
    value = _value(tail(word, match.end(), document.lines), document) if match[3] else None
    return Override(match[1], match[2], key, value)


def _value(word: Word, document: Document) -> Node:
    made = listed(word, document)
    if made.kind == "sequence":
        items, made.items = made.items, []
        made = _placed(made, document)
        made.items = [_placed(_plain(one), document) for one in items]
        return made
    return _placed(_plain(word.node), document)


def _plain(node: Node) -> Node:
    """A word as Hydra takes it, without its quotes."""
    raw = node.raw.strip()
    if isinstance(node.native, Unknown):
        return Node("scalar", "unknown", node.start_mark, node.end_mark, raw, True, node.native)
    if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"":
        return Node("scalar", "str", node.start_mark, node.end_mark, raw[1:-1])
    if _MORE.search(raw):
        why = Unknown("Hydra makes several values, or another one, of what stands on the command line")
        return Node("scalar", "unknown", node.start_mark, node.end_mark, raw, True, why)
    tag = next((tag for tag, form in _FORMS if form.fullmatch(raw)), "str")
    return Node("scalar", tag, node.start_mark, node.end_mark, raw, plain=True)


def _placed(node: Node, document: Document) -> Node:
    """The node with marks that name the file of the command."""
    start, end = (FileMark(mark.index, document.lines, document.file) for mark in (node.start_mark, node.end_mark))
    return Node(node.kind, node.tag, start, end, node.raw, node.plain, node.native)
