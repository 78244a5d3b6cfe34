"""`loralint rules`."""

from __future__ import annotations

from typing import Any

import click

from loralint.cli.options import rule_names
from loralint.engine.rules import Rule, all_rules, select
from loralint.knowledge.data import part
from loralint.render.rule_page import tiers_of


@click.command("rules")
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...", shell_complete=rule_names)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def command(selectors: tuple[str, ...], format_: str) -> None:
    """List the rules; SELECTOR is a code, a prefix, a name, a topic or a tier."""
    try:
        chosen = select(all_rules(), selectors, (), preview=True)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    tiers = _tiers()
    if format_ == "json":
        import json

        click.echo(json.dumps([_row(rule, tiers[rule.id].split()) for rule in chosen], indent=1))
        return
    for rule in chosen:
        mark = " (preview)" if rule.preview else ""
        click.echo(f"{rule.id}  {tiers[rule.id]:8} {rule.topic:12} {rule.name}{mark}")
    click.echo(f"\n{len(chosen)} rules; `loralint explain RULE` tells more of one")


def _tiers() -> dict[str, str]:
    """Code -> the tiers that the rule may give, such as "S A"; golden bounds bring their own."""
    rules: Any = part("rules")
    golden: Any = part("golden")
    return {one["id"]: tiers_of(one, golden) for one in rules}


def _row(rule: Rule, tiers: list[str]) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "topic": rule.topic,
        "tiers": tiers,
        "frameworks": rule.frameworks,
        "preview": rule.preview,
    }
