"""`loralint golden`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from loralint.knowledge.data import part
from loralint.source.shown import shown


@click.command("golden")
@click.argument("parameter", required=False, metavar="[PARAM]")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def command(parameter: str | None, format_: str) -> None:
    """Show the golden parameter list, or one parameter with its conditions, bounds and sources. `gpu` lists the cards."""
    hot: Any = part("golden")
    cold: Any = part("golden_cold")
    if parameter in ("gpu", "run.gpu"):
        click.echo("\n".join(_cards()))
        return
    names = [name for name in sorted(hot) if parameter is None or parameter in (name, name.partition(".")[2])]
    if not names:
        raise click.UsageError(f"no golden parameter is called `{parameter}`; without a name, all are listed")
    if format_ == "json":
        import json

        click.echo(json.dumps({name: {**cold[name], "entries": _joined(hot[name], cold[name])} for name in names}, indent=1))
        return
    for name in names:
        click.echo("\n".join(_one(name, hot, cold) if parameter else _line(name, hot, cold)))


def _joined(entries: Any, cold: Any) -> list[Any]:
    return [{**entry, **cold["entries"][entry["id"]]} for entry in entries]


def _line(name: str, hot: Any, cold: Any) -> Iterator[str]:
    yield f"{name:26} {cold[name]['title']} ({len(hot[name])} {'entry' if len(hot[name]) == 1 else 'entries'})"


def _one(name: str, hot: Any, cold: Any) -> Iterator[str]:
    yield f"# {name}: {cold[name]['title']}" + (f", in {cold[name]['unit']}" if cold[name].get("unit") else "")
    yield ""
    yield cold[name]["why"].strip()
    for entry in _joined(hot[name], cold[name]):
        yield ""
        yield f"{entry['id']} {entry['name']}"
        yield f"    holds for    {entry['conditions'].strip()}"
        yield from _numbers(entry)
        yield f"    evidence     {entry['evidence']}"
        yield from (f"    source       {source}" for source in entry["sources"])


def _numbers(entry: Any) -> Iterator[str]:
    if entry.get("recommended") is not None:
        yield f"    recommended  {shown(entry['recommended'])}"
    if entry.get("range"):
        yield f"    accepted     {shown(entry['range'][0])} to {shown(entry['range'][1])}"
    if entry.get("set"):
        yield f"    accepted     {shown(entry['set'])}"
    for bound in entry["bounds"]:
        side = next(key for key in bound if key not in ("tier", "then"))
        yield f"    {side.replace('_', ' '):12} {shown(bound[side])}: {bound['tier']}, {bound['then']}"


def _cards() -> Iterator[str]:
    rows: Any = part("hardware")
    for row in rows["gpus"] if isinstance(rows, dict) and "gpus" in rows else rows:
        capability = row.get("compute_capability")
        yield f"{row['name']:24} {row.get('vendor', ''):8} {f'cc {capability}' if capability else '':8} {row.get('memory_gib', '?')} GiB"
