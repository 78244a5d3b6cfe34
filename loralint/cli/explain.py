"""`loralint explain`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from loralint.cli.options import own_rules, rule_names
from loralint.cli.output import color, width
from loralint.knowledge.data import part
from loralint.knowledge.rules import Rule, all_rules, compiled, find
from loralint.render.page import as_markdown, as_text
from loralint.render.rule_page import Golden, KeyOf, frameworks_of, plain, rule_page, tiers_of
from loralint.render.style import Style


@click.command("explain")
@click.argument("rule", required=False, shell_complete=rule_names)
@click.option("--symptom", metavar="TEXT", help="Find rules by the text of an error or by what the run does.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "markdown", "json"]), default="text", help="Format of the page."
)
def command(rule: str | None, symptom: str | None, format_: str) -> None:
    """Explain a rule (code or name), or find the rules behind --symptom "text of an error, or what the run does".

    A whole traceback may be pasted; with `--symptom -` it is read from standard input.
    """
    if bool(rule) == bool(symptom):
        raise click.UsageError("give a rule, or --symptom TEXT")
    own_rules()
    if symptom:
        text = sys.stdin.read() if symptom == "-" else symptom
        click.echo("\n".join(_by_symptom(text, Style(color()), format_)), color=color())
        return
    found = find(rule or "")
    if found is None and _is_the_gate_s(rule or ""):
        return
    if found is None:
        raise click.UsageError(f"no rule is called `{rule}`{_close(rule or '')}")
    click.echo(_page(found, format_), nl=False, color=color())


def _is_the_gate_s(word: str) -> bool:
    """Explain one of the gate's own findings, by code or name; whether it is one."""
    from textwrap import fill

    from loralint.cli.output import width
    from loralint.gate.codes import CODES

    for code, about in CODES.items():
        if word.lower() in (code.lower(), about.name):
            click.echo(f"{code} {about.name}, tier {about.tier}, of `loralint gate`\n\n{fill(about.why, width())}")
            return True
    return False


def _close(word: str) -> str:
    import difflib

    names = {name.lower(): name for rule in all_rules() for name in (rule.id, rule.name)}
    least = 0.75 if word.lower().startswith("ll") else 0.5  # any two codes share letters
    close = [names[name] for name in difflib.get_close_matches(word.lower(), names, 3, least)]
    return f"; perhaps {', '.join(close)}" if close else "; `loralint rules` lists them"


def _page(rule: Rule, format_: str) -> str:
    hot, cold = _compiled(rule)
    if format_ == "json":
        import json

        return json.dumps({**hot, **cold}, indent=1) + "\n"
    page = rule_page(hot, cold, _keys(cold), part("golden"))
    return as_markdown(page) if format_ == "markdown" else as_text(page, Style(color()), width())


def _compiled(rule: Rule) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    cold: Any = part("rules_cold")
    return compiled(rule), cold[rule.id]


def _keys(cold: Mapping[str, Any]) -> KeyOf:
    from loralint.run.spelling import keys_of

    return keys_of(frameworks_of(cold)[0])


def _by_symptom(text: str, style: Style, format_: str) -> Iterator[str]:
    from loralint.engine.symptoms import search

    found = search(text)
    if format_ == "json":
        import json

        yield json.dumps([{"rule": rule.id, "name": rule.name} for rule in found], indent=1)
        return
    if not found:
        yield "No rule knows of this. That does not mean that the config is fine: nothing like it is known here."
        yield "The words of the error itself find most; `loralint check CONFIG` looks for every fault that is known."
        return
    golden: Golden = part("golden")
    yield style.dim("These rules know of something like it, the likeliest first:\n")
    for rule in found:
        hot, cold = _compiled(rule)
        yield f"{style.bold(f'{rule.id} {rule.name}')}  {style.dim(f'tier {tiers_of(hot, golden)}')}"
        yield f"    {plain(hot, 'message', _keys(cold), golden)}"
    yield style.dim(f"\nmore on one: `loralint explain {found[0].id}`; whether it is yours: `loralint check CONFIG`")
