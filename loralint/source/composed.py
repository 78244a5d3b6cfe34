"""A config of Hydra with the files that its `defaults` name, composed in Hydra's order; each value keeps its place.

Source: hydra 1.3.8 `_internal/defaults_list.py` and `core/default_element.py`; OmegaConf 2.3.1 `basecontainer.py`.
Since Hydra 1.1 a file without `_self_` comes behind those that it names. What the command line chooses, what comes from
code or is not at hand leaves the whole unknown, since it may stand over anything.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from loralint.source.document import Node, Pair
from loralint.source.elsewhere import FileMark
from loralint.source.limits import DEPTH, NODES
from loralint.source.overrides import Choices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loralint.source.document import Document

    # Give the config of a path below the folder of configs.
    Look = Callable[[str], Document | None]

# Files of one config. verl's own, the largest known to us, has about 30.
FILES = 100
# Choices that name others choose anew; more rounds than this are none that settle.
_ROUNDS = 5
# Before any other comment.
_HEADER = re.compile(r"\A(?:[ \t]*(?:#[ \t]*@[^\n]*)?\r?\n)*?[ \t]*#+[ \t]*@package[ \t]+(\S+)")
_GLOBAL = "_global_"
_SELF = "_self_"


class Composed(NamedTuple):
    """The whole of a config. root: its tree. documents: the files besides the first that it is made of."""

    root: Node
    documents: tuple[Document, ...]


class _Entry(NamedTuple):
    """One of `defaults`. options: None where the command line chooses. package: None where none is written. fixed: it
    is no choice that another file may change.
    """

    group: str
    options: tuple[str, ...] | None
    package: str | None = None
    words: tuple[str, ...] = ()
    fixed: bool = False


class _Place(NamedTuple):
    """Where a file is met: the folder of its group, its package, and how many files lead there."""

    group: str
    package: str
    depth: int = 0


class Unseen(Exception):  # noqa: N818 - it ends the composing, it is no fault of the config
    """Something of the config is not at hand."""


class _Work:
    """What is known while a config is composed. choices: made by `override`; met: those of this round; chosen: the
    options of each group that is no override. line: what the command line chooses; used: what of that is a choice.
    """

    def __init__(self, look: Look, line: Choices) -> None:
        self.look = look
        self.line = line
        self.used: set[str] = set()
        self.documents: dict[str, Document] = {}
        self.choices: dict[str, tuple[str, ...] | None] = {}
        self.met: dict[str, tuple[str, ...] | None] = {}
        self.chosen: dict[str, tuple[str, ...] | None] = {}


def builds(document: Document) -> bool:
    """Whether a config names others in `defaults`."""
    defaults = document.root.get("defaults") if document.root is not None else None
    return defaults is not None and [one.raw for one in defaults.items] not in ([], [_SELF])


def compose(document: Document, look: Look, group: str = "", line: Choices | None = None) -> Composed | None:
    """The config with all that it builds on, None where not all of it is seen. group: the folder of the config. line:
    what the command line chooses.
    """
    work = _Work(look, line or Choices())
    try:
        for _ in range(_ROUNDS):
            work.met, work.chosen = {}, {}
            parts = list(_parts(work, document, _Place(group, "")))
            if work.met == work.choices:
                used = {key for key in work.met if key.split("/")[0] != "hydra"} <= work.chosen.keys()
                return _merged(document, parts) if used and work.used >= work.line.made.keys() else None
            work.choices = work.met
    except (Unseen, RecursionError):
        pass
    return None


def _merged(first: Document, parts: list[tuple[Document, str]]) -> Composed | None:
    root: Node | None = None
    budget = [NODES]
    for document, package in parts:
        mark = FileMark(0, document.lines, document.file)
        assert document.root is not None
        made = without_defaults(document.root if document is first else placed(document.root, document, budget))
        for name in reversed(package.split(".") if package else []):
            outer = Node("mapping", "map", mark, mark)
            outer.pairs = [Pair(name, Node("scalar", "str", mark, mark, name), made)]
            made = outer
        root = made if root is None else laid_over(root, made)
    return Composed(root, tuple({one.file: one for one, _ in parts if one is not first}.values())) if root else None


def without_defaults(root: Node) -> Node:
    """The tree less `defaults`, which is no part of the whole."""
    made = Node(root.kind, root.tag, root.start_mark, root.end_mark)
    made.pairs = [pair for pair in root.pairs if pair.key != "defaults"]
    return made


def placed(node: Node, document: Document, budget: list[int], depth: int = 0) -> Node:
    """The same tree with marks that name its file."""
    budget[0] -= 1
    if budget[0] < 0 or depth > DEPTH:
        raise Unseen
    start, end = (FileMark(mark.index, document.lines, document.file) for mark in (node.start_mark, node.end_mark))
    made = Node(node.kind, node.tag, start, end, node.raw, node.plain, node.native)
    made.alias = node.alias
    made.items = [placed(one, document, budget, depth + 1) for one in node.items]
    made.pairs = [
        pair._replace(
            key_node=placed(pair.key_node, document, budget, depth + 1),
            value=placed(pair.value, document, budget, depth + 1),
        )
        for pair in node.pairs
    ]
    return made


def laid_over(below: Node, above: Node) -> Node:
    """One value over another, as OmegaConf merges them: mappings entry by entry; `???` stands over nothing."""
    if above.kind == "scalar" and above.raw == "???":
        return below
    if {below.kind, above.kind} == {"mapping", "sequence"}:  # at which OmegaConf stops
        raise Unseen
    if below.kind != "mapping" or above.kind != "mapping":
        return above
    pairs = {pair.key: pair for pair in below.pairs}
    for pair in above.pairs:
        known = pairs.get(pair.key)
        pairs[pair.key] = pair if known is None else pair._replace(value=laid_over(known.value, pair.value))
    made = Node("mapping", "map", above.start_mark, above.end_mark)
    made.pairs = list(pairs.values())
    return made


def _parts(work: _Work, document: Document, place: _Place) -> Iterator[tuple[Document, str]]:
    """The files of a config with their packages, in the order in which each is merged over those before it."""
    root = document.root
    if root is None or document.problems or len(document.roots) != 1 or place.depth > DEPTH:
        raise Unseen
    defaults = root.get("defaults")
    if defaults is not None and defaults.kind != "sequence":
        raise Unseen
    entries = [_entry(item) for item in defaults.items] if defaults is not None else []
    if _SELF not in [one.group for one in entries]:
        entries.append(_Entry(_SELF, ()))
    if not place.depth:
        entries += (_Entry(f"/{group}", options, package) for group, options, package in work.line.added)
    for entry in (one for one in entries if "override" in one.words):
        key = _key(entry, _path(entry, place), place)
        if work.met.setdefault(key, entry.options) != entry.options:  # which one counts differs from release to release
            raise Unseen
    for entry in (one for one in entries if "override" not in one.words):
        if entry.group == _SELF:
            yield document, place.package
        else:
            yield from _named(work, entry, place)


def _entry(item: Node) -> _Entry:
    if item.kind == "mapping" and len(item.pairs) == 1:
        (pair,) = item.pairs
        *words, name = pair.key.split() or [""]
        group, at, package = name.partition("@")
        return _Entry(group, _options(pair.value), package if at else None, tuple(words))
    if item.kind != "scalar" or item.tag == "null":
        raise Unseen
    *words, name = item.raw.split() or [""]
    path, at, package = name.partition("@")
    if path == _SELF:
        return _Entry(_SELF, ())
    group, slash, option = path.rpartition("/")
    return _Entry(group or slash, (option,), package if at else None, tuple(words), fixed=True)


def _options(value: Node) -> tuple[str, ...] | None:
    if value.kind == "scalar":
        return () if value.tag == "null" else None if value.raw == "???" else (value.raw,)
    return tuple(one.raw for one in value.items if one.kind == "scalar")


def _named(work: _Work, entry: _Entry, place: _Place) -> Iterator[tuple[Document, str]]:
    """What one of `defaults` brings in."""
    path = _path(entry, place)
    if path.split("/")[0] == "hydra":  # settings of Hydra itself, which no training reads
        return
    key = _key(entry, path, place)
    chosen = {**work.choices, **work.met, **work.line.made}
    options = entry.options if entry.fixed else chosen.get(key, entry.options)
    work.used |= set() if entry.fixed else {key}
    if not entry.fixed and work.chosen.setdefault(key, options) != options:  # at which Hydra stops
        raise Unseen
    for option in ("???",) if options is None else options:
        document = _file(work, posixpath.join(path, option))
        if document is not None:
            package = _package(entry, _header(document))
            yield from _parts(work, document, _Place(path, _inside(place.package, package), place.depth + 1))
        elif "optional" not in entry.words:
            raise Unseen


def _path(entry: _Entry, place: _Place) -> str:
    """The folder of a group, below that of all configs."""
    path = entry.group.strip("/") if entry.group.startswith("/") else posixpath.join(place.group, entry.group)
    return posixpath.normpath(path) if path else ""


def _key(entry: _Entry, path: str, place: _Place) -> str:
    """What an `override` calls a choice: its group, and its package if that is another."""
    package = _inside(place.package, _package(entry, None))
    return path if package == path.replace("/", ".") else f"{path}@{package}"


def _package(entry: _Entry, header: str | None) -> str:
    """The package that an entry asks for, else the file's own header, else its group."""
    group = ".".join(one for one in entry.group.split("/") if one not in ("", ".", ".."))
    package = group if entry.package is None and header is None else entry.package if header is None else header
    package = entry.package if entry.package is not None else package
    if "_group_" in (package or "") or "_name_" in (package or ""):  # words of Hydra 1.0, to later ones names
        raise Unseen
    return (package or "").replace("_here_", "")


def _header(document: Document) -> str | None:
    """The package that a file names for itself, seen from the root."""
    found = _HEADER.match(document.text)
    if found is None:
        return None
    return found[1] if found[1].startswith(_GLOBAL) else f"{_GLOBAL}.{found[1]}"


def _inside(outer: str, package: str) -> str:
    """A package seen from the root, given that of the file which names it."""
    whole = f"{outer}.{package}".strip(".")
    return whole[whole.rfind(_GLOBAL) + len(_GLOBAL) :].strip(".") if _GLOBAL in whole else whole


def _file(work: _Work, path: str) -> Document | None:
    if path not in work.documents:
        found = work.look(path if path.endswith((".yaml", ".yml")) else f"{path}.yaml") if "$" not in path else None
        if found is None:
            return None
        work.documents[path] = found
        if len(work.documents) > FILES:
            raise Unseen
    return work.documents[path]
