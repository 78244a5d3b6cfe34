"""`loralint golden`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from loralint.cli.group import Listing
from loralint.cli.options import own_rules
from loralint.cli.output import color, width
from loralint.knowledge.data import added, part

_GPU = ("gpu", "run.gpu")


def _parameters(ctx: click.Context, param: click.Parameter, typed: str) -> list[str]:
    del ctx, param
    hot: Any = part("golden")
    return [name for name in ("gpu", *sorted(hot)) if name.startswith(typed)]


@click.group("golden", cls=Listing)
def command() -> None:
    """Show the golden list, or what changed between two of them."""


@command.command("list")
@click.argument("words", nargs=-1, metavar="[PARAM | gpu [NAME]]", shell_complete=_parameters)
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the list.")
def list_(words: tuple[str, ...], format_: str) -> None:
    """Show the golden list: which values are known to train well, under which conditions, and from which sources.

    Without PARAM it names every parameter; with one (optim.lr, just lr, or learning_rate as a trainer calls it) it
    shows all that is known of it. `gpu` lists the cards, `gpu T4` what one of them can do. `list` itself may be left
    out.
    """
    if words and words[0] in _GPU:
        click.echo("\n".join(_cards(" ".join(words[1:]))))
        return
    own_rules()
    hot: Any = {**part("golden"), **added("golden_keys")}
    cold: Any = {**part("golden_cold"), **added("golden_keys_cold")}
    wanted = " ".join(words)
    names = [name for name in sorted(hot) if wanted in ("", name, name.partition(".")[2], name.partition(": ")[2])]
    names = names or [name for name in sorted(hot) if name in _called(wanted)]
    if not names:
        raise click.UsageError(f"no golden parameter is called `{wanted}`{_close(wanted, list(hot))}")
    if format_ == "json":
        import json

        listed = {name: {**cold[name], "entries": _joined(hot[name], cold[name])} for name in names}
        click.echo(json.dumps(listed, indent=1))
    elif wanted:
        click.echo("\n".join(_page(name, hot[name], cold[name]) for name in names), nl=False, color=color())
    else:
        for name in names:
            click.echo(f"{name:24} {len(hot[name]):2}  {cold[name]['title']}")
        click.echo(
            f"\n{len(names)} parameters, entries of each; `loralint golden optim.lr` shows one, `golden gpu` the cards"
        )


@command.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Format of the changes.")
def diff(old: str, new: str, format_: str) -> None:
    """Say what changed between two golden lists: bounds, tiers, recommended values, conditions, sources.

    OLD and NEW are files or folders of golden entries, what `loralint golden --format json` printed (of any version),
    or `shipped` for the list of this version. Exit code 1 when anything changed.
    """
    from loralint.cli.golden_diff import print_diff

    sys.exit(print_diff(old, new, format_))


def _called(key: str) -> set[str]:
    """The canonical fields that some trainer's key of this name sets."""
    from loralint.frameworks.detect import NAMES, reader

    rows = (row for module in NAMES.values() for row in reader(module).table)
    return {row.field for row in rows if key and row.key.rpartition(".")[2] == key}


def _close(word: str, names: list[str]) -> str:
    import difflib

    spelt = {spelling.lower(): name for name in names for spelling in (name, name.partition(".")[2])}
    close = dict.fromkeys(spelt[one] for one in difflib.get_close_matches(word.lower(), spelt, 3, 0.6))
    return f"; perhaps {', '.join(close)}" if close else "; without a name, all are listed"


def _joined(entries: Any, cold: Any) -> list[Any]:
    return [{**entry, **cold["entries"][entry["id"]]} for entry in entries]


def _page(name: str, hot: Any, cold: Any) -> str:
    from loralint.render.golden_page import golden_page
    from loralint.render.page import as_text
    from loralint.render.style import Style

    return as_text(golden_page(name, hot, cold), Style(color()), width())


def _cards(name: str) -> Iterator[str]:
    rows: Any = part("hardware")["gpus"]
    if name:
        from loralint.knowledge.hardware import parse_gpus

        found, _ = parse_gpus(name)
        if found is None:
            raise click.UsageError(f"no GPU `{name}` is known; `loralint golden gpu` lists them")
        sizes = [found.memory_gib] if found.memory_gib else found.memory_options
        rows = [found._asdict() | {"memory": sizes}]
    yield f"{'GPU':24} {'vendor':9} {'compute':8} {'GiB':10} bf16, tf32, FlashAttention 2, fp8"
    for row in rows:
        memory = ", ".join(f"{size:g}" for size in row.get("memory", ())) or "?"
        compute = row.get("compute_capability") or "-"
        yield f"{row['name']:24} {row['vendor']:9} {compute:<8} {memory:10} {_abilities(row)}"


def _abilities(row: Any) -> str:
    """What the hardware can do; a question mark where that is not known."""
    marks = {True: "", None: "?"}
    words = {"bf16": "bf16", "tf32": "tf32", "flash_attention_2": "flash2", "fp8": "fp8"}
    return (
        " ".join(word + marks[row.get(name)] for name, word in words.items() if row.get(name) in marks)
        or "none of these"
    )
