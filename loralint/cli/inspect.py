"""`loralint inspect`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from loralint.api import around, check, launch_line, make_job, options
from loralint.cli.options import about_the_run, settings_for, usage
from loralint.cli.output import color
from loralint.engine.lint import Job
from loralint.engine.settings import Settings
from loralint.run.project import Project
from loralint.source.discover import discover, starts_first
from loralint.source.document import Document
from loralint.source.read import read_file

# What the caller says of the runs that is no argument of `options`.
_OF_RUNS = ("companions", "env", "configmaps")


@click.command("inspect")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
@about_the_run
@click.option("--isolated", is_flag=True, help="Read no settings file.")
@click.option("--fix", is_flag=True, help="Make the safe fixes, with audit records, and look at what is left.")
def command(folder: str, isolated: bool, fix: bool, **given: Any) -> None:
    """Look over a folder before the launch: its runs, secrets, contradictions, variables, and what fixes would change.

    Nothing is written without --fix. Exits with 1 when a run has a finding of tier S, like `check`.
    """
    from loralint.cli.fixing import Asked, fix_files
    from loralint.engine.mend import mend
    from loralint.engine.save import barred
    from loralint.render import render, silent
    from loralint.render.inspection import inspection

    def project() -> Project:
        return around([folder])

    settings, written = settings_for(isolated), True
    try:
        job = _job(settings, given)
        if fix:
            written = fix_files(_documents(folder, settings, given), job, project, settings, Asked())
        report = check(folder, settings=settings, show_settings=True, **given)
    except ValueError as error:
        raise usage(str(error)) from None
    click.echo(render("full", report, color=color()), color=True if color() else None)
    mended = mend(_documents(folder, settings, given), job, project, barred=barred)
    click.echo(silent("\n".join(inspection(report, mended.before, mended.texts)), report))
    tiers = {one.tier for run in report.runs for one in run.findings if one.suppressed is None}
    sys.exit(1 if "S" in tiers or not written else 0)


def _job(settings: Settings, given: dict[str, Any]) -> Job:
    known = {name: value for name, value in given.items() if name not in (*_OF_RUNS, "launch")}
    chosen = options(**known, settings=settings)
    return make_job(settings, chosen._replace(**{name: given[name] for name in _OF_RUNS}))


def _documents(folder: str, settings: Settings, given: dict[str, Any]) -> Iterator[Document]:
    if given["launch"]:
        yield launch_line(given["launch"])
    for one in starts_first(discover([folder], exclude=settings.exclude)):
        if not one.skipped:
            yield read_file(one.path, one.shown)
