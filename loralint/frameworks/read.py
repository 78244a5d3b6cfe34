"""Document + Reader -> Layer: the forward way through a reader's table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from loralint.canonical.fields import FIELDS
from loralint.frameworks.lookup import find, met
from loralint.frameworks.misreading import DENIALS
from loralint.frameworks.observe import observe
from loralint.frameworks.table import SKIP, Entry, Layer, Look, Reader
from loralint.model import Span, Unknown, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, number_text, plain

_NUMBERS = frozenset({"int", "float", "number"})
_REFERENCE = r"\$\{([A-Za-z_][\w.-]*)\}"
_CHAIN = 8  # references that refer to references; OmegaConf has no limit, people use one or two


def read_layer(document: Document, reader: Reader, look: Look) -> Layer:
    """All canonical values that the file sets, and all that is to be observed about it."""
    if reader.section:
        from loralint.frameworks.flat import under

        inner = read_layer(under(document, reader.section), reader._replace(section=""), look)
        inner = inner._replace(reader=reader)
        return inner if inner.document is document else _lowered(inner, f"/{reader.section}")
    named = reader
    reader = reader._replace(
        dialect=next((dialect for spec, dialect in reader.dialects if look.version_is(spec)), reader.dialect)
    )
    if reader.flat:
        from loralint.frameworks.flat import flattened

        document = flattened(document)
    if reader.listed:
        from loralint.frameworks.flat import keyed

        document = keyed(document)
    values: dict[str, list[Value]] = {}
    root = document.root
    rows = [(entry, pair) for entry in met(reader.table, root) if (pair := find(root, entry.key))] if root else []
    for entry, pair in rows:
        value = canonical(document, pair, entry, reader) if not entry.when or look.version_is(entry.when) else None
        if value is not None:
            values.setdefault(entry.field, []).append(value)
    layer = {field: tuple(several) for field, several in values.items()}
    if reader.combine is not None and document.root is not None:
        layer.update(reader.combine(document, layer))
    return Layer(named, document, layer, tuple(observe(document, reader, look, rows)))


def _lowered(layer: Layer, prefix: str) -> Layer:
    """The same layer with pointers from the root of the file to what was read as a root of its own."""

    def lower(value: Value) -> Value:
        pointer = prefix + value.pointer if value.pointer else ""
        return value._replace(pointer=pointer, items=tuple(map(lower, value.items)))

    values = {field: tuple(map(lower, several)) for field, several in layer.values.items()}
    observations = tuple(
        one._replace(value=lower(one.value), other=lower(one.other) if one.other else one.other)
        for one in layer.observations
    )
    return layer._replace(values=values, observations=observations)


def canonical(document: Document, pair: Pair, entry: Entry, reader: Reader) -> Value | None:
    """One pair through one row: None when the key tells nothing about the field.

    The value is what the framework's loader makes of the text, or of what the text refers to; the place stays that of
    the text. Interpolations and templates are unknown.
    """
    target = _target(document.root, pair.value) if reader.references and document.root else None
    value = loaded(target or pair.value, reader.dialect)
    items = tuple(_items(document, target or pair.value, entry.key, reader.dialect))
    if isinstance(value, Unknown):
        return _placed(document, pair, entry, value, items)
    if isinstance(value, str) and entry.split:
        items = tuple(split_text(_placed(document, pair, entry, value, ()), pair.value, document, entry.split))
        value = [item.value for item in items]
    value = entry.read(_wanted(value, entry, reader))
    if value is SKIP:
        return None
    if not isinstance(value, list):
        items = ()
    elif len(items) == len(value):  # `datasets` becomes a list of paths, item by item
        items = tuple(item._replace(value=one) for item, one in zip(items, value, strict=True))
    return _placed(document, pair, entry, value, items)


def _wanted(value: object, entry: Entry, reader: Reader) -> object:
    """The value as the type that the field wants, where the loader or the framework converts it."""
    kind = FIELDS[entry.field].type
    if isinstance(value, str):
        if kind in _NUMBERS:
            return _number(value)
        # where nothing is converted, a text is true whatever it says
        return _switch(value, converts=reader.converts(entry.key)) if kind == "bool" else value
    return bool(value) if kind == "bool" and isinstance(value, int) else value


def _placed(document: Document, pair: Pair, entry: Entry, value: object, items: tuple[Value, ...]) -> Value:
    """The value under its canonical name, at its place. Positional, which takes half the time in so hot a place."""
    node, key = pair.value, entry.key
    pointer = _pointer(key) if pair.key != key or "." not in key else _pointer(pair.key, whole=True)
    text = document.written(node)
    return Value(value, "set", key, pointer, text, document.span(node), None, items, "", (), (), entry.field)


@lru_cache(maxsize=4096)  # many files have the same keys
def _pointer(key: str, *, whole: bool = False) -> str:
    """The JSON pointer of a dotted key; `whole`, of one key that itself holds dots."""
    if "~" in key or "/" in key:
        key = key.replace("~", "~0").replace("/", "~1")
    return "/" + (key if whole else key.replace("[", "/").replace("]", "").replace(".", "/"))


def loaded(node: Node, dialect: str) -> object:
    """A node's plain value, with Unknown for a text or an item of a list that is filled in when the run starts."""
    if node.kind == "sequence":
        return [loaded(item, dialect) for item in node.items]
    if node.kind == "scalar" and is_template(node.raw):
        known = isinstance(node.native, Unknown) and node.native.reason
        return node.native if known else Unknown(f"`{node.raw}` is filled in only when the run starts")
    return plain(node, dialect)


def split_text(raw: Value, node: Node, document: Document, separator: str) -> Iterator[Value]:
    """The parts of a separated text, each with its own place when the text stands in the file as it is."""
    text = str(raw.value)
    offset = document.text.find(text, node.start, node.end)
    position = 0
    for part in text.split(separator):
        name = part.strip()
        if name:
            yield raw._replace(value=name, text=name, items=(), span=_part_span(raw.span, offset, position, part, node))
        position += len(part) + len(separator)


def _part_span(span: Span | None, offset: int, position: int, part: str, node: Node) -> Span | None:
    if span is None or offset < 0 or node.line != node.end_line:
        return span
    lead = len(part) - len(part.lstrip())
    start = offset + position + lead
    column = span.column + start - span.start
    end = start + len(part.strip())
    return span._replace(start=start, end=end, column=column, end_line=span.line, end_column=column + end - start)


def _items(document: Document, node: Node, key: str, dialect: str) -> Iterator[Value]:
    pointer = _pointer(key)
    for index, item in enumerate(node.items):
        yield Value(
            loaded(item, dialect),
            key=f"{key}[{index}]",
            pointer=f"{pointer}/{index}",
            text=document.written(item),
            span=document.span(item),
        )


def _switch(text: str, *, converts: bool) -> object:
    word = text.lower()
    return not converts if word in DENIALS else True if word == "true" else text


def _number(text: str) -> object:
    """What the reader takes a text for where a number is wanted; whether the loader agrees is an observation."""
    number = number_text(text)
    return text if number is None else number


def _target(root: Node, node: Node) -> Node | None:
    """The node that `${a.b}` stands for, through further references; None when it is no reference or leads nowhere."""
    for _ in range(_CHAIN):
        match = re.fullmatch(_REFERENCE, node.raw)
        pair = find(root, match[1]) if match else None
        if pair is None:
            return None
        node = pair.value
        if not is_template(node.raw):
            return node
    return None
