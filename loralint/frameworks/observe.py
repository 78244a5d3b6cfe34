"""What every reader observes about the keys of a file: unknown, renamed, removed, ignored, duplicate, misread.

The lists are data (knowledge parts `keys-<framework>`); their form:

    version   release that the list was taken from
    unknown   "crash" or "lost": what the framework does with a key it does not know
    keys      {"": [top-level keys], "fsdp_config": [...], "datasets[]": [...]}; a mapping that is not listed is open
    moved     {dotted key: {effect, message, to, rewrite, when, package, kind, if, beside}}, or a list whose first
              to hold counts; `if: truthy` or `set`: not for values that say nothing; `beside`: files with such a key
    plugins   {class path of a plugin: [keys that exist once `plugins` of the file lists it]}
    types     {what pydantic takes, see frameworks.kinds: [keys at the top, or section.key]}
    form      a key without which nothing trains: left empty, the file is a form, and what else is empty no fault
    moves     {key: [{type, to or write}]}: under which key a value of a wrong type belongs, or what to write instead
    lenient   releases in which an unknown key was dropped although `unknown` says crash
    inside    {mapping: "crash" or "lost"}: where an unknown key inside a mapping fares otherwise than at the top
    lax       {mapping: releases in which an unknown key inside it was dropped although `inside` says crash}
    loose     mappings ("" for the top) with keys of the user's own, of which only a likely slip is told
    extends   another list that this one adds to: what it knows at the top is not moved here
    dashes    true: keys at the root are argparse's flags, which may be written `--key` and cut short
    scripts   {name of a script: {flags, lacks, defaults, required}}: one list for scripts of a family, see key_list
    switches  flags that take no value
    required  flags without which the script does not start; those of one script in its row
    akin      other lists whose keys are no strangers here; with it, two keys that resemble none make the file another
              program's, see frameworks.strangers
    elsewhere keys that show that the file is for another of the framework's parsers, with keys of its own
    choices   {dotted key: {values, effect, message, when, package, instead, also, slips, folded}}: words that the key
              takes (`*` stands for anything; a list's `[]` for each item), what another one does, what to write if it
              resembles none or is a known `also`, whether only a resembling one is told, and whether case matters not
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from loralint.canonical.fields import FIELDS
from loralint.frameworks.key_list import (
    Plugins,
    abbreviated,
    bare,
    for_another,
    is_known,
    key_list,
    parent_of,
    ruling,
    settled,
    top_keys,
    walk,
)
from loralint.frameworks.kinds import unfit
from loralint.frameworks.leaks import leaks
from loralint.frameworks.lookup import closest, each
from loralint.frameworks.misreading import MISREADABLE, misreading
from loralint.frameworks.table import ANY, Entry, Look, Observation, Reader
from loralint.model import Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, value

# Comparing a key with hundreds takes milliseconds, so a file that is all unknown keys is not worth more of them.
_GUESSES = 100
_WORDS = ("flags", "settings")  # forms of a command's words
_ENDS = r"(?m)^[ \t]*[)}]"  # of a list or a function of a shell


def observe(document: Document, reader: Reader, look: Look, rows: list[tuple[Entry, Pair]]) -> Iterator[Observation]:
    """Every observation of a file, in no particular order. rows: those of the reader's table that the file has."""
    if document.root is None:
        return
    told = duplicates(document, document.root, reader)
    if reader.guessed and document.format in _WORDS:  # a program that nobody knows may collect what is given again
        known = {pair.key for _, pair in rows}
        told = (one for one in told if one.value.key in known)
    yield from told
    yield from leaks(document)
    if reader.keys and not for_another(document.root, key_list(reader.keys)):
        yield from listed(document, reader, look)
        yield from chosen(document, reader, look)
        yield from unfit(document, reader)
    yield from misread(document, reader, rows)
    for own in reader.observe:
        yield from own(document, look)


def place(document: Document, pair: Pair, dotted: str) -> Value:
    """Where a key stands, for an observation."""
    return Value(
        pair.value.raw if pair.value.kind == "scalar" else None,
        key=dotted,
        pointer="/" + dotted.replace("[", "/").replace("]", "").replace(".", "/"),
        text=document.written(pair.value),
        span=document.span(pair.value),
        key_span=document.span(pair.key_node),
    )


