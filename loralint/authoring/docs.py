"""The generated documentation: docs/rules.md, golden.md, coverage.md and vocabulary.md, in plain and stable Markdown.

It is made of what was compiled and of the registries in the code, so that no page can say what the program does not do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from loralint.authoring.docs_coverage import coverage
from loralint.authoring.docs_vocabulary import vocabulary
from loralint.authoring.markdown import GENERATED, table
from loralint.render.golden_page import bounds, fine, recommended, when
from loralint.render.page import as_markdown, escaped
from loralint.render.rule_page import Golden, KeyOf, frameworks_of, plain, rule_page, tiers_of
from loralint.run.spelling import keys_of

TOPIC_TITLES = {
    "target": "Which modules get an adapter",
    "scale": "Rank, alpha and the strength of the adapter",
    "rate": "Learning rate, optimizer and effective step",
    "schedule": "Warm-up, schedule and length of the run",
    "precision": "Number formats and the hardware",
    "quant": "Quantised base models",
    "batch": "Batch and accumulation",
    "checkpoint": "Evaluation, saving and resuming",
    "data": "Data, packing and sequence length",
    "diffusion": "Diffusion models",
    "memory": "Memory and checkpointing of activations",
    "distributed": "Several devices",
    "kubernetes": "Manifests of Kubernetes jobs",
    "launch": "Command lines that start a training",
    "method": "The method itself",
    "keys": "Keys that the framework does not take as meant",
    "script": "What a training script does, and in which order",
    "security": "Secrets and code of others",
    "log": "Logs of trainings, for `loralint watch`",
    "source": "The file, and comments for loralint",
}


def documents(data: Mapping[str, Any]) -> dict[str, str]:
    """Path below the root -> text, of every generated page. data: the compiled parts by name."""
    pages: dict[str, Iterator[str]] = {
        "rules": _rules(data["rules"], data["rules_cold"], data["golden"]),
        "golden": _golden(data["golden"], data["golden_cold"]),
        "coverage": coverage(data),
        "vocabulary": vocabulary(),
    }
    return {f"docs/{name}.md": "\n".join([GENERATED, *page]) for name, page in pages.items()}


def _rules(hot: list[Any], cold: Mapping[str, Any], golden: Golden) -> Iterator[str]:
    keys = cache(keys_of)
    spelt = {rule["id"]: keys(frameworks_of(cold[rule["id"]])[0]) for rule in hot}
    yield "# Rules\n"
    yield f"{len(hot)} rules. Tier S blocks, A wants a second pair of eyes, B is small, a note is no finding.\n"
    yield "`loralint explain LL214` prints the same text; [writing-rules.md](writing-rules.md) says how to add one.\n"
    for topic, title in TOPIC_TITLES.items():
        listed = [rule for rule in hot if rule["topic"] == topic]
        if listed:
            yield f"## {title}\n"
            yield table(("rule", "tier", "what happens"), (_row(rule, spelt[rule["id"]], golden) for rule in listed))
    yield "## The rules one by one\n"
    for rule in hot:
        yield as_markdown(rule_page(rule, cold[rule["id"]], spelt[rule["id"]], golden), level=3)


def _row(rule: Mapping[str, Any], key_of: KeyOf, golden: Golden) -> tuple[str, str, str]:
    name = f"{rule['id']} {rule['name']}"
    anchor = name.lower().replace(" ", "-")
    effect = plain(rule, "message", key_of, golden).partition(": ")[0]
    return f"[{name}](#{anchor})", tiers_of(rule, golden), escaped(effect)


def _golden(hot: Mapping[str, Any], cold: Mapping[str, Any]) -> Iterator[str]:
    yield "# The golden list\n"
    yield (
        "Which values are known to train well, under which conditions, and from which sources. `loralint golden lr`"
        " prints one parameter. Of its entries the first whose condition holds counts. The tier of a bound is the"
        " highest that a rule may give on it alone; a value known at second hand only never gates.\n"
    )
    for name in sorted(hot):
        more = cold[name]
        unit = f", in {more['unit']}" if more["unit"] else ""
        yield f"## {name}\n"
        yield f"{escaped(more['title'][:1].upper() + more['title'][1:] + unit)}.\n"
        yield f"{escaped(' '.join(more['why'].split()))}\n"
        header = ("entry", "counts where", "recommended", "fine", "beyond", "evidence")
        yield table(header, (_entry(entry) for entry in hot[name]))
        for entry in hot[name]:
            known = more["entries"][entry["id"]]
            sources = "; ".join(" ".join(source.split()) for source in known["sources"])
            yield f"- **{entry['id']}**: {escaped(' '.join(known['conditions'].split()))} Sources: {escaped(sources)}."
        yield ""


def _entry(entry: Mapping[str, Any]) -> tuple[str, ...]:
    beyond = "<br>".join(
        f"{limit}: {f'**{tier}**' if tier != 'note' else tier}, {escaped(then)}" for limit, tier, then in bounds(entry)
    )
    named = f"**{entry['id']}**<br>{escaped(entry['name'])}"
    return named, escaped(when(entry)), escaped(recommended(entry)), escaped(fine(entry)), beyond, entry["evidence"]
