"""Values that a script takes from its command line: from the launch's flags, else from the script's own defaults."""

from __future__ import annotations

import copy
from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from loralint.frameworks.companions.dotenv import read_dotenv
from loralint.frameworks.flags import as_flags
from loralint.frameworks.python.build import readable
from loralint.model import Unknown
from loralint.run.build import Part
from loralint.source.document import Document, Node, Pair

_DIALECTS = {"json": "json"}  # of files of settings, by their format


class Variables(NamedTuple):
    """Variables of the environment. document: its root maps each name to its value; source: the file that has them."""

    document: Document
    source: Document

    @property
    def nodes(self) -> dict[str, Node]:
        """The values by the names that a program's arguments have for them."""
        root = self.document.root
        return {f"${pair.key}": pair.value for pair in root.pairs} if root is not None else {}


class Given(NamedTuple):
    """What a script is launched with. flags: the document of its flags; source: the file that has them; open: more may
    be given that nobody sees.
    """

    flags: Document
    source: Document
    open: bool


def filled(part: Part, launch: Given | None, variables: tuple[Variables, ...] = ()) -> list[Part]:
    """A script's part with the values of its arguments, and before it those with what flags and variables give.

    Without a launch a default is only what a value may be. variables: the strongest first; what the script loads itself
    replaces none that it has. A file that its parser takes comes behind both, or counts alone.
    """
    variables = (*variables, *(Variables(read_dotenv(one), one) for one in part.loads))
    root = launch.flags.root if launch is not None and part.reads != "alone" else None
    flags = {pair.key: pair.value for pair in root.pairs} if root is not None else {}
    given = {**flags, **{name: node for one in reversed(variables) for name, node in one.nodes.items()}}
    settings = {pair.key: pair.value for one in part.handed if one.root is not None for pair in one.root.pairs}
    given = {**settings, **given}
    defaults = {
        one.name: readable(one.node)
        for one in part.arguments
        if one.name not in given and (one.node.kind != "scalar" or one.node.native is not None)
    }
    script = _replaced(part, defaults, given, assumed=launch is None or launch.open)
    told = list(_told(part, Variables(launch.flags, launch.source), "flags", flags)) if launch is not None else []
    told += (made for one in variables for made in _told(part, one, "env", one.nodes))
    files = (Variables(one, one) for one in part.handed)
    return [*told, *(made for one in files for made in _told(part, one, "config", settings)), script]


def doubted(part: Part, why: str, names: Container[str] | None = None) -> Part:
    """A script's part of whose arguments nobody knows whether their defaults hold. names: which ones, None for all."""
    unknown = {one.name: _doubtful(one.node, why) for one in part.arguments if names is None or one.name in names}
    kept = (one._replace(node=unknown.get(one.name, one.node)) for one in part.arguments)
    return part._replace(arguments=tuple(kept))


def _doubtful(node: Node, why: str) -> Node:
    return Node("scalar", "unknown", node.start_mark, node.end_mark, node.raw, True, Unknown(why))


def _told(part: Part, given: Variables, kind: str, values: Mapping[str, Node]) -> Iterator[Part]:
    """What flags, variables or a file say of a script's arguments; nothing if they say nothing."""
    tree = _only(part.document, values)
    if tree is None:
        return
    as_file = part.reader._replace(dialect=_DIALECTS.get(given.document.format, "pyyaml"), coerces=True)
    reader = (as_file if kind == "config" else as_flags(part.reader))._replace(keys="", observe=(), combine=None)
    uses = [one for one in _uses(part.document) if one[2] in values]
    names = {f"{call.key}.{pair.key}": name.removeprefix("$") for call, pair, name in uses}
    document = _copy(given.document, _with(given.document.root or tree, list(tree.pairs)))
    document.format = document.format if kind == "config" else kind
    yield Part(kind, document, reader, given.source, names=names)


