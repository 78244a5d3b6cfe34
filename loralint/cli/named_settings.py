"""The settings of what judges objects of a cluster: a file that the caller names, since none lies beside them."""

from __future__ import annotations

import click

from loralint.cli.options import usage

# It goes to each worker as an argument, of which Linux takes 128 KiB.
_MOST = 64 * 1024

settings_file = click.option(
    "--settings", "settings_file", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="A loralint.toml: tiers, rules that are left out, exceptions, a card.",
)  # fmt: skip


def settings_text(file: str | None) -> str:
    """The text of the file, "" for none."""
    if file is None:
        return ""
    with open(file, "rb") as opened:
        raw = opened.read(_MOST + 1)
    if len(raw) > _MOST:
        raise usage(f"{file} has more than {_MOST // 1024} KiB: give a file with settings")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise usage(f"{file} is no UTF-8: save it as such") from None
