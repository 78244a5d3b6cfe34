"""`loralint schema`."""

from __future__ import annotations

import json
from typing import Any

import click

from loralint.cli.options import usage

_OWN = ("rule", "golden", "settings", "report")


def _names(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del ctx, param
    from loralint.frameworks.detect import NAMES

    return [name for name in (*_OWN, *NAMES) if name.startswith(typed)]


@click.command("schema")
@click.argument("what", metavar="FRAMEWORK|rule|golden|settings|report", shell_complete=_names)
def command(what: str) -> None:
    """Print a JSON Schema: of a framework's config, of rule and golden files of your own, of the settings, of the JSON.

    In an editor, save it and name it in the first line of a YAML file: # yaml-language-server: $schema=axolotl.json.
    A framework's schema refuses a key only where the framework does; values it describes, and `check` judges.
    """
    click.echo(json.dumps(_schema(what), indent=1))


def _schema(what: str) -> Any:
    if what == "report":
        from loralint.knowledge.data import shipped

        return shipped("report.schema")
    if what == "settings":
        from loralint.engine.settings_schema import settings_schema

        return settings_schema()
    try:
        return _authored(what) if what in _OWN else _of_framework(what)
    except ValueError as error:
        raise usage(f"{error}, {', '.join(_OWN)}") from None


def _authored(what: str) -> Any:
    try:
        from loralint.authoring.own_models import OwnEntry, OwnRule
        from loralint.authoring.schema import schema
    except ImportError as error:
        raise usage(f"this schema needs {error.name}: pip install '.[authoring]' in a checkout") from None
    if what == "rule":
        return schema(OwnRule, "rule of a project's own")
    entry = schema(OwnEntry, "golden entries of a project's own")
    head = {key: entry.pop(key) for key in ("$schema", "title", "$defs")}
    return head | {"anyOf": [{"type": "array", "items": entry}, entry]}


def _of_framework(what: str) -> Any:
    from loralint.authoring.framework_schema import framework_schema

    return framework_schema(what)
