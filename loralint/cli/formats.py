"""The options that say in which formats a report is given, and where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from loralint.render import DRAWN, FORMATS

F = TypeVar("F", bound=Callable[..., Any])


def _outputs(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> list[tuple[str, str]]:
    """("json=out.json",) -> [("json", "out.json")]."""
    outputs = [(name, path) for name, _, path in (one.partition("=") for one in given)]
    for (name, path), one in zip(outputs, given, strict=True):
        if name not in FORMATS or not path:
            raise click.BadParameter(f"{one!r} is not FORMAT=FILE with a format of {', '.join(FORMATS)}")
        _available(ctx, param, name)
    return outputs


def _available(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """The format, of which the installation has what it takes."""
    del ctx, param
    if given not in DRAWN:
        return given
    from loralint.cli.report_file import needs_templates

    return needs_templates(given)


def about_the_output(function: F) -> F:
    """`format_` and `outputs`, as (format, file)."""
    for decorate in (
        click.option(
            "--output",
            "outputs",
            metavar="FORMAT=FILE",
            multiple=True,
            callback=_outputs,
            help="Write a format to a file as well; repeatable.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(list(FORMATS)),
            default="full",
            callback=_available,
            help="Format on standard output.",
        ),
    ):
        function = decorate(function)
    return function
