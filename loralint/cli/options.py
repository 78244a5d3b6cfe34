"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from loralint.cli.named import companions, launch, map_of
from loralint.engine.settings import Settings, SettingsError, load_settings

F = TypeVar("F", bound=Callable[..., Any])
_OF_THE_PROBE = (
    *("probe_model", "probe_data", "probe_steps", "probe_seconds", "probe_suggest", "probe_svd"),
    *("device", "seed", "no_report"),
)


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


def _card(ctx: click.Context, param: click.Parameter, given: str) -> str:
    """The card as given, or those of this machine."""
    del ctx, param
    if given.strip().lower() != "auto":
        return given
    from loralint.cli.card import Unseen, here

    try:
        return here()
    except Unseen as unseen:
        raise click.BadParameter(str(unseen)) from None


def rule_names(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    """Codes and names of rules, for the shell to complete."""
    del ctx, param
    from loralint.knowledge.rules import all_rules

    words = [*(rule.id for rule in all_rules()), *(rule.name for rule in all_rules())]
    return [word for word in words if word.lower().startswith(typed.lower())]


def _variables(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """("A=1",) -> {"A": "1"}."""
    del ctx
    for one in given:
        if not one.partition("=")[1] or not one.partition("=")[0]:
            raise click.BadParameter(f"{one!r} is not {param.metavar}")
    return {name: value for name, _, value in (one.partition("=") for one in given)}


def _maps(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """("name=path",) -> {"name": "path"}, of paths that can be read."""
    found = _variables(ctx, param, given)
    for path in found.values():
        map_of(path)
    return found


def about_the_run(function: F) -> F:
    """What the caller knows of the run beyond its files."""
    for decorate in (
        click.option(
            "--launch",
            metavar="LINE",
            default="",
            callback=launch,
            help="The command line that starts the run, flags and all.",
        ),
        click.option(
            "--env",
            metavar="NAME=VALUE",
            multiple=True,
            callback=_variables,
            help="A variable that the run gets; repeatable.",
        ),
        click.option(
            "--with",
            "companions",
            metavar="FILE",
            multiple=True,
            callback=companions,
            help="A file that the run reads too: DeepSpeed, accelerate, requirements, .env; repeatable.",
        ),
        click.option(
            "--configmap",
            "configmaps",
            metavar="NAME=PATH",
            multiple=True,
            callback=_maps,
            help="A ConfigMap that manifests mount and that is made of this file or folder; repeatable.",
        ),
        click.option(
            "--model-cache",
            metavar="DIR",
            default="",
            help="Look up base models in this Hugging Face cache; auto for this machine's. Nothing is fetched.",
        ),
        click.option(
            "--model-config",
            metavar="[BASE=]PATH",
            multiple=True,
            help="The base model's config.json or its folder; with BASE= for this base model alone; repeatable.",
        ),
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
            callback=_card,
            shell_complete=_cards,
            help="Card the run will meet: T4, A100-80GBx8, 4xH100 ..., or auto for the one of this machine.",
        ),
    ):
        function = decorate(function)
    return function


def about_the_probe(function: F) -> F:
    """Whether and how each run is micro-trained."""
    for decorate in (
        click.option(
            "--seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Of the probe's batches and adapters."
        ),
        click.option(
            "--device", type=click.Choice(("auto", "cpu", "cuda")), default="auto", help="Where the probe trains."
        ),
        click.option(
            "--probe-seconds", type=click.FloatRange(min=0, min_open=True), help="Seconds that a run's probe may take."
        ),
        click.option(
            "--probe-steps",
            type=click.IntRange(2, 1000),
            default=36,
            show_default=True,
            help="Steps of the probe; its bands were measured with 36, with any other number there is no verdict.",
        ),
        click.option(
            "--probe-model",
            metavar="PATH",
            default="",
            help="Weights to probe on, not the embedded model: a folder that Transformers saved, or a GGUF file.",
        ),
        click.option("--probe-suggest", is_flag=True, help="Also probe the change that the diagnosis names."),
        click.option(
            "--probe-svd", is_flag=True, help="Also a control arm that starts from an SVD of the base (PiSSA)."
        ),
        click.option(
            "--probe-data",
            metavar="FILE",
            default="",
            help="Your own rows as the text of the probe, JSONL, JSON, Parquet or .txt; needs a model of your own.",
        ),
        click.option("--probe", is_flag=True, help="Micro-train each run for seconds: will its numbers hold together?"),
    ):
        function = decorate(function)
    return function


def refuse_odd_of_the_probe(probed: bool) -> None:
    """What a probe is told goes with a probe, and an empty name is an unset variable in a script, most likely."""
    context = click.get_current_context()
    for name in _OF_THE_PROBE:
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        option = f"--{name.replace('_', '-')}"
        if not probed:
            raise usage(f"{option} needs --probe")
        if context.params[name] == "":
            raise usage(f"{option} is empty")


def settings_for(isolated: bool) -> Settings:
    """The project's settings; exits with code 2 when they cannot be used."""
    try:
        return Settings() if isolated else load_settings(".")
    except SettingsError as error:
        raise usage(str(error)) from None


def own_rules() -> None:
    """Have the project's own rules and golden entries count; exits with code 2 when they cannot be used."""
    from loralint.api import use_own

    try:
        use_own(settings_for(isolated=False))
    except ValueError as error:
        raise usage(str(error)) from None


def usage(message: str) -> click.UsageError:
    """An error of the caller's: exit code 2."""
    return click.UsageError(message)
