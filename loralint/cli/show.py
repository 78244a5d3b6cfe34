"""`loralint show`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from loralint.api import check
from loralint.cli.options import about_the_run, settings_for, usage
from loralint.model import Run, Setting, Value
from loralint.source.clean import clean
from loralint.source.shown import path as name
from loralint.source.shown import shown

_COUNTS = ("lora.trainable", "lora.trainable_by_module")


@click.command("show")
@click.argument("path")
@about_the_run
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the table.")
@click.option("--all", "everything", is_flag=True, help="Also the fields without a value.")
@click.option("--memory", is_flag=True, help="What a training step takes of one GPU's memory instead, with the error.")
def command(path: str, format_: str, everything: bool, memory: bool, **given: Any) -> None:
    """Show what the run will really use: every setting, where it comes from and what it hides."""
    if memory and format_ == "json":
        raise click.UsageError("--memory has no JSON")
    settings = settings_for(isolated=False)
    if memory:
        from loralint.cli.memory import memory_table

        click.echo("\n".join(memory_table(path, settings, given)))
        return
    try:
        report = check(path, settings=settings, show_settings=True, **given)
    except ValueError as error:
        raise usage(str(error)) from None
    runs = [run for run in report.runs if run.framework]
    if not runs:
        raise click.UsageError(f"{name(path)}: no training config found")
    from loralint.render import render, silent

    if format_ == "json":
        click.echo(render("json", report, color=False), nl=False)
        return
    for run in runs:
        click.echo(silent("\n".join(_table(run, everything)), report))


def _table(run: Run, everything: bool) -> Iterator[str]:
    yield f"{' + '.join(map(name, run.files))} ({run.framework}, by {run.recognised_by})"
    several = len(run.files) > 1
    listed = [one for one in run.settings if one.parameter not in _COUNTS]
    rows = [_row(one, several=several) for one in listed if everything or one.value.origin != "absent"]
    widths = [min(44, max((len(row[column]) for row in rows), default=0)) for column in range(3)]
    for *cells, origin in rows:
        padded = [f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)]
        yield "  ".join(["", *padded, origin]).rstrip()
    counts = {one.parameter: one.value.value for one in run.settings if one.parameter in _COUNTS}
    if counts:
        yield _trained(*(counts[name] for name in _COUNTS))


def _trained(total: object, parts: object) -> str:
    """How many parameters the adapter trains, and where."""
    if not isinstance(total, int) or not isinstance(parts, dict):
        return f"  trainable parameters: {shown(total)}"
    where = ", ".join(f"{name} {count:,}" for name, count in parts.items())
    return f"  trainable parameters: {total:,} ({clean(where, limit=1000)})"


def _row(one: Setting, *, several: bool) -> tuple[str, str, str, str]:
    value = one.value
    return one.parameter, shown(value.value, limit=44), shown(value.key), _origin(one, several=several)


def _origin(one: Setting, *, several: bool) -> str:
    value = one.value
    where = _place(value, several=several) or value.origin
    if value.source and value.origin in ("default", "option"):
        where = f"{value.origin} of {value.source}" if value.origin == "default" else value.source
    hidden = ", ".join(_hidden(other, several=several) for other in value.shadowed)
    return f"{where}; hides {hidden}" if hidden else where


def _place(value: Value, *, several: bool) -> str:
    """`line 3`, or `run.sh:3` where the run has several files."""
    if value.span is None:
        return ""
    return f"{name(value.span.file)}:{value.span.line}" if several else f"line {value.span.line}"


def _hidden(other: Value, *, several: bool) -> str:
    told = f"{shown(other.key)}: {shown(other.value, limit=30)}"
    return f"{told} ({_place(other, several=several)})" if several and other.span else told