def _replaces(document: Document, earlier: Pair, later: Pair) -> bool:
    """Whether a word of a command is meant to come over one that a list or function ended before has for many."""
    between = document.text[earlier.value.end : later.key_node.start] if document.format in _WORDS else ""
    return re.search(_ENDS, between) is not None


def duplicates(document: Document, node: Node, reader: Reader, prefix: str = "") -> Iterator[Observation]:
    """A key written twice: the last one counts, or the loader refuses the file."""
    if node.kind == "mapping":
        for earlier, later in node.duplicates():
            if _replaces(document, earlier, later):
                continue
            texts = {document.written(pair.value) for pair in (earlier, later)}
            same = len(texts) == 1
            crash = reader.dialect == "omegaconf"
            yield Observation(
                "duplicate",
                place(document, earlier, prefix + earlier.key),
                "crash" if crash else "harmless" if same else "lost",
                f"{reader.title} refuses a file in which a key stands twice" if crash
                else "has the same value both times" if same
                else "only the last of the two values counts",
                rewrite="remove",
                package=reader.packages[0] if reader.dialects else "",
                other=place(document, later, prefix + later.key),
            )  # fmt: skip
        for pair in node.pairs:
            if pair.value.kind != "scalar":
                yield from duplicates(document, pair.value, reader, f"{prefix}{pair.key}.")
    elif node.kind == "sequence":
        for index, item in enumerate(node.items):
            yield from duplicates(document, item, reader, f"{prefix[:-1]}[{index}].")


def listed(document: Document, reader: Reader, look: Look) -> Iterator[Observation]:
    """Keys that the framework's list does not know, or knows as renamed, removed or ignored."""
    lists: Any = key_list(reader.keys)
    assert document.root is not None
    plugins = Plugins(document.root, lists.get("plugins", {}))
    known = top_keys(reader.keys) | plugins.keys
    guesses = _GUESSES
    walked = walk(document.root, lists["keys"], settled(reader.keys))
    for dotted, pair in (one for one in walked if one[0] not in reader.own):
        moved = lists.get("moved", {}).get(bare(dotted))
        if moved is not None:
            rows = moved if isinstance(moved, list) else [moved]
            here = (one for one in rows if "beside" not in one or any(document.root.pair(key) for key in one["beside"]))
            holding = next((one for one in here if _holds(one, pair.value, reader, look)), None)
            if holding is not None:
                yield _moved(document, pair, dotted, _lenient(holding, lists, reader, look), reader)
        elif not (
            is_known(dotted, pair.key, known, lists["keys"])
            or abbreviated(lists, dotted)
            or (reader.references and f"${{{dotted}}}" in document.text)  # other keys take its value
            or "@" in dotted  # Hydra chooses a file for a part by `group@part=name`
            or (document.format == "flags" and _beside(dotted, known, lists["keys"]))
        ):
            unknown = _unknown(
                document, pair, dotted, ruling(lists, look.version_is), reader, plugins, guess=guesses > 0
            )
            guesses -= 1
            open_ = plugins.foreign or ANY in reader.own or parent_of(dotted, pair.key) in lists.get("loose", ())
            if unknown.replacement or not open_:
                yield unknown


def _lenient(moved: Mapping[str, str], lists: Mapping[str, Any], reader: Reader, look: Look) -> Mapping[str, str]:
    """The row, of a release that dropped what it did not know where later ones stop, by that: old keys fared alike."""
    if "lenient" not in lists or moved["effect"] != "crash" or "when" in moved:
        return moved
    if look.version_is(lists["lenient"]):
        return {**moved, "effect": "lost", "message": f"{reader.title} of this release drops it without a word"}
    return {"package": reader.packages[0], **moved}


def _holds(moved: Mapping[str, str], node: Node, reader: Reader, look: Look) -> bool:
    if moved.get("when") and not look.version_is(moved["when"]):
        return False
    if "if" not in moved:
        return True
    if node.kind == "scalar" and is_template(node.raw):  # nobody knows whether it will say something
        return False
    made = value(node, reader.dialect)
    return bool(made) if moved["if"] == "truthy" else made is not None


def _beside(dotted: str, known: frozenset[str], keys: Mapping[str, list[str]]) -> bool:
    """`--data JSON --data.json_path a.json`: what a class takes stands beside its name, and is not listed."""
    head, dot, _ = dotted.partition(".")
    return bool(dot) and head in known and head not in keys


