"""`loralint rules`."""

from __future__ import annotations

import click

from loralint.cli.options import rule_names
from loralint.engine.rules import Rule, all_rules, select


@click.command("rules")
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...", shell_complete=rule_names)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def command(selectors: tuple[str, ...], format_: str) -> None:
    """List the rules; SELECTOR is a code, a prefix, a name, a topic or a tier."""
    try:
        chosen = select(all_rules(), selectors, (), preview=True)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if format_ == "json":
        import json

        click.echo(json.dumps([_row(rule) for rule in chosen], indent=1))
        return
    for rule in chosen:
        mark = " (preview)" if rule.preview else ""
        click.echo(f"{rule.id}  {' '.join(rule.gives):8} {rule.topic:12} {rule.name}{mark}")
    click.echo(f"\n{len(chosen)} rules; `loralint explain RULE` tells more of one")


def _row(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "topic": rule.topic,
        "tiers": rule.gives,
        "frameworks": rule.frameworks,
        "preview": rule.preview,
    }
