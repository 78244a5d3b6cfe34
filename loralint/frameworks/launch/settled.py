"""Flags by the names under which their program stores them: whole instead of cut short, `--no_x` as x: false."""

from __future__ import annotations

from loralint.frameworks.key_list import key_list, top_keys
from loralint.frameworks.launch.flags import listed
from loralint.frameworks.table import Reader
from loralint.source.command import Word
from loralint.source.document import Document, Node, Pair

# What parsers add to the keys that are listed.
ADDED = frozenset({"config", "local_rank"})
# Frameworks whose flags argparse takes, which also knows one by the start of its name.
_ARGPARSE = frozenset({"trl", "llamafactory", "ms-swift", "fms-hf-tuning"})


def settle(flags: Document, reader: Reader) -> None:
    """Rename the flags that the reader's list of keys knows under another form; without a list nothing changes."""
    root = flags.root
    if root is None:
        return
    if reader.guessed:  # home-made scripts with brackets on their command line let Fire read it
        root.refill([_in_brackets(pair, flags) for pair in root.pairs])
    if not reader.keys:
        return
    known = frozenset(key for key in top_keys(reader.keys) if not key.startswith("-"))
    abbreviates = reader.name in _ARGPARSE or bool(key_list(reader.keys).get("dashes"))
    root.refill([_settled(pair, known, abbreviates=abbreviates) for pair in root.pairs])


def _in_brackets(pair: Pair, flags: Document) -> Pair:
    node = pair.value
    return pair._replace(value=listed(Word(node.raw, node), flags)) if node.kind == "scalar" else pair


def _settled(pair: Pair, known: frozenset[str], *, abbreviates: bool) -> Pair:
    if pair.key in known or pair.key in ADDED or "." in pair.key:
        return pair
    if pair.key.startswith("no_") and pair.key[3:] in known and pair.value.tag == "bool":
        node = pair.value
        off = Node("scalar", "bool", node.start_mark, node.end_mark, "false", plain=True, native=False)
        return pair._replace(key=pair.key[3:], value=off)
    cut = abbreviates and len(pair.key) > 1 and pair.key_node.raw.startswith("--")
    longer = [key for key in known if key.startswith(pair.key)] if cut else []
    return pair._replace(key=longer[0]) if len(longer) == 1 else pair