def _moved(document: Document, pair: Pair, dotted: str, moved: Mapping[str, str], reader: Reader) -> Observation:
    """What became of a key; where it became one word of another, `false` asks for nothing and can go."""
    to = moved.get("to", "")
    off = pair.value.kind == "scalar" and value(pair.value, reader.dialect) in (None, False, "false")
    if off and ": " in to and "..." not in to:
        moved = {**moved, "kind": "removed", "to": "", "rewrite": "remove"}
    return Observation(
        moved["kind"],
        place(document, pair, dotted),
        moved["effect"],
        moved.get("message") or f"{reader.title} no longer reads it",
        moved.get("to", ""),
        moved.get("rewrite", ""),
        moved.get("package", ""),
    )


def _unknown(
    document: Document, pair: Pair, dotted: str, lists: Mapping[str, Any], reader: Reader, plugins: Plugins,
    *, guess: bool,
) -> Observation:  # fmt: skip
    parent = parent_of(dotted, pair.key)
    plugin = "" if parent else plugins.of(pair.key)
    known = [*lists["keys"].get(parent, ()), *(() if parent else plugins.keys)]
    meant = closest(pair.key, known) if guess and not plugin else ""
    effect = lists.get("inside", {}).get(parent, lists["unknown"])
    message = f"{reader.title} {'refuses a key it does not know' if effect == 'crash' else 'drops it without a word'}"
    effect = "harmless" if effect == "lost" and pair.value.tag == "null" else effect
    if plugin:
        message += f", since `plugins` does not list {plugin}"
    rewrite = "key" if meant else ""
    return Observation("unknown", place(document, pair, dotted), effect, message, meant, rewrite, reader.packages[0])


def chosen(document: Document, reader: Reader, look: Look) -> Iterator[Observation]:
    """Words that a key does not take; a null, an empty text, an unquoted `no` and what is filled in later are none."""
    assert document.root is not None
    for key, choice in key_list(reader.keys).get("choices", {}).items():
        if choice.get("when") and not look.version_is(choice["when"]):
            continue
        for dotted, pair in each(document.root, key):
            own = (key, pair.value.raw) in reader.words
            if pair.value.kind == "scalar" and not own and not _taken(pair.value, choice, reader):
                yield from _misworded(document, pair, dotted, choice, reader)


def _taken(node: Node, choice: Mapping[str, Any], reader: Reader) -> bool:
    word, values = value(node, reader.dialect), choice["values"]
    if choice.get("folded") and isinstance(word, str):
        word = word.lower()
    known = (None, "", *values, *([False] if "no" in values else []))
    return word in known or is_template(node.raw) or _patterned(word, values)


def _misworded(
    document: Document, pair: Pair, dotted: str, choice: Mapping[str, Any], reader: Reader
) -> Iterator[Observation]:
    likely = [one for one in choice["values"] if isinstance(one, str) and "*" not in one]
    also = choice.get("also", {}).get(value(pair.value, reader.dialect))
    near = _cased(closest(pair.value.raw.lower(), [one.lower() for one in likely]), likely)
    guess = also or near or choice.get("instead", "")
    if guess or not choice.get("slips"):
        where, package = place(document, pair, dotted), choice.get("package", reader.packages[0])
        rewrite = "value" if guess else ""
        yield Observation("rejected", where, choice["effect"], choice["message"], guess, rewrite, package)


def _cased(word: str, known: list[str]) -> str:
    """A word as the framework writes it."""
    return next((one for one in known if one.lower() == word), "")


def _patterned(word: object, values: list[str]) -> bool:
    patterns = [one for one in values if isinstance(one, str) and "*" in one]
    if not patterns or not isinstance(word, str):
        return False
    import fnmatch

    return any(fnmatch.fnmatchcase(word, pattern) for pattern in patterns)


def misread(document: Document, reader: Reader, rows: list[tuple[Entry, Pair]]) -> Iterator[Observation]:
    """Scalars that the loader takes for something else than they look like."""
    told = set()
    for entry, head in rows:
        wanted = FIELDS[entry.field].type
        if wanted not in MISREADABLE or entry.key in told or head.value.kind != "scalar":
            continue
        fault = misreading(head.value, wanted, reader.dialect, reader.converts(entry.key))
        if fault:
            told.add(entry.key)  # a key with rows for two fields is misread once
            yield Observation("coerced", place(document, head, entry.key), *fault)
