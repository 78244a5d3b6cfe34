"""`loralint audit`: the records of what fixes changed."""

from __future__ import annotations

import os
import sys

import click

from loralint.cli.options import settings_for, usage
from loralint.engine.audit import audit, in_order
from loralint.engine.trail import FOLDER, Record, read_trail, root_of
from loralint.render.changes import counted, place
from loralint.source.shown import path, shown


@click.group("audit")
def command() -> None:
    """The trail of what fixes changed: one record a change, in .loralint/audit."""


@command.command("verify")
@click.option("--base", metavar="REF", default="", help="A commit whose records must all be there still, such as main.")
def verify(base: str) -> None:
    """Check that every record is as it was written and that none was taken out. Exits with 1 if not.

    A record that others come after is missed without --base as well; the last ones only against a base. That a file was
    edited after its fix is told and is no fault.
    """
    root = _root()
    records, broken = read_trail(root)
    found = audit(root, records, broken, _names(root, base) if base else ())
    for fault in found.faults:
        click.echo(f"fault: {shown(fault)}")
    for note in found.notes:
        click.echo(f"note: {shown(note)}")
    count = counted(len(records), "record") if records else "no records"
    outcome = counted(len(found.faults), "fault") if found.faults else "whole" if records else _nothing(base)
    click.echo(f"{count} in {path(os.path.relpath(os.path.join(root, FOLDER)))}: {outcome}")
    sys.exit(1 if found.faults else 0)


def _nothing(base: str) -> str:
    """What an empty trail tells: without a base nobody sees whether all of its records were taken out."""
    return f"nothing to verify, {'and the base holds none' if base else '--base REF tells whether there were any'}"


@command.command("show")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
def show(paths: tuple[str, ...]) -> None:
    """List the changes, oldest first; of these files or folders only, if some are given."""
    root = _root()
    wanted = [os.path.relpath(os.path.realpath(one), os.path.realpath(root)).replace(os.sep, "/") for one in paths]
    records, _ = read_trail(root)
    for one in in_order(records):
        if not wanted or any(one.file == name or one.file.startswith(f"{name}/") or name == "." for name in wanted):
            _echo(one)


def _echo(one: Record) -> None:
    at = place(one.file, one.line, one.cell)
    click.echo(f"{shown(one.time)}  {shown(one.user)}  {at}  {one.rule} {shown(one.title)}")
    for sign, lines in (("-", one.before), ("+", one.after)):
        for line in lines.splitlines():
            click.echo(f"  {sign} {shown(line, 400)}")


def _root() -> str:
    settings = settings_for(isolated=False)
    return root_of(os.curdir, settings.root if settings.file else os.curdir)


def _names(root: str, base: str) -> list[str]:
    """The names of the records that a commit holds."""
    from loralint.cli.git import names_at
    from loralint.gate.git import GitError

    try:
        found = names_at(root, base, FOLDER.replace(os.sep, "/"))
    except GitError as error:
        raise usage(f"--base {shown(base)}: {shown(error)}") from None
    return [os.path.basename(name).removesuffix(".json") for name in found if name.endswith(".json")]
