"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from loralint.engine.settings import Settings, SettingsError, load_settings

F = TypeVar("F", bound=Callable[..., Any])


def _frameworks(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del ctx, param
    from loralint.frameworks.detect import NAMES

    return [name for name in NAMES if name.startswith(typed)]


def _cards(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del ctx, param
    from loralint.knowledge.data import part

    cards: Any = part("hardware")
    names = (card["name"].replace(" ", "-") for card in cards["gpus"])
    return [name for name in names if name.lower().startswith(typed.lower())]


def rule_names(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Codes and names of rules, for the shell to complete."""
    del ctx, param
    from loralint.engine.rules import all_rules

    words = [*(rule.id for rule in all_rules()), *(rule.name for rule in all_rules())]
    return [word for word in words if word.lower().startswith(typed.lower())]


def about_the_run(function: F) -> F:
    """--gpu, --target, --framework and --rows: what the caller knows of the run beyond its files."""
    for decorate in (
        click.option(
            "--rows", type=click.IntRange(min=1), help="Rows of training data, for everything counted in steps."
        ),
        click.option(
            "--framework",
            metavar="NAME",
            default="",
            shell_complete=_frameworks,
            help="Read the files as this framework's.",
        ),
        click.option(
            "--target", "target", metavar="PACKAGE=VERSION", multiple=True, help="Judge by this version; repeatable."
        ),
        click.option(
            "--gpu",
            metavar="GPU",
            default="",
            shell_complete=_cards,
            help="Card the run will meet: T4, A100-80GBx8, 4xH100 ...",
        ),
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
