"""Where a dotted key stands in a tree, which rows of a table a file can meet at all, and which key a slip meant."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.table import Entry
from loralint.source.document import Document, Node, Pair

_FIRST = "[0]"  # the only item of a list that a table speaks of
_NEGATIONS = frozenset({"no_", "not_", "disable_", "skip_", "without_"})
# By the identity of a table, which is a constant of its module: tables are long and files are many. First part of a
# key -> what follows it -> the rows that have both ("" where nothing follows).
_Rows = dict[str, list[int]]
_HEADS: dict[int, dict[str, _Rows]] = {}


def find(root: Node, dotted: str) -> Pair | None:
    """Find the pair at a dotted path, such as `a.b` or `a[0].b`; a key that itself holds dots is found whole."""
    pair = root.pair(dotted)
    if pair is not None or "." not in dotted:
        return pair
    head, _, rest = dotted.partition(".")
    first = head.endswith(_FIRST)
    outer = root.pair(head.removesuffix(_FIRST))
    inner = (outer.value.items[0] if first and outer.value.items else outer.value) if outer is not None else None
    return find(inner, rest) if inner is not None and inner.kind == "mapping" else None


def each(root: Node, dotted: str) -> Iterator[tuple[str, Pair]]:
    """The pairs at a dotted path with their places; `a[].b` is the `b` of every item of a list."""
    head, every, rest = dotted.partition("[].")
    pair = find(root, head)
    if pair is not None and not every:
        yield head, pair
    for index, item in enumerate(pair.value.items if pair is not None and every else ()):
        if item.kind == "mapping":
            yield from ((f"{head}[{index}].{inner}", found) for inner, found in each(item, rest))


def met(table: tuple[Entry, ...], root: Node) -> list[Entry]:
    """The rows whose key can stand in this file, by the keys at its root, in the table's order."""
    heads = _HEADS.get(id(table))
    if heads is None:
        heads = _HEADS[id(table)] = {}
        for index, entry in enumerate(table):
            head, _, rest = entry.key.partition(".")
            heads.setdefault(entry.key, {}).setdefault("", []).append(index)
            for inner in {rest, rest.partition(".")[0].removesuffix(_FIRST)} if rest else ():
                heads.setdefault(head, {}).setdefault(inner, []).append(index)
    indexes = {index for pair in root.pairs if pair.key in heads for index in _inside(pair, heads[pair.key])}
    return [table[index] for index in sorted(indexes)]


def _inside(pair: Pair, rows: _Rows) -> list[int]:
    """The rows that speak of a pair itself, or of what it holds."""
    keys = ("", *(inner.key for inner in pair.value.pairs)) if pair.value.kind == "mapping" else ("",)
    return [index for key in keys for index in rows.get(key, ())]


def closest(word: str, known: list[str] | tuple[str, ...]) -> str:
    """The known word that this one is most likely a slip of, or nothing; two letters may have changed places.

    The opposite is none: whoever took `no_shuffle: true` for `shuffle: true` would turn the run round.
    """
    import difflib

    alike = [one for one in known if not _opposite(word, one) and not _opposite(one, word)]
    close = difflib.get_close_matches(word, alike, 1, 0.84) or [one for one in alike if sorted(one) == sorted(word)]
    return close[0] if close else ""


def _opposite(word: str, of: str) -> bool:
    return word.endswith(of) and word.removesuffix(of) in _NEGATIONS


def loader(at: Document | Pair, usual: str) -> str:
    """The dialect of a value: on a command line stands a text, which is converted there, not one that is loaded, and in
    a program what Python takes it for.
    """
    if isinstance(at, Pair):
        return "flags" if at.key_node.raw.startswith("-") else usual
    return "flags" if at.format in ("flags", "settings") else "python" if at.format == "python" else usual
