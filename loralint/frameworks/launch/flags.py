"""Words behind a program to a document of its flags, with the place of each."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from loralint.model import Unknown
from loralint.source.command import Word
from loralint.source.document import Document, Mark, Node, Pair
from loralint.source.shell.words import tail

FLAG = re.compile(r"--?[A-Za-z_][\w.\-]*(?==|$)|--[A-Za-z_][\w.\-]*")
_NAME = re.compile(r"--?([A-Za-z_][\w.\-]*:?)(=?)")  # with the colon of a YAML key it is one that no parser knows
_SETTING = re.compile(r"([+~]{0,2}[A-Za-z_][\w./@\-]*)=")
# Flags that set one key of a config each, as `--config-value optimizer.beta1=0.95` of OneTrainer does.
_SETTERS = frozenset({"--config-value"})
_LEFT_OUT = frozenset({"...", "[...]", "\u2026"})
_PLACEHOLDER = re.compile(r"<[^<>]{1,80}>|\.\.\.|\[\.\.\.\]|\u2026|YOUR_\w+|\{\{?[\w -]+\}?\}")
_MOST = 1000


class Taken(NamedTuple):
    """flags: a document whose root holds them, of format "settings" where all are `key=value`. rest: the words that are
    no flag's, in order.
    """

    flags: Document
    rest: tuple[Word, ...]


class Style(NamedTuple):
    """How a program takes its words. settings: `key=value` sets a key; switches: flags that take no word."""

    settings: bool = False
    switches: frozenset[str] = frozenset()


def take(words: Iterable[Word], document: Document, at: tuple[int, int], style: Style) -> Taken:
    """Sort words into flags and others. at: the command's place, which is that of the root."""
    several = list(words)
    pairs: list[Pair] = []
    rest: list[Word] = []
    index = 0
    while index < len(several) and len(pairs) < _MOST:
        word = several[index]
        index += 1
        flag = _flag(word)
        if word.raw == "--":
            rest += several[index:]
            break
        if flag is not None:
            values, used = _values(several, index, flag, style, document)
            index += used
            if flag.name in _SETTERS:
                pairs += [made for value in values if (made := _setting(value, document)) is not None]
                continue
            # beside settings a flag is the script's own and no key of its config; so marked, it is not looked for there
            pairs.append(_pair(flag, values, document)._replace(merged=style.settings and "." not in flag.name))
        elif (style.settings or not pairs) and (setting := _setting(word, document)) is not None:
            pairs.append(setting)
        elif word.raw in _LEFT_OUT:
            rest.append(word._replace(text=Unknown(f"`{word.raw}` stands for flags that are left out")))
        else:
            rest.append(word)
    root = Node("mapping", "map", Mark(at[0], document.lines), Mark(at[1], document.lines))
    plain = style.settings and bool(pairs) and not any(pair.key_node.raw.startswith("-") for pair in pairs)
    plain = plain or any(word.raw.partition("=")[0] in _SETTERS for word in several)
    root.pairs = _nested(_without_choices(pairs) if plain else pairs)
    return Taken(_document(document, root, "settings" if plain else "flags"), tuple(rest))


def _without_choices(pairs: list[Pair]) -> list[Pair]:
    """`engine=fsdp` before `engine.size=2` chooses the file of a group in Hydra, whose keys the other sets."""
    groups = {pair.key.partition(".")[0] for pair in pairs if "." in pair.key}
    return [pair for pair in pairs if pair.key not in groups]


def _nested(pairs: list[Pair]) -> list[Pair]:
    """`a.b=c` as b in the mapping a, as Hydra and OmegaConf have it; where a itself is given, the name stays whole."""
    whole = {pair.key for pair in pairs if "." not in pair.key}
    made: list[Pair] = []
    sections: dict[str, list[Pair]] = {}
    for pair in pairs:
        head, _, rest = pair.key.partition(".")
        if not rest or not head or head in whole:
            made.append(pair)
        elif head in sections:
            sections[head].append(pair._replace(key=rest))
        else:
            sections[head] = [pair._replace(key=rest)]
            made.append(pair._replace(key=head))
    return [_section(pair, sections[pair.key]) if pair.key in sections else pair for pair in made]


def _section(first: Pair, inside: list[Pair]) -> Pair:
    node = Node("mapping", "map", first.key_node.start_mark, inside[-1].value.end_mark)
    node.pairs = _nested(inside)
    return Pair(first.key, first.key_node, node)


