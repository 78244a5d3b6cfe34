"""`loralint init`."""

from __future__ import annotations

import os

import click

from loralint.api import check
from loralint.cli.init_files import files, forge_of, found_in
from loralint.cli.options import usage


@click.command("init")
@click.option("--forge", type=click.Choice(["auto", "github", "gitlab", "none"]), default="auto", show_default=True,
              help="Whose workflow to write.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing.")
def command(forge: str, dry_run: bool) -> None:
    """Set this repository up: settings, pre-commit hooks and a workflow, from the runs and cards that it names.

    A file that is there already is never changed; what would have gone into it is printed.
    """
    try:
        found = found_in(check(".", show_settings=True))
    except ValueError as error:
        raise usage(str(error)) from None
    wanted = files(found, forge_of(".") if forge == "auto" else forge.replace("none", ""))
    for path, text in wanted.items():
        click.echo(_done(path, text, dry_run))
    if len(wanted) == 2 and forge == "auto":
        click.echo("no workflow: nothing tells whether this is on GitHub or GitLab; --forge says it")
    if not dry_run:
        click.echo("next: `loralint check .`, and `pre-commit install`")


def _done(path: str, text: str, dry_run: bool) -> str:
    """Write a file that is not there, and say what was done."""
    if _taken(path):
        return f"{path}: there already, left as it is. loralint's part would be:\n\n{text}"
    if dry_run:
        return f"{path}: would be written:\n\n{text}"
    if folder := os.path.dirname(path):
        os.makedirs(folder, exist_ok=True)
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
    return f"{path}: written"


def _taken(path: str) -> bool:
    """Whether there is such a file, or settings in another place."""
    if path == "loralint.toml" and os.path.isfile("pyproject.toml"):
        with open("pyproject.toml", encoding="utf-8", errors="replace") as file:
            if "[tool.loralint" in file.read(1 << 20):
                return True
    return os.path.lexists(path)
