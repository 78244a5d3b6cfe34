"""The page of one rule, for `loralint explain` and for the documentation.

First what happens to the run, then why, the examples with their marks, what to write, and what it all rests on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from loralint.render.condition_text import in_words
from loralint.render.page import Block, code_span

KeyOf = Callable[[str], str]
Golden = Mapping[str, list[Any]]
_ORDER = ("S", "A", "B", "note")
_SIDES = {"above": {"above", "at_least"}, "below": {"below", "at_most"}, "is": {"is"}}
# what a placeholder stands for as long as no file is at hand
_FRAMEWORK = "the framework"
_OUTCOMES = {  # of a template
    "observation": "the run stops at start, or the setting never takes effect",
    "memory": "training runs out of memory",
    "targets_in_model": "the adapter misses layers, or training stops when it is built",
}
_PLACEHOLDER = re.compile(r"\{([a-z_]+)(?::([^{}]+))?\}")


def rule_page(hot: Mapping[str, Any], cold: Mapping[str, Any], key_of: KeyOf, golden: Golden) -> Iterator[Block]:
    """Take what was compiled of a rule and of the golden list.

    key_of spells for the examples' framework: field -> key, field=value -> setting.
    """
    effect, _, cause = plain(hot, "message", key_of, golden).partition(": ")
    yield Block("title", f"{hot['id']} {hot['name']}")
    yield Block("meta", "; ".join(_facts(hot, cold, golden)))
    yield Block("strong", effect[:1].upper() + effect[1:] + (":" if cause else "."))
    if cause:
        yield Block("text", cause)
    if cold.get("symptoms"):
        yield Block("text", "You may have seen:")
        yield from (Block("item", code_span(symptom)) for symptom in cold["symptoms"])
    yield Block("head", "Why")
    yield Block("text", cold["why"])
    yield from _judged(hot)
    if cold["examples"]:
        yield Block("head", "Examples")
    for example in cold["examples"]:
        yield from _example(hot, example)
    yield Block("head", "What to write")
    yield Block("text", _sentence(plain(hot, "help", key_of, golden)) + _fixed(hot["fix"]))
    if cold["sources"]:
        yield Block("head", "Sources")
    yield from (Block("item", " ".join(source.split())) for source in cold["sources"])


def plain(hot: Mapping[str, Any], part: str, key_of: KeyOf, golden: Golden) -> str:
    """The rule's message or help without a run.

    Keys are spelt out, what depends on the bound reads as for the worst, and what only the run can say is left open
    as <what stands there>.
    """
    place = next(iter(hot["at"]), hot["with"].get("field") or hot["with"].get("left") or "item")
    words = {"framework": _FRAMEWORK, "outcome": _OUTCOMES.get(hot["uses"]), "then": _worst(hot, golden)}

    def one(match: re.Match[str]) -> str:
        name, field = match.groups()
        if name == "key" and "files" in hot["with"]:
            return str(hot["with"]["key"])
        if name == "or" and field:
            return f" or {key_of(field)}"
        if name in ("key", "write") and (field or place != "item"):
            return key_of(field or place)
        return words.get(name) or f"<{field or name}>"

    return _PLACEHOLDER.sub(one, hot[part])


def _worst(hot: Mapping[str, Any], golden: Golden) -> str:
    """What happens beyond the worst bound; of several that of the entry for plain fine-tuning, and of those the last.

    Entries go from narrow to general, so the last one speaks for most runs. Empty where there is no bound.
    """
    entries = _entries(hot, golden)
    bounds = [((_usual(entry), place), one) for place, entry in enumerate(entries) for one in _bounds(hot, entry)]
    tier = min((_ORDER.index(bound["tier"]) for _, bound in bounds), default=0)
    worst = [(rank, bound["then"]) for rank, bound in bounds if bound["tier"] == _ORDER[tier]]
    return max(worst, key=lambda pair: pair[0])[1] if worst else ""


def _usual(entry: Mapping[str, Any]) -> int:
    """How likely it is that a reader's run meets this entry: 2 for plain fine-tuning, 0 for diffusion."""
    condition = str(entry.get("when"))
    return 2 if "sft" in condition else int("diffusion" not in condition)


def _entries(hot: Mapping[str, Any], golden: Golden) -> list[Mapping[str, Any]]:
    """The entries of the golden list that the rule may judge by."""
    if hot["uses"] != "golden":
        return []
    name = hot["with"].get("entry")
    return [entry for entry in golden[hot["with"]["parameter"]] if name in (None, entry["id"], entry["name"])]


