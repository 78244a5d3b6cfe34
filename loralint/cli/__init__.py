"""The command line: one module per command, imported when it is called."""

from __future__ import annotations

from importlib import import_module

import click

from loralint.version import __version__

COMMANDS = {
    "check": "Lint training configs.",
    "show": "Show a run's effective settings and where each comes from.",
    "explain": "Explain a rule, or find the rule behind an error text.",
    "rules": "List the rules.",
    "golden": "Show the golden parameter list, or one parameter.",
    "baseline": "Record today's findings so that only new ones count.",
}


class Lazy(click.Group):
    """Knows its commands by name and loads only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order people meet them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, from its own module."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"loralint.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of `--help`, without importing a single command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: loralint check config.yaml --gpu T4",
)
@click.version_option(__version__, "-V", "--version", prog_name="loralint")
def main() -> None:
    """Find what will kill, waste or spoil a LoRA fine-tune before it starts.

    Exit codes: 0 passed, 1 not passed, 2 usage or settings error, 3 internal error, 4 nothing to lint
    (with --require-files).
    """
