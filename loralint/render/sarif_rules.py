"""The rules that a SARIF log speaks of, with their help in text and Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from loralint.knowledge.data import entries, part
from loralint.knowledge.rules import compiled, find
from loralint.render.page import escaped
from loralint.render.rule_page import plain
from loralint.render.sarif_results import LEVELS, RANKS

_SEVERITIES = {"S": "error", "A": "warning", "B": "recommendation"}


def descriptors(rules: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """rules: code -> name of those that found something, in the order in which results count them."""
    hot = {code: compiled(rule) for code in rules if (rule := find(code)) is not None}
    cold = entries("rules_cold", hot)
    for code, name in rules.items():
        known = hot.get(code)
        about = {"id": code, "name": name}
        yield about if known is None or code not in cold else {**about, **_described(known, cold[code])}


def _described(hot: Mapping[str, Any], cold: Mapping[str, Any]) -> dict[str, Any]:
    """Keys are spelt as canonical fields: the rule is the same for every framework."""
    golden: Any = part("golden") if hot["uses"] == "golden" else {}
    message, help_ = (plain(hot, name, str, golden) for name in ("message", "help"))
    effect, _, cause = message.partition(": ")
    tier = next((tier for tier in LEVELS if tier in hot["gives"]), "B")
    return {
        "shortDescription": {"text": _sentence(effect)},
        "fullDescription": {"text": _sentence(f"{effect}: {cause}" if cause else effect)},
        "help": {"text": _text(help_, cold), "markdown": _markdown(hot["id"], help_, cold)},
        "defaultConfiguration": {"level": LEVELS[tier], "rank": RANKS[tier]},
        "properties": {"tags": [hot["topic"]], "tiers": hot["gives"], "problem.severity": _SEVERITIES[tier]},
    }


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (not text.endswith("."))


def _text(help_: str, cold: Mapping[str, Any]) -> str:
    sources = [f"Sources: {'; '.join(map(_joined, cold['sources']))}"] if cold["sources"] else []
    return "\n\n".join([_joined(cold["why"]), _sentence(help_), *sources])


def _markdown(code: str, help_: str, cold: Mapping[str, Any]) -> str:
    sources = "\n".join(f"- {escaped(_joined(source))}" for source in cold["sources"])
    why = "\n\n".join(escaped(_joined(paragraph)) for paragraph in cold["why"].split("\n\n"))
    told = f"**Sources**\n\n{sources}\n\n" if sources else ""
    return f"{why}\n\n**{escaped(_sentence(help_))}**\n\n{told}`loralint explain {code}` shows examples."


def _joined(text: str) -> str:
    return " ".join(text.split())