def _bounds(hot: Mapping[str, Any], entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The bounds of an entry on the side that the rule looks at."""
    sides = _SIDES.get(hot["with"].get("side", ""))
    return [bound for bound in entry["bounds"] if sides is None or sides & set(bound)]


# Examples that are programs, which say themselves whose run they start.
PROGRAMS = frozenset({"shell", "python"})


_PROGRAMS = ("python", "shell")


def frameworks_of(cold: Mapping[str, Any]) -> list[str]:
    """The frameworks of a rule's examples, the bad ones first; where all are programs, the one whose keys they use."""
    examples = sorted(cold["examples"], key=lambda example: "bad" not in example)
    names = [name for example in examples for name in (example.get("bad") or example["good"])]
    return [name for name in names if name not in PROGRAMS] or ["transformers"]


def tiers_of(hot: Mapping[str, Any], golden: Golden) -> str:
    """The tiers that a rule may give, worst first: `S A`; of a rule on the golden list those of its bounds."""
    bounds = [bound for entry in _entries(hot, golden) for bound in _bounds(hot, entry)]
    given = {bound["tier"] for bound in bounds} or {tier for _, tier in hot["tiers"]}
    return " ".join(tier for tier in _ORDER if tier in given)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." * (not text.endswith("."))


def _facts(hot: Mapping[str, Any], cold: Mapping[str, Any], golden: Golden) -> Iterator[str]:
    yield f"tier {tiers_of(hot, golden)}"
    yield f"topic {hot['topic']}"
    yield ", ".join(hot["frameworks"]) if hot["frameworks"] else "every framework"
    yield from hot["versions"]
    since = f"since {cold['since']}" if cold["since"] else ""
    yield from filter(None, [", ".join(filter(None, [since, "in preview: only with --preview" * hot["preview"]]))])


def _judged(hot: Mapping[str, Any]) -> Iterator[Block]:
    """When the rule looks, how it ranks what it finds, and where its bounds stand."""
    if hot["when"]:
        yield Block("text", f"Looks where {in_words(hot['when'])}.")
    if hot["uses"] != "golden" and (len(hot["tiers"]) > 1 or hot["tiers"][0][0]):
        yield Block("text", f"{_levels(hot)}.")
    if "files" in hot["with"]:
        yield Block("text", f"Looks at `{hot['with']['key']}` of {', '.join(hot['with']['files'])}.")
    if hot["uses"] == "golden":
        name = hot["with"]["parameter"]
        yield Block("text", f"The bounds and their sources: `loralint golden {name}`.")


def _levels(hot: Mapping[str, Any]) -> str:
    levels = [f"{tier} {f'where {in_words(when)}' if when else 'otherwise'}" for when, tier in hot["tiers"]]
    return "; ".join(["Tier " + levels[0], *levels[1:]])


def _example(hot: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[Block]:
    kind = "bad" if example.get("bad") else "good"
    for framework, text in example[kind].items():
        given = " ".join(_options(example.get("options") or {}))
        what = "a log" if (example.get("options") or {}).get("log") else framework
        yield Block("text", f"{kind.capitalize()}, {what}{f', with {given}' if given else ''}:")
        finds = example.get("finds")
        marks = {finds["line"]: _mark(hot, finds)} if finds else {}
        rows = _rows(example.get("options") or {})
        yield Block("code", text.replace("\r", "\u240d"), {} if rows else marks)  # ends of lines that count are seen
        for place, (name, lines) in enumerate(rows):
            yield Block("text", f"and {name}:")
            yield Block("code", lines, marks if place == len(rows) - 1 else {})


def _rows(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Name and text of the files of rows, the one that a finding is in last."""
    return [*(given.get("data") or {}).items(), *(given.get("eval_data") or {}).items()]


def _mark(hot: Mapping[str, Any], finds: Mapping[str, Any]) -> str:
    alone = hot["tiers"][0][1] if len(hot["tiers"]) == 1 and hot["uses"] != "golden" else ""
    said = " ".join(filter(None, (finds.get("tier") or alone, finds["key"])))
    return said + (f", becomes {finds['fixed'].strip()}" if finds.get("fixed") else "")


def _options(given: Mapping[str, Any]) -> Iterator[str]:
    if given.get("gpu"):
        yield f"--gpu {given['gpu']}"
    if given.get("rows"):
        yield f"--rows {given['rows']}"
    yield from (f"--data {name}" for name in given.get("data") or {})
    yield from (f"--eval-data {name}" for name in given.get("eval_data") or {})
    yield from (f"--target {name}={version}" for name, version in (given.get("target") or {}).items())


def _fixed(fix: Mapping[str, Any] | None) -> str:
    if fix is None:
        return ""
    return f" A machine can write this{' safely' if fix['safe'] else ', but read it before you keep it'}."
