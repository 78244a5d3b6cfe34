"""`loralint baseline`."""

from __future__ import annotations

import os
from typing import Any

import click

from loralint.api import check
from loralint.cli.options import about_the_run, settings_for, usage
from loralint.engine.baseline import count, read_baseline, write_baseline
from loralint.engine.settings import SettingsError


@click.command("baseline")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@about_the_run
@click.option(
    "--file", "path", metavar="FILE", default="loralint-baseline.json", show_default=True, help="The baseline to write."
)
@click.option("--prune", is_flag=True, help="Only take out what is no longer found; add nothing.")
def command(paths: tuple[str, ...], path: str, prune: bool, **given: Any) -> None:
    """Record today's findings, so that `check --baseline FILE` counts only new ones; --prune drops the mended ones."""
    settings = settings_for(isolated=False)._replace(baseline="")
    root = os.path.dirname(os.path.abspath(path))
    try:
        report = check(paths, settings=settings, grouped=False, **given)
        now = count((finding for run in report.runs for finding in run.findings), root)
        before = read_baseline(path) if prune else now
    except (ValueError, SettingsError) as error:
        raise usage(str(error)) from None
    kept = before & now
    write_baseline(path, kept)
    dropped = sum(before.values()) - sum(kept.values())
    click.echo(f"{path}: {_findings(sum(kept.values()))} kept" + (f", {dropped} mended dropped" if prune else ""))


def _findings(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"
