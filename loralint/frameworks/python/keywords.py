"""Keywords that a class or function of the training libraries does not take: Python stops with a TypeError.

The lists are data (knowledge part `keys-python`): {classes: {name: {package, base, unknown, keys, moved}}}; `base`
names a class whose keywords count as well, `unknown: lost` says that others are dropped, and `moved` is {keyword:
{when, package, to}} of those that a release took away, `added` of those that older releases do not have yet.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from loralint.frameworks.lookup import closest
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.knowledge.data import part
from loralint.source.document import Document, Pair
from loralint.source.script import Script

_TITLES = {"transformers": "Transformers", "trl": "TRL", "peft": "PEFT"}
_OURS = frozenset({"class"})
_ASKS = re.compile(r"\bexcept\s{1,9}\(?[\w, ]{0,100}\b(?:TypeError|Exception)\b|\bsignature\(|\b__version__\b")
# Comparing a keyword with hundreds takes a millisecond: no call is worth more of them.
_GUESSES = 100


def observe_keywords(script: Script, *, patched: bool) -> Callable[[Document, Look], list[Observation]]:
    """An observer of keywords that these releases do not know. patched: it is beside Unsloth, whose trainers take older
    ones, and those of their arguments.
    """
    return lambda document, look: list(_observed(script, document, look, patched=patched))


def _observed(script: Script, document: Document, look: Look, *, patched: bool) -> Iterator[Observation]:
    classes: Any = part("keys-python")["classes"]
    for outer in document.root.pairs if document.root is not None else ():
        entry = classes.get(outer.key)
        if entry is None or outer.value.get("class") is not None:
            continue
        known = keywords(outer.key)
        gone = moved(outer.key)
        lenient = _lenient(outer.key) if patched and entry["package"] == "trl" else frozenset()
        new = added(outer.key)
        guesses = itertools.count()
        for pair in (one for one in outer.value.pairs if one.key_node.tag != "placed"):
            if pair.key in new and look.version_is(new[pair.key]["when"]):
                yield _gone(document, outer, pair, new[pair.key])
            if pair.key in known or pair.key in _OURS or pair.key in lenient:
                continue
            if pair.key not in gone:
                meant = _meant(outer.key, pair.key, look) if next(guesses) < _GUESSES else ""
                found = _unknown(document, outer.key, pair, entry, meant)
                # a class of the program's own, of a checkout of the library, or one that Unsloth puts in TRL's place,
                # may have keywords of its own
                own = "own" in (outer.value.tag, pair.key_node.tag) or not look.version_is(f"{entry['package']}>=0")
                if not own and (found.replacement or not lenient):
                    yield found
            elif look.version_is(gone[pair.key]["when"]):
                text = script.text_at(document.span(pair.key_node))
                if not _adapts(text, gone[pair.key].get("to", "")):
                    yield _gone(document, outer, pair, gone[pair.key])


def _adapts(text: str, new: str) -> bool:
    """Whether a program asks or tries which release it has, and gives the keyword that came in place of the old one."""
    return new.isidentifier() and f"{new}=" in text and _ASKS.search(text) is not None


@cache
def keywords(name: str) -> frozenset[str]:
    """What a class takes now, with what its base takes."""
    entry = part("keys-python")["classes"][name]
    return frozenset(entry["keys"]) | (keywords(entry["base"]) if "base" in entry else frozenset())


@cache
def moved(name: str) -> Mapping[str, Mapping[str, str]]:
    """What a class took once, with what its base took."""
    entry = part("keys-python")["classes"][name]
    return {**(moved(entry["base"]) if "base" in entry else {}), **entry.get("moved", {})}


@cache
def added(name: str) -> Mapping[str, Mapping[str, str]]:
    """What older releases of a class do not take, with what those of its base do not."""
    entry = part("keys-python")["classes"][name]
    return {**(added(entry["base"]) if "base" in entry else {}), **entry.get("added", {})}


def every_keyword(name: str) -> frozenset[str] | None:
    """What a class of the libraries takes in some release; None for a class that no list holds."""
    return _ever(name) if name in part("keys-python")["classes"] else None


@cache
def _ever(name: str) -> frozenset[str]:
    return keywords(name) | moved(name).keys()


@cache
def _lenient(name: str) -> frozenset[str]:
    config = name.removesuffix("Trainer") + "Config"
    own = keywords(name) | moved(name).keys()
    return own | keywords(config) | moved(config).keys() if config in part("keys-python")["classes"] else own


def _gone(document: Document, outer: Pair, pair: Pair, entry: Mapping[str, str]) -> Observation:
    name = outer.key
    config = name.removesuffix("Trainer") + "Config"
    to = entry.get("to", "")
    # of a switch that became one word of another, False asks for nothing
    if outer.value.pair(to) is not None or (": " in to and "..." not in to and pair.value.native in (None, False)):
        to = ""
    elif not to and config != name and config in part("keys-python")["classes"] and pair.key in keywords(config):
        to = f"args={config}({pair.key}=...)"
    to = _called(name, to) if ": " in to else to
    early = "<" in entry["when"]
    package, _, release = entry["when"].partition("<" if early else ">=")
    when = f"{'before' if early else 'since'} {_TITLES[package]} {release}"
    message = f"{name} takes no `{pair.key}` {when}, and Python stops with a TypeError"
    plain = to.isidentifier()
    return Observation(
        "renamed" if to else "unknown" if early else "removed",
        place(document, pair, f"{name}.{pair.key}"),
        "crash",
        message,
        f"{name}.{to}" if plain else to,
        "key" if plain else "" if to else "remove",
        entry["package"],
    )


def _called(name: str, setting: str) -> str:
    """`key: word` as the argument of a class."""
    import yaml

    ((key, word),) = yaml.safe_load(setting).items()
    return f"{name}({key}={word!r})"


def _meant(name: str, key: str, look: Look) -> str:
    """The keyword that a slip stands for in these releases, or nothing."""
    meant = closest(key, sorted(keywords(name) | moved(name).keys()))
    old = moved(name).get(meant)
    return old.get("to", meant) if old is not None and look.version_is(old["when"]) else meant


def _unknown(document: Document, name: str, pair: Pair, entry: Mapping[str, Any], meant: str) -> Observation:
    effect = entry.get("unknown", "crash")
    what = f"{name} takes no `{pair.key}`"
    message = f"{what}, and Python stops with a TypeError" if effect == "crash" else f"{what} and goes on without it"
    other = next((one for one in ("TrainingArguments", "LoraConfig") if pair.key in keywords(one)), "")
    if other and not meant:
        message += f"; {other} does"
    dotted = f"{name}.{pair.key}"
    return Observation(
        "unknown",
        place(document, pair, dotted),
        effect,
        message,
        f"{name}.{meant}" if meant.isidentifier() else meant,
        "key" if meant.isidentifier() else "remove" if effect == "lost" else "",
        entry["package"],
    )
