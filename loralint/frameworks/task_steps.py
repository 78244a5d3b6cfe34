"""What a part of a file that hands out commands does in shells, in its order: variables, folder, commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, named, text, top
from loralint.frameworks.readers.launch.cloud import asked_of
from loralint.frameworks.sweeps import words
from loralint.frameworks.tasks import Kind, scalars, variables_of
from loralint.source.command import Part
from loralint.source.document import Document, Node
from loralint.source.filled import Cut, fill, parts_of
from loralint.source.shell.session import Step
from loralint.source.shell.words import Field

_NAME = re.compile(r"\A[^=]{0,200}=")
_LATER = "`{}` is given when the job is handed in"

Given = Mapping[str, Field]


def steps(document: Document, kind: Kind, root: Node, unit: At) -> Iterator[Step]:
    """What happens in a unit, in its order. root: of the file, whose inputs a command may name."""
    given = _inputs(document, kind, root, unit)
    for name, value in variables_of(kind, unit):
        field = _field(document, kind, value, given) if value is not None else _unknown(name)
        whole = Field(tuple(parts_of(document, name)), name.start, name.end)
        if name is value:  # NAME=value
            parts = fill(whole.text, list(field.parts), _NAME, lambda _match, _cut: ())
            field = field._replace(parts=tuple(parts))
        yield Step("variable", (whole._replace(parts=_until(whole, "=")), field))
    yield from _counted(kind, unit)
    folder = inside(unit, kind.folder) if kind.folder else None
    if text(folder) and folder is not None:
        yield Step("folder", (_field(document, kind, folder.node, given),))
    for key in kind.texts:
        yield from _script(document, kind, inside(unit, key), given)
    if kind.sweep:
        yield Step("words", tuple(words(document, unit)))
    pieces = [at for key in kind.words if (at := inside(unit, key)) is not None]
    if any(one.node.kind == "scalar" and one.node.tag != "null" for one in pieces):  # taken apart as a shell does it
        yield Step("text", tuple(_field(document, kind, one, given) for one in scalars(pieces)))
    elif pieces:
        yield Step("words", tuple(_field(document, kind, one, given) for one in scalars(pieces)))


def _counted(kind: Kind, unit: At) -> Iterator[Step]:
    """The variables that say how much is asked for; one machine where none are counted."""
    asked = asked_of(kind.name, unit) if kind.counts else {}
    for name, field in kind.counts:
        at, number = asked.get(field, (unit, 1 if field == "job.nodes" else None))
        if isinstance(number, int):
            start = at.node.start
            made = (Field((Part(one, start, start),), start, start) for one in (name, str(number)))
            yield Step("variable", tuple(made))


def _script(document: Document, kind: Kind, at: At | None, given: Given) -> Iterator[Step]:
    """A script; several in a list run in one shell, one after the other."""
    if at is not None and at.node.kind == "scalar" and at.node.tag != "null":
        yield Step("text", (_field(document, kind, at.node, given),))
    for node in scalars([at]) if at is not None and at.node.kind == "sequence" else ():
        yield Step("lasting", (_field(document, kind, node, given),))


def _field(document: Document, kind: Kind, node: Node, given: Given) -> Field:
    parts = parts_of(document, node)
    if "$" in node.raw:
        parts = fill(node.raw, parts, kind.filled, partial(_filled, kind, given))
    return Field(tuple(parts), node.start, node.end, quoted=True)


def _filled(kind: Kind, given: Given, match: re.Match[str], cut: Cut) -> Iterable[Part]:
    """What stands in place of `${{inputs.lr}}`; in place of `$$` a dollar."""
    said = match.groupdict()
    if match[0] == "$$":
        return cut(match.start(), match.start() + 1)
    if said["name"] in given:
        return given[said["name"]].parts
    if said.get("default") is not None:
        return cut(match.start("default"), match.end("default"))
    why = f"`{match[0]}` is filled in by {kind.name} when the run starts"
    return [one._replace(why=why) for one in cut(match.start(), match.end())]


def _inputs(document: Document, kind: Kind, root: Node, unit: At) -> Given:
    """The inputs that a command may name, as far as the file says them: of the whole job, and the unit's own."""
    found: dict[str, Field] = {}
    for prefix, owner in (("parent.inputs", top(root)), ("inputs", unit)) if kind.inputs else ():
        for one in entries(named(owner, kind.inputs)):
            value = named(one, "default") or named(one, "path") or one
            if one.label is not None and value.node.kind == "scalar" and value.node.tag != "null":
                found[f"{prefix}.{one.label.raw}"] = _field(document, kind, value.node, dict(found))
    return found


def _unknown(name: Node) -> Field:
    raw = f"${{{name.raw}}}"
    return Field((Part(raw, name.start, name.end, _LATER.format(name.raw[:60])),), name.start, name.end)


def _until(field: Field, sign: str) -> tuple[Part, ...]:
    name = field.text.partition(sign)[0]
    return (Part(name, field.start, field.start + len(name)),)
