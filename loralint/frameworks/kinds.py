"""Values that a pydantic schema refuses, told by the type it states for each key.

A type is written as alternatives: int, float, bool, str, map, list, list[str], list[int], null, and words in single
quotes, such as `bool|'auto'|null`. What counts as one is pydantic's lax mode, which takes `8.0` and "8" for an int,
`on` for a bool, but no number for a str and no single text for a list. Besides, `moves` of a key list says under
which other key a refused value belongs, or what to write; its types also know `share`, a number between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from loralint.frameworks.key_list import key_list, types_of
from loralint.frameworks.table import Observation, Reader
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, plain

_SWITCHES = frozenset({"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"})
_LONGEST = 400  # characters of a text that may be a number
_WHOLE: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "map": (dict,),
    "list": (list,),
}
_NAMES = {
    "int": "a whole number",
    "count": "a whole number without a point",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "map": "a mapping",
    "list": "a list",
    "list[str]": "a list of texts",
    "list[int]": "a list of whole numbers",
}


def unfit(document: Document, reader: Reader) -> Iterator[Observation]:
    """Observe values of a type that the schema does not take; what is filled in later is passed over."""
    root = document.root
    assert root is not None
    lists: Any = key_list(reader.keys)
    specs = types_of(reader.keys)
    form = root.get(lists.get("form", ""))
    for key, pair in _typed(root, specs):
        made = plain(pair.value, reader.dialect)
        if type(made) in _plainly(specs[key]) or _open(pair.value) or _held(made):
            continue
        if made is None and form is not None and form.tag == "null":
            continue
        if not any(fits(made, kind) for kind in specs[key].split("|")):
            meant = (move for move in lists.get("moves", {}).get(key, ()) if fits(made, move["type"]))
            yield _refused(document, key, pair, specs[key], next(meant, {}), reader)


@cache
def _plainly(spec: str) -> frozenset[type]:
    """Python types of which every value fits the spec, so that most values need no closer look."""
    return frozenset(kind for word in spec.split("|") for kind in _WHOLE.get(word, ()))


def _typed(root: Node, specs: Mapping[str, str]) -> Iterator[tuple[str, Pair]]:
    """Keys at the root and in its sections for which a type is stated; of a key written twice the one that counts."""
    for pair in root.pairs if specs else ():
        if pair.key in specs and pair is root.pair(pair.key):
            yield pair.key, pair
        if pair.value.kind == "mapping":
            for inner in pair.value.pairs:
                if f"{pair.key}.{inner.key}" in specs and inner is pair.value.pair(inner.key):
                    yield f"{pair.key}.{inner.key}", inner


def fits(made: object, kind: str) -> bool:
    """Tell whether pydantic takes a loaded value for this kind."""
    if kind.startswith("list"):
        return isinstance(made, list) and all(not kind[5:-1] or fits(item, kind[5:-1]) for item in made)
    test = _TESTS.get(kind)
    return test(made) if test is not None else made == kind.strip("'")


def _switch(made: object) -> bool:
    return made.lower() in _SWITCHES if isinstance(made, str) else isinstance(made, bool) or made in (0, 1)


def _number(made: object) -> float | None:
    if isinstance(made, str) and len(made) > _LONGEST:
        return None
    try:
        return float(made) if isinstance(made, (int, float, str)) else None
    except (ValueError, OverflowError):
        return None


def _whole(made: object) -> bool:
    number = _number(made)
    return number is not None and number.is_integer() and not (isinstance(made, str) and "e" in made.lower())


_TESTS: dict[str, Callable[[object], bool]] = {
    "null": lambda made: made is None,
    "int": _whole,
    "count": lambda made: type(made) in (int, str) and _whole(made),
    "float": lambda made: _number(made) is not None,
    "share": lambda made: 0 < (_number(made) or 0) < 1,
    "bool": _switch,
    "str": lambda made: isinstance(made, str),
    "map": lambda made: isinstance(made, dict),
}


def _open(node: Node) -> bool:
    """Whether a text is filled in only when the run starts, here or in an item."""
    return is_template(node.raw) or any(is_template(item.raw) for item in node.items)


def _held(made: object) -> bool:
    return isinstance(made, Unknown) or (isinstance(made, list) and any(isinstance(item, Unknown) for item in made))


def _refused(
    document: Document, key: str, pair: Pair, spec: str, move: Mapping[str, str], reader: Reader
) -> Observation:
    node = pair.value
    value = Value(
        node.raw if node.kind == "scalar" else None,
        key=key,
        pointer="/" + key.replace(".", "/"),
        text=document.written(node),
        span=document.span(node),
        key_span=document.span(pair.key_node),
    )
    names = [_NAMES.get(kind, kind.strip("'")) for kind in spec.split("|") if kind != "null"]
    wanted = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    message = f"{reader.title} stops before it loads anything, since `{key}` has to be {wanted}"
    replacement = move.get("to") or move.get("write", "")
    rewrite = "key" if "to" in move else "value" if replacement else ""
    data = {} if replacement else {"advice": f"write {wanted} for `{key}`"}
    return Observation("rejected", value, "crash", message, replacement, rewrite, data=data)
