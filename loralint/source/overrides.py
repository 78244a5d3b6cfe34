"""What Hydra's command line says of a config: `model=llama`, `lora.r=8`, `+x=1`, `++x=1`, `~x`, in Hydra's order.

Source: hydra 1.3.8 `_internal/config_loader_impl.py`, `_internal/defaults_list.py` and `grammar/OverrideLexer.g4`. What
Hydra would refuse, and what its grammar has besides (dictionaries, keys with indices), leaves the whole unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from loralint.model import Unknown
from loralint.source.document import Node, Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from loralint.source.document import Document, MarkLike

_KEY = re.compile(r"[A-Za-z_][\w\-]*(?:\.[A-Za-z_][\w\-]*)*")


class Override(NamedTuple):
    """One word. sign: "", "+", "++" or "~". value: at its place in the file of the command; None for `~x` alone."""

    sign: str
    key: str
    key_node: Node
    value: Node | None = None


class Line(NamedTuple):
    """Hydra's command line. name, folder: of the config, "" for what the program says. files: gives the file that is
    meant by a path as seen from another file; added: by a path below the folder that `--config-dir` adds, None without
    one. seen: whether every word of it is understood.
    """

    files: Callable[[str, str], Document | None]
    name: str = ""
    folder: str = ""
    words: tuple[Override, ...] = ()
    seen: bool = True
    added: Callable[[str], Document | None] | None = None


class Choices(NamedTuple):
    """What overrides say of groups. made: key of a group -> its options; added: (group, options, package) of those that
    come behind all else; values: the overrides that set, add or delete a key.
    """

    made: Mapping[str, tuple[str, ...]] = {}
    added: tuple[tuple[str, tuple[str, ...], str | None], ...] = ()
    values: tuple[Override, ...] = ()


def sorted_out(words: Iterable[Override], document: Document, look: Callable[[str], Document | None]) -> Choices | None:
    """Which overrides choose files of groups, and which set values; None where one of them cannot be told.

    document: the config; look: gives the file of a path below the folder of configs.
    """
    made, added, values = dict[str, tuple[str, ...]](), [], []
    groups = _groups(document)
    several = [one for one in words if one.key.partition("/")[0] != "hydra" and not one.key.startswith("hydra.")]
    for one in several:
        group, at, package = one.key.partition("@")
        options = _files(one.value, group, look)
        if one.sign == "~" and one.value is None and one.key in groups:
            made[one.key] = ()
        elif options and one.sign == "+":
            added.append((group, options, package if at else None))
        elif options and not one.sign:
            made[one.key] = options
        elif options or one.key in groups or not _KEY.fullmatch(one.key) or (one.sign == "~" and one.value is not None):
            return None
        else:
            values.append(one)
    chosen = [one.key for one in several if one not in values]
    if len(set(chosen)) < len(chosen) or any(one.key == "hydra.searchpath" for one in words):
        return None
    return Choices(made, tuple(added), tuple(values))


def _groups(document: Document) -> frozenset[str]:
    """The groups that a config's own `defaults` choose from."""
    defaults = document.root.get("defaults") if document.root is not None else None
    items = defaults.items if defaults is not None else []
    return frozenset(pair.key for item in items for pair in item.pairs)


def _files(value: Node | None, group: str, look: Callable[[str], Document | None]) -> tuple[str, ...]:
    """The files of a group that a value names; none where it names others, or none."""
    several = [value] if value is not None and value.kind == "scalar" else value.items if value is not None else []
    if any(one.kind != "scalar" or isinstance(one.native, Unknown) for one in several):
        return ()
    found = all(look(f"{group}/{one.raw.removesuffix('.yaml')}.yaml") is not None for one in several)
    return tuple(one.raw for one in several) if found else ()


def applied(root: Node, values: Iterable[Override]) -> Node | None:
    """The tree with what overrides say of its keys; None where Hydra would stop at one."""
    for one in values:
        made = _set(root, one.key.split("."), one)
        if made is None:
            return None
        root = made
    return root


def _set(node: Node, path: list[str], word: Override) -> Node | None:
    """The mapping with one key changed, all others as they are."""
    head, *rest = path
    if node.kind != "mapping":
        return None
    known = node.pair(head)
    if known is None and word.sign not in ("+", "++"):
        return None
    value = _below(known, rest, word) if rest else _value(known, word)
    if value is None and (rest or word.sign != "~"):
        return None
    made = Node("mapping", "map", node.start_mark, node.end_mark)
    made.pairs = []
    for pair in node.pairs:
        made.pairs += [pair] if pair is not known else [pair._replace(value=value)] if value is not None else []
    if known is None and value is not None:
        made.pairs.append(Pair(head, Node("scalar", "str", *_place(word), head), value))
    return made


def _below(known: Pair | None, rest: list[str], word: Override) -> Node | None:
    return _set(known.value if known is not None else Node("mapping", "map", *_place(word)), rest, word)


def _place(word: Override) -> tuple[MarkLike, MarkLike]:
    return word.key_node.start_mark, word.key_node.end_mark


def _value(known: Pair | None, word: Override) -> Node | None:
    """What a key gets; None where it is taken out, or where Hydra or OmegaConf stops."""
    if word.sign == "~":
        return None
    taken = known is not None and (word.sign == "+" or known.value.kind == "mapping")
    return None if taken else word.value
