"""`loralint signed`."""

from __future__ import annotations

import os
import sys

import click

from loralint.cli.options import usage
from loralint.engine.settings import SettingsError
from loralint.gate.git import GitError, top_of
from loralint.gate.signed import unsigned_between
from loralint.source.shown import path, shown


@click.command("signed")
@click.option("--base", metavar="REF", default="", help="What the other side has; pre-commit says it by itself.")
@click.option("--head", metavar="REF", default="", help="The last commit to push; HEAD if not given.")
def command(base: str, head: str) -> None:
    """Check that commits which change configs are signed, where the base's settings say require-signed.

    It is the hook loralint-signed, before a push. Exits with 1 if one is not.
    """
    base = base or os.environ.get("PRE_COMMIT_FROM_REF", "")
    head = head or os.environ.get("PRE_COMMIT_TO_REF", "") or "HEAD"
    try:
        found = unsigned_between(top_of("."), base, head)
    except (GitError, SettingsError, ValueError) as error:
        raise usage(shown(error, 500)) from None
    for one in found:
        click.echo(f"[{one.tier}] {path(one.span.file)}: {one.message}")
    if found:
        click.echo(f"help: {found[0].help}")
    sys.exit(1 if found else 0)
