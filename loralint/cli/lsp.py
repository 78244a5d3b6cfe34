"""`loralint lsp`."""

from __future__ import annotations

from importlib.util import find_spec

import click

from loralint.cli.options import usage


@click.command("lsp")
def command() -> None:
    """Serve an editor: findings as you type, quick fixes and explanations, over standard input and output.

    Editors start it themselves; docs/editors.md says how. GPU, versions and ignored rules come from loralint.toml.
    """
    if find_spec("pygls") is None:
        raise usage("the language server needs pygls: pip install '.[lsp]' in a checkout")
    from loralint.lsp.server import server

    server().start_io()
