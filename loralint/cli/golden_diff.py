"""`loralint golden diff`: what changed between two golden lists, for people who must agree to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from loralint.cli.options import usage
from loralint.source.clean import clean
from loralint.source.shown import shown


class Change(NamedTuple):
    """One difference. entry: id. field: what of it, empty where the whole entry came or went."""

    parameter: str
    entry: str
    field: str
    old: Any
    new: Any


def print_diff(old: str, new: str, format_: str) -> int:
    """The exit code: 0 where both say the same, 1 where they do not."""
    try:
        from loralint.authoring.golden_lists import flat
        from loralint.authoring.load import AuthoringError
    except ImportError as error:
        raise usage(f"reading golden files needs {error.name}: pip install '.[authoring]' in a checkout") from None
    try:
        changes = list(compare(flat(old), flat(new)))
    except (AuthoringError, OSError) as error:
        raise usage(str(error)) from None
    if format_ == "json":
        click.echo(json.dumps([change._asdict() for change in changes], indent=1))
    else:
        click.echo("\n".join(_lines(changes)))
    return int(bool(changes))


def compare(old: dict[tuple[str, str], Any], new: dict[tuple[str, str], Any]) -> Iterator[Change]:
    """Every change, by parameter and entry. old, new: (parameter, id) -> fields."""
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before is None or after is None:
            yield Change(*key, "", before, after)
            continue
        for field in sorted(before.keys() | after.keys()):
            if before.get(field) != after.get(field):
                yield Change(*key, field, before.get(field), after.get(field))


def _lines(changes: list[Change]) -> Iterator[str]:
    told = ""
    for one in changes:
        head = f"{one.parameter}  {one.entry}"
        if head != told:
            told = head
            yield clean(head)
        if not one.field:
            yield "  the entry is new" if one.old is None else "  the entry is gone"
            continue
        yield f"  {one.field}: {_text(one.old)} -> {_text(one.new)}"
    yield f"{len(changes)} changes" if changes else "both say the same"


def _text(value: Any) -> str:
    """Bounds as `above 1.5: S`, conditions and lists as JSON."""
    if value is None:
        return "nothing"
    if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, (list, dict)) for one in value)):
        return clean(json.dumps(value, ensure_ascii=False), 300)
    return shown(value, 300)
