"""`loralint inspect`."""

from __future__ import annotations

import sys
from typing import Any

import click

from loralint.api import check
from loralint.cli.options import about_the_run, settings_for, usage
from loralint.cli.output import color


@click.command("inspect")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
@about_the_run
@click.option("--isolated", is_flag=True, help="Read no settings file.")
def command(folder: str, isolated: bool, **given: Any) -> None:
    """Look over a folder before the launch: its runs, secrets, contradictions, variables, and what fixes would change.

    Nothing is written. Exits with 1 when a run has a finding of tier S, like `check`.
    """
    from loralint.engine.apply import fixed_texts
    from loralint.render import render
    from loralint.render.inspection import inspection

    settings = settings_for(isolated)
    try:
        report = check(folder, settings=settings, show_settings=True, **given)
    except ValueError as error:
        raise usage(str(error)) from None
    click.echo(render("full", report, color=color()), color=True if color() else None)
    fixed = fixed_texts((one for run in report.runs for one in run.findings), report.texts)
    click.echo("\n".join(inspection(report, fixed)))
    tiers = {one.tier for run in report.runs for one in run.findings if one.suppressed is None}
    sys.exit(1 if "S" in tiers else 0)
