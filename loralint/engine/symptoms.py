"""From the text of an error, or of what a run does, to the rules that know of it.

Words count by how few rules speak of them. A rule is near when it holds much of what was asked (its symptoms above its
message, that above its reasons), and when much of one of its symptoms is found in the question, which is how a long
traceback meets a short symptom. Everything is counted once: time is linear in the question and in the rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from math import log
from typing import Any, NamedTuple

from loralint.knowledge.data import part
from loralint.knowledge.rules import Rule, all_rules, wording

ENOUGH = 0.55  # below it, what is found is chance: see tests/engine/test_symptoms.py
_SHORT = 9.0  # rarity in all of a symptom of three or four telling words; to meet a shorter one says less
_LONGEST = 20_000  # characters of a question that are looked at
_WEIGHTS = {"symptoms": 1.0, "message": 0.75, "help": 0.45, "why": 0.4}
_COMMON = frozenset(
    word
    for line in (
        "a about after again all also although an and any are as at be because been but by can cannot cant check",
        "could did didnt do does doesnt done dont for from get gets give given go goes had has have he her here",
        "his how however i if in into is isnt it its just like made make me more most my of on one only or other",
        "our out over please so some such than that the their them then there these they this to too try use used",
        "using very via was we were what when where which while who will with wont would you your",
        "error errors exception file line py python traceback recent call last raise raised run running training",
        "warning",
    )
    for word in line.split()
)
# other numbers than these are the run's own
_WORD = re.compile(r"(?<!\d)\d+(?=[- ]?bit)|[a-z]+\d*(?:_[a-z0-9]+)*|(?<![\w.])(?:0|100)(?![\w.])")
_NOISE = re.compile(r"(?<=[a-z])['\u2019](?=[a-z])|\b(?:Value|Type|Runtime|Key|Attribute|Index|OS)Error\b")
_CAMEL = re.compile(r"(?<=[a-z]{3})(?=[A-Z][a-z])")
_TELLING = re.compile(r"^\s*(?:E\s+)?[\w.]*(?:Error|Exception|Warning)\b.*:", re.MULTILINE)


class _Known(NamedTuple):
    """A rule as the search sees it: its words with the weight of the best place they stand in, and its symptoms."""

    rule: Rule
    words: Mapping[str, float]
    symptoms: list[frozenset[str]]


def search(text: str, most: int = 5) -> list[Rule]:
    """The rules behind a symptom, likeliest first; none where nothing is known."""
    asked = words_of(_telling(text[:_LONGEST]))
    ranked = sorted(((_nearness(asked, one), one.rule) for one in _index()[0]), key=lambda pair: (-pair[0], pair[1].id))
    least = max(ENOUGH, ranked[0][0] * 0.5) if ranked else ENOUGH
    return [rule for nearness, rule in ranked[:most] if nearness >= least]


def forget() -> None:
    """Read the rules anew at the next search."""
    _index.cache_clear()


def words_of(text: str) -> frozenset[str]:
    """Words without their endings; a name such as learning_rate or EarlyStopping counts whole and by its parts."""
    out: set[str] = set()
    for word in _WORD.findall(_CAMEL.sub("_", _NOISE.sub("", text)).lower()):
        out.add(word)
        if "_" in word:
            out.update(word.split("_"))
    return frozenset(_stem(word) for word in out - _COMMON)


def _telling(text: str) -> str:
    """Of several lines the ones that name an error, if any do; the frames of a traceback tell nothing."""
    lines = text.strip().splitlines()
    telling = [line for line in lines if _TELLING.match(line)]
    return "\n".join(telling) if telling and len(lines) > 1 else text


def _stem(word: str) -> str:
    """One form for diverges and diverged, quantised and quantization."""
    word = word.replace("isa", "iza").replace("ise", "ize").replace("ising", "izing")
    for ending in ("ations", "ation", "ings", "ing", "ness", "ies", "ed", "es", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word.removesuffix(ending)
    return word


def _nearness(asked: frozenset[str], one: _Known) -> float:
    """Add the share of the question that the rule holds to the share of its best symptom that the question holds."""
    rare = _index()[1]
    everything = sum(map(rare, asked))
    if not everything:
        return 0.0
    held = sum(rare(word) * one.words.get(word, 0.0) for word in asked) / everything
    met = max((_met(asked, symptom) for symptom in one.symptoms), default=0.0)
    return held + met


def _met(asked: frozenset[str], symptom: frozenset[str]) -> float:
    rare = _index()[1]
    common = asked & symptom
    if not common or (len(common) == 1 and common != symptom):
        return 0.0
    return sum(map(rare, common)) / max(_SHORT, sum(map(rare, symptom)))


@cache
def _index() -> tuple[list[_Known], Callable[[str], float]]:
    """Every rule's words, and how rare a word is."""
    cold: Any = part("rules_cold")
    known = [_known(rule, cold[rule.id]) for rule in all_rules()]
    holding = Counter(word for one in known for word in one.words)
    rarest = log(len(known) + 1)
    rarity = {word: rarest - log(count) for word, count in holding.items()}
    return known, lambda word: rarity.get(word, rarest)


def _known(rule: Rule, cold: Mapping[str, Any]) -> _Known:
    symptoms, said = cold.get("symptoms", ()), wording(rule)
    places: Mapping[str, Iterable[str]] = {
        "why": (cold["why"],),
        "help": (said.help,),
        "message": (said.message, rule.name),
        "symptoms": symptoms,
    }
    words = {word: _WEIGHTS[place] for place, texts in places.items() for text in texts for word in words_of(text)}
    return _Known(rule, words, [words_of(one) for one in symptoms])