def _document(document: Document, root: Node, form: str) -> Document:
    made = Document(document.file, form, document.text)
    made.lines, made.sealed = document.lines, document.sealed
    made.roots = [root]
    return made


class _Flag(NamedTuple):
    """name: with its dashes; value: what follows `=` in the same word, None without."""

    word: Word
    name: str
    joined: bool


def is_flag(word: Word) -> bool:
    """Whether a word is an option and no value such as -1."""
    return FLAG.match(word.raw) is not None


def _flag(word: Word) -> _Flag | None:
    match = _NAME.match(word.raw)
    if match is None or (not match[2] and match.end() != len(word.raw)):
        return None
    return _Flag(word, word.raw[: match.end(1)], bool(match[2]))


def _values(words: list[Word], index: int, flag: _Flag, style: Style, document: Document) -> tuple[list[Word], int]:
    """The words that belong to a flag, and how many of the following they are."""
    if flag.joined:
        return [tail(flag.word, len(flag.name) + 1, document.lines)], 0
    if flag.name in style.switches:
        return [], 0
    found: list[Word] = []
    for word in words[index:]:
        dotted = _SETTING.match(word.raw) if style.settings else None
        if word.raw == "--":
            break
        if _flag(word) is not None or (dotted is not None and (found or "." in dotted[1])) or (found and is_open(word)):
            break
        found.append(word)
    return found, len(found)


def is_open(word: Word) -> bool:
    """Whether the word is nothing but what is filled in later and may be several words: they may be further flags."""
    if isinstance(word.text, str):
        return word.raw in _LEFT_OUT
    return re.fullmatch(r"\$\{[^}]*@\]?\}" if word.quoted else r"\$\{[^}]*\}", word.raw) is not None


def _pair(flag: _Flag, values: list[Word], document: Document) -> Pair:
    key = flag.name.lstrip("-")
    key = key if "." in key else key.replace("-", "_")
    key_node = _key_node(flag.word, flag.name, document)
    if not values:
        switch = Node("scalar", "bool", key_node.start_mark, key_node.end_mark, "true", plain=True, native=True)
        return Pair(key, key_node, switch)
    if len(values) == 1:
        return Pair(key, key_node, _known(values[0].node))
    several = Node("sequence", "seq", values[0].node.start_mark, values[-1].node.end_mark)
    several.items = [_known(value.node) for value in values]
    return Pair(key, key_node, several)


def _known(node: Node) -> Node:
    """The node, unknown where its text only shows where something goes: `<path to model>`, `...`."""
    if isinstance(node.native, Unknown) or _PLACEHOLDER.fullmatch(node.raw) is None:
        return node
    why = Unknown(f"`{node.raw}` stands for something that is still to be written")
    return Node("scalar", "str", node.start_mark, node.end_mark, node.raw, native=why)


def _key_node(word: Word, name: str, document: Document) -> Node:
    """The flag's name where the command has it; of one from a variable, where that is given."""
    part = word.parts[0] if word.parts else None
    start = part.start if part is not None else word.start
    exact = part is not None and len(part.text) >= len(name) and part.end - part.start == len(part.text)
    end = start + len(name) if exact else (part.end if part is not None else word.end)
    return Node("scalar", "str", Mark(start, document.lines), Mark(end, document.lines), name, plain=True, native=name)


def _setting(word: Word, document: Document) -> Pair | None:
    """`a.b=c`, `+a=b`, `~a`."""
    match = _SETTING.match(word.raw)
    if match is None:
        return None
    key_node = _key_node(word, match[1], document)
    value = tail(word, match.end(), document.lines)
    return Pair(match[1].lstrip("+~"), key_node, listed(value, document))


def listed(word: Word, document: Document) -> Node:
    """`[a,b]` as the list that Hydra, OmegaConf and Fire make of it; anything else as it is."""
    raw = word.raw
    if not (isinstance(word.text, str) and raw.startswith("[") and raw.endswith("]") and "[" not in raw[1:]):
        return word.node
    start, end = word.node.start, word.node.end
    exact = end - start == len(raw)
    made = Node("sequence", "seq", word.node.start_mark, word.node.end_mark)
    made.items = []
    for match in re.finditer(r"[^,\[\]]+", raw):
        text = match[0].strip()
        lead = match.start() + len(match[0]) - len(match[0].lstrip())
        first, last = (start + lead, start + lead + len(text)) if exact else (start, end)
        inner = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
        marks = Mark(first, document.lines), Mark(last, document.lines)
        made.items.append(Node("scalar", "str", *marks, inner, plain=inner == text, native=inner))
    return made
