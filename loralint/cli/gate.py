"""`loralint gate`."""

from __future__ import annotations

import sys
from contextlib import chdir
from typing import Any

import click

from loralint.cli.formats import about_the_output
from loralint.cli.options import _card, usage
from loralint.cli.outcome import low_score
from loralint.cli.output import color
from loralint.engine.settings import SettingsError
from loralint.gate.decide import Outcome, decide
from loralint.gate.git import GitError, top_of
from loralint.gate.judging import Asked
from loralint.render import DRAWN, WITH_FIXES, render
from loralint.source.shown import shown


@click.command("gate")
@click.option("--base", metavar="REF", required=True, help="The branch or commit that the change is meant for.")
@click.option("--head", metavar="REF", default="HEAD", show_default=True, help="The change's last commit.")
@click.option("--gpu", metavar="GPU", default="", callback=_card, help="Card the runs will meet.")
@click.option("--target", metavar="PACKAGE=VERSION", multiple=True, help="Judge by this version; repeatable.")
@click.option("--rows", type=click.IntRange(min=1), help="Rows of training data.")
@click.option("--reviews", metavar="FILE", help="Reviews of the pull request, as the action fetched them (JSON).")
@click.option("--no-inline-ignores", is_flag=True, help="Disregard ignore comments, whatever the settings say.")
@about_the_output
def command(base: str, head: str, **given: Any) -> None:
    """Decide whether a change may be merged: by what is new in it, under the policy of its base.

    Commits are judged, not the working tree. Exits with 1 on a new finding of tier S, on one of tier A that two people
    have not approved, on a config that the gate would lose sight of, and where a run scores below the base's min-score.
    """
    formats = {given["format_"], *dict(given["outputs"])}
    asked = Asked(given["gpu"], given["target"], given["rows"], bool(WITH_FIXES & formats), bool(DRAWN & formats))
    try:
        outcome = decide(base, head, asked, reviews=_text(given["reviews"]), inline=not given["no_inline_ignores"])
        top = top_of(".")
    except (GitError, SettingsError, ValueError) as error:
        raise usage(f"--base {shown(base)}: {shown(error, 500)}") from None
    code = 0 if outcome.passed else 1
    report = outcome.report._replace(root=top, fail_on="A", exit_code=code)
    with chdir(top):  # files are named from there
        pages = {name: render(name, report, color=False) for name, _ in given["outputs"]}
        text = render(given["format_"], report, color=color())
    for name, path in given["outputs"]:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(pages[name])
    click.echo(text, nl=False, color=True if color() else None)
    for line in _summary(outcome):
        click.echo(line, err=given["format_"] != "full")
    sys.exit(code)


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 24)


def _summary(outcome: Outcome) -> list[str]:
    """The gate's own lines; on standard error where another program reads the format."""
    older = f"; {outcome.older} older at the base" if outcome.older else ""
    found = f"{outcome.blocking} new S, {outcome.waiting} new A without approval{older}"
    return [
        *(f"note: {shown(one, 500)}" for one in outcome.notes),
        *low_score(outcome.report.runs, outcome.min_score),
        f"gate: {'passed' if outcome.passed else 'not passed'}: {found}",
    ]
