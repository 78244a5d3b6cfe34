"""`loralint rules`."""

from __future__ import annotations

import sys

import click

from loralint.cli.group import Listing
from loralint.cli.options import own_rules, rule_names
from loralint.engine.rules import select
from loralint.knowledge.rules import Rule


@click.group("rules", cls=Listing)
def command() -> None:
    """List the rules; make and test rules of your own."""


@command.command("list")
@click.argument("selectors", nargs=-1, metavar="[SELECTOR]...", shell_complete=rule_names)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def list_(selectors: tuple[str, ...], format_: str) -> None:
    """List the rules; SELECTOR is a code, a prefix, a name, a topic or a tier. `list` itself may be left out."""
    own_rules()
    try:
        chosen = select(selectors, (), preview=True)
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


@command.command("new")
@click.argument("code", metavar="CODE")
@click.argument("name")
@click.option("--dir", "folder", metavar="DIR", default="lint/rules", show_default=True, help="Where the file goes.")
def new(code: str, name: str, folder: str) -> None:
    """Write a rule file to start from: CODE such as X001, NAME such as rank-over-house-limit. It passes its own test.

    An existing file is never overwritten.
    """
    from loralint.cli.new_rule import write_rule

    path, missing = write_rule(code, name, folder)
    click.echo(f"{path}: change it, then `loralint rules test {path}`")
    if missing:
        click.echo(f'it counts once the settings (loralint.toml) say: rules = ["{folder}/*.yaml"]')


@command.command("test")
@click.argument("what", nargs=-1, metavar="[PATH | SELECTOR]...")
def test(what: tuple[str, ...]) -> None:
    """Run the examples of rules: of files and folders, of our rules by SELECTOR, or of those that the settings name.

    A bad example gives its finding at its key and line, a good one none, and a fix mends. Exit code 1 when one does
    not.
    """
    from loralint.cli.rule_tests import run_tests

    sys.exit(run_tests(what))


def _row(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "topic": rule.topic,
        "tiers": rule.gives,
        "frameworks": rule.frameworks,
        "preview": rule.preview,
    }
