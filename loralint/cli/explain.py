"""`loralint explain`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import click

from loralint.cli.rules import tiers
from loralint.engine.rules import Rule, all_rules, find
from loralint.knowledge.data import part

_PLACEHOLDER = re.compile(r"\{(?:key:|get:)?([A-Za-z0-9_.]+)\}")


@click.command("explain")
@click.argument("rule", required=False)
@click.option("--symptom", metavar="TEXT", help="Find rules by the text of an error or by what the run does.")
def command(rule: str | None, symptom: str | None) -> None:
    """Explain a rule (code or name), or find rules with --symptom "text of an error"."""
    if bool(rule) == bool(symptom):
        raise click.UsageError("give a rule, or --symptom TEXT")
    if symptom:
        _by_symptom(symptom)
        return
    found = find(rule or "")
    if found is None:
        raise click.UsageError(f"no rule is called `{rule}`{_close(rule or '')}")
    click.echo(page(found), nl=False)


def _close(word: str) -> str:
    import difflib

    names = [name for rule in all_rules() for name in (rule.id, rule.name)]
    close = difflib.get_close_matches(word, names, 3, 0.5)
    return f"; perhaps {', '.join(close)}" if close else ""


def page(rule: Rule) -> str:
    """A rule's page as Markdown; the documentation is made of the same text."""
    return "\n".join(_page(rule, cold(rule.id))) + "\n"


def plain(text: str) -> str:
    """A message without a run: `{key:adapter.rank}` reads <adapter.rank>."""
    return _PLACEHOLDER.sub(r"<\1>", text)


def cold(rule_id: str) -> Any:
    """What only people read of a rule."""
    everything: Any = part("rules_cold")
    return everything[rule_id]


def _page(rule: Rule, more: Any) -> Iterator[str]:
    yield f"# {rule.id} {rule.name}"
    yield ""
    yield f"Tier {tiers(rule)}, topic {rule.topic}, since {more['since']}" + (", preview" if rule.preview else "")
    if rule.frameworks:
        yield f"For {', '.join(rule.frameworks)}" + (f" ({', '.join(rule.versions)})" if rule.versions else "")
    yield ""
    yield f"Says: {plain(rule.message)}"
    yield ""
    yield f"Write: {plain(rule.help)}"
    yield ""
    yield "## Why"
    yield ""
    yield more["why"].strip()
    if more.get("symptoms"):
        yield from ("", "## What you may have seen", "")
        yield from (f"- {symptom}" for symptom in more["symptoms"])
    yield from ("", "## Examples")
    for example in more["examples"]:
        yield from _example(example)
    yield from ("", "## Sources", "")
    yield from (f"- {source}" for source in more["sources"])


def _example(example: Any) -> Iterator[str]:
    kind = "bad" if example.get("bad") else "good"
    for framework, text in example[kind].items():
        given = " ".join(_options(example.get("options") or {}))
        yield ""
        yield f"{kind.capitalize()}, {framework}{f' with {given}' if given else ''}:"
        yield ""
        finds = example.get("finds") or {}
        for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
            mark = f"    # <- {finds.get('key', '')}" if kind == "bad" and number == finds.get("line") else ""
            yield f"    {line}{mark}"


def _options(given: Any) -> Iterator[str]:
    if given.get("gpu"):
        yield f"--gpu {given['gpu']}"
    if given.get("rows"):
        yield f"--rows {given['rows']}"
    if given.get("padding"):
        yield f"{given['padding']} blanks at its end"
    yield from (f"--target {name}={version}" for name, version in (given.get("target") or {}).items())


def _by_symptom(text: str) -> None:
    ranked = sorted(((_likeness(text, rule), rule) for rule in all_rules()), key=lambda pair: (-pair[0], pair[1].id))
    best = [(score, rule) for score, rule in ranked if score >= max(0.34, ranked[0][0] * 0.6)][:5]
    if not best:
        click.echo("no rule is known for that; try the words of the error itself")
        return
    for _, rule in best:
        click.echo(f"{rule.id} {rule.name}  (tier {tiers(rule)})")
        click.echo(f"    {plain(rule.message)}")


def _likeness(text: str, rule: Rule) -> float:
    """Share of the asked words that the best of the rule's symptoms, or its message, holds."""
    asked = _words(text)
    return max((_share(asked, _words(one)) for one in (*cold(rule.id).get("symptoms", ()), rule.message, rule.name)), default=0)


def _share(asked: frozenset[str], words: frozenset[str]) -> float:
    """Words in common over the shorter text, so that a long error text finds a short symptom."""
    common = len(asked & words)
    return common / min(len(asked), max(len(words), 3)) if asked and common > 1 or asked == words else 0.0


_COMMON = frozenset("a an and are as at be but by can do does for from has have in is it my no not of on or the this to was when with you your".split())


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", text.lower())) - _COMMON
