"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from loralint.engine.settings import Settings, SettingsError, load_settings

F = TypeVar("F", bound=Callable[..., Any])


def about_the_run(function: F) -> F:
    """--gpu, --target, --framework and --rows: what the caller knows of the run beyond its files."""
    for decorate in (
        click.option("--rows", type=click.IntRange(min=1), help="Rows of training data, for everything counted in steps."),
        click.option("--framework", metavar="NAME", default="", help="Read the files as this framework's."),
        click.option(
            "--target", "target", metavar="PACKAGE=VERSION", multiple=True, help="Judge by this version; repeatable."
        ),
        click.option("--gpu", metavar="GPU", default="", help="Card the run will meet: T4, A100-80GBx8, 4xH100 ..."),
    ):
        function = decorate(function)
    return function


def settings_for(isolated: bool) -> Settings:
    """The project's settings; exits with code 2 when they cannot be used."""
    try:
        return Settings() if isolated else load_settings(".")
    except SettingsError as error:
        raise usage(str(error)) from None


def usage(message: str) -> click.UsageError:
    """An error of the caller's: exit code 2."""
    return click.UsageError(message)