def others(part: Part, flags: Document) -> Document:
    """The flags that the script does not declare itself, such as those of a library's dataclasses."""
    own = {one.name for one in part.arguments}
    root = flags.root
    if root is None or not own:
        return flags
    return _copy(flags, _with(root, [pair for pair in root.pairs if pair.key not in own]))


def unheard(flags: Document) -> Document:
    """The flags of a program whose parser takes a file and no word of the command line."""
    root = flags.root
    return _copy(flags, _with(root, [])) if root is not None else flags


def parsed(part: Part, launch: Given) -> list[Part]:
    """The flags that a script's parser puts into classes of a library, each where it arrives."""
    root, tree = others(part, launch.flags).root, part.document.root
    if root is None or tree is None or not part.parsed:
        return []
    calls = [call._replace(value=_with(call.value, list(root.pairs))) for call in tree.pairs if call.key in part.parsed]
    names = {f"{call.key}.{pair.key}": pair.key for call in calls for pair in root.pairs}
    reader = as_flags(part.reader)._replace(keys="", observe=(), combine=None)
    return [Part("flags", _copy(launch.flags, _with(root, calls)), reader, launch.source, names=names)]


def _name(node: Node) -> str:
    return node.raw.rpartition(".")[2] if node.kind == "scalar" and node.tag in ("argument", "split") else ""


def _uses(document: Document) -> Iterator[tuple[Pair, Pair, str]]:
    """Where arguments arrive: the call, its parameter, the argument."""
    for call in document.root.pairs if document.root is not None else ():
        for pair in call.value.pairs:
            if name := _name(pair.value):
                yield call, pair, name


def _replaced(part: Part, values: Mapping[str, Node], given: Mapping[str, Node], *, assumed: bool) -> Part:
    """The part with values for the arguments, less those that flags give, of which it knows nothing itself.

    assumed: they are defaults that a launch may overrule.
    """
    root = part.document.root
    if root is None or not any(name in values or name in given for _, _, name in _uses(part.document)):
        return part
    tree = _with(root, [_with_values(call, values, given) for call in root.pairs])
    spans = map(part.document.span, values.values() if assumed else ())
    places = frozenset((span.file, span.start) for span in spans)
    return part._replace(document=_copy(part.document, tree), assumed=places)


def _copy(document: Document, root: Node) -> Document:
    """The same text with another root."""
    made = copy.copy(document)
    made.roots = [root]
    made._root = None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return made


def _with_values(call: Pair, values: Mapping[str, Node], given: Mapping[str, Node]) -> Pair:
    pairs = [
        pair._replace(value=_taken(pair.value, values.get(_name(pair.value), pair.value)))
        for pair in call.value.pairs
        if _name(pair.value) not in given
    ]
    return call._replace(value=_with(call.value, pairs))


def _only(document: Document, values: Mapping[str, Node]) -> Node | None:
    """The tree with nothing but the arguments that are given, as they are given."""
    root = document.root
    calls = []
    for call in root.pairs if root is not None else ():
        pairs = [
            pair._replace(value=_taken(pair.value, values[name]))
            for pair in call.value.pairs
            if (name := _name(pair.value)) in values
        ]
        if pairs:
            calls.append(call._replace(value=_with(call.value, pairs)))
    return _with(root, calls) if root is not None and calls else None


def _taken(place: Node, value: Node) -> Node:
    """A value as the program uses it: one that it splits is a list of texts."""
    if place.tag != "split" or value is place or value.kind != "scalar" or isinstance(value.native, Unknown):
        return value
    lines = value.start_mark, value.end_mark
    made = Node("sequence", "seq", *lines)
    between, *told = (one.raw for one in place.items)
    parts = value.raw.split(between)
    parts = [one.strip() for one in parts] if "strip" in told else parts
    made.items = [Node("scalar", "str", *lines, one, native=one) for one in parts if one or "full" not in told]
    return made


def _with(node: Node, pairs: list[Pair]) -> Node:
    made = Node(node.kind, node.tag, node.start_mark, node.end_mark)
    made.pairs = pairs
    return made
