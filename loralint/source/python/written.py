"""Files that a program or a notebook writes: `%%writefile`, `f.write("...")`, `json.dump` and `yaml.dump`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.command import Files, Part
from loralint.source.document import UNSET, Node
from loralint.source.python.spelled import text_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loralint.source.script import Call, Script, Thing

# Functions that write a tree, and those that make a text of one: how its readers take it.
_DUMPS = {
    "json.dump": "json", "yaml.dump": "yaml", "yaml.safe_dump": "yaml", "toml.dump": "json", "tomli_w.dump": "json",
}  # fmt: skip
_TEXTS = {"json.dumps": "json", "yaml.dump": "yaml", "yaml.safe_dump": "yaml", "toml.dumps": "json"}
_OPENS = frozenset({"open", "io.open", "codecs.open"})
_LEVELS = 50
# As IPython fills them in: `{folder}/x.yaml`, `$folder/x.yaml`.
_VARIABLE = re.compile(r"\{(\w+)\}|\$\{(\w+)\}|\$(\w+)")


def files(script: Script) -> tuple[Files, ...]:
    """All of them, in the order in which they are written; one of which the text or the name is not known is none."""
    texts = {one.name: one.node.native for one in script.names if isinstance(one.node.native, str)}
    typed = [_moved(_filled(one.name, texts), _parts(script, one)) for one in script.files]
    called: dict[object, Files] = {}
    for call in script.calls:
        if call.span.file != script.document.file:
            continue
        for key, one in _of(script, call):
            called[key] = _joined(called[key], one) if key in called else one
    return tuple(sorted((*typed, *called.values()), key=lambda one: one.start))


def _filled(name: str, texts: Mapping[str, str]) -> str:
    """A name with the variables of the program that IPython fills in; others stay."""
    return _VARIABLE.sub(lambda one: texts.get(one[1] or one[2] or one[3], one[0]), name)


def _parts(script: Script, one: Files) -> list[Part]:
    return script.places.parts(one.text, one.start) if script.places is not None else []


def _moved(name: str, parts: Iterable[Part]) -> Files:
    several, moves, size = list(parts), [], 0
    for part in several:
        moves.append((size, part.start))
        size += len(part.text)
    text = "".join(part.text for part in several)
    return Files(name, text, moves[0][1] if moves else 0, tuple(moves))


def _joined(before: Files, after: Files) -> Files:
    """A second text behind the first; a second tree is not what a config is made of."""
    if before.tree is not None or after.tree is not None:
        return after
    moves = tuple((at + len(before.text), start) for at, start in after.moves)
    return before._replace(text=before.text + after.text, moves=before.moves + moves)


def _of(script: Script, call: Call) -> Iterator[tuple[object, Files]]:
    """What one call writes, with what tells its file from others."""
    if call.name in _DUMPS and len(call.args) > 1:
        given, to = call.arg("data", 0) or call.arg("obj"), call.arg("stream", 1) or call.arg("fp")
        name = _opened(to.thing) if to is not None else ""
        if name and to is not None and to.thing is not None and given is not None and given.node.kind == "mapping":
            yield to.thing.number, Files(name, "", given.node.start, (), _dumped(given.node, _DUMPS[call.name]))
    elif call.name in ("write", "write_text") and call.on is not None and call.args:
        name = _opened(call.on) if call.name == "write" else _path(call.on)
        yield from ((call.on.number, one) for one in _text(script, name, call) if name)


def _text(script: Script, name: str, call: Call) -> Iterator[Files]:
    given = call.args[0]
    made = given.thing.made if given.thing is not None else None
    if made is not None and made.name in _TEXTS and made.args and made.args[0].node.kind == "mapping":
        tree = made.args[0].node
        yield Files(name, "", tree.start, (), _dumped(tree, _TEXTS[made.name]))
    elif isinstance(given.node.native, str) and given.node.tag == "str":
        yield _moved(name, text_parts(script, given.node, given.node.native))


def _opened(thing: Thing | None) -> str:
    """The name of a file that `open` opened to write it anew, else empty."""
    call = thing.made if thing is not None else None
    if call is None:
        return ""
    if call.name == "open" and call.on is not None:  # `Path("x").open("w")`
        mode, name = call.arg("mode", 0), _path(call.on)
    else:
        mode, first = call.arg("mode", 1), call.arg("file", 0)
        name = _named(first.node) if call.name in _OPENS and first is not None else ""
        name = name or (_path(first.thing) if call.name in _OPENS and first is not None else "")
    return name if mode is not None and isinstance(mode.node.native, str) and mode.node.native[:1] in "wx" else ""


def _path(thing: Thing | None) -> str:
    """The name in `Path("x.yaml")`, else empty."""
    call = thing.made if thing is not None else None
    known = call is not None and call.name == "pathlib.Path" and len(call.args) == 1
    return _named(call.args[0].node) if known and call is not None else ""


def _named(node: Node) -> str:
    return node.native if node.tag == "str" and isinstance(node.native, str) else ""


def _dumped(node: Node, form: str, depth: int = 0) -> Node:
    """The tree as the file has it. form: "json" or "yaml", as its readers take texts and numbers."""
    if node.kind == "scalar" or depth > _LEVELS:
        return _scalar(node, form)
    made = Node(node.kind, node.tag, node.start_mark, node.end_mark)
    made.items = [_dumped(item, form, depth + 1) for item in node.items]
    made.pairs = [pair._replace(value=_dumped(pair.value, form, depth + 1)) for pair in node.pairs]
    return made


def _scalar(node: Node, form: str) -> Node:
    native = node.native
    marks = node.start_mark, node.end_mark
    if node.tag not in ("str", "int", "float", "bool", "null") or isinstance(native, Unknown) or native is UNSET:
        why = native if isinstance(native, Unknown) else Unknown("the program works it out when it runs")
        return Node("scalar", "unknown", *marks, node.raw, True, why)
    if isinstance(native, str):
        return Node("scalar", "str", *marks, native, False, native if form == "json" else UNSET)
    raw = json.dumps(native)
    if form == "yaml" and "e" in raw and "." not in raw:
        raw = raw.replace("e", ".0e")  # as PyYAML writes it, which reads a number only with a point
    return Node("scalar", node.tag, *marks, raw, True, native if form == "json" else UNSET)
