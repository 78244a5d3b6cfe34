"""The command line: one module per command, imported when it is called."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from loralint.version import __version__

# A file makes some thousand objects that die together when its run is judged; nothing of ours is a cycle. Looking for
# cycles at Python's usual pace took a third of the time of a folder.
_COLLECT_AFTER = 50_000

COMMANDS = {
    "check": "Lint training configs.",
    "inspect": "Look over a folder before the launch: runs, secrets, contradictions, variables, fixes.",
    "watch": "Say what the log of a training in progress shows.",
    "show": "Show a run's effective settings and where each comes from.",
    "explain": "Explain a rule, or find the rule behind an error text.",
    "rules": "List the rules.",
    "golden": "Show the golden parameter list, or one parameter.",
    "schema": "Print the JSON Schema of a framework's config, of rules, golden entries, settings or the report.",
    "init": "Set a repository up: settings, pre-commit hooks, workflow.",
    "baseline": "Record today's findings so that only new ones count.",
    "gate": "Decide whether a change may be merged, by what is new in it.",
    "approve": "Approve a finding of tier A, as one of two people.",
    "signed": "Check that commits which change configs are signed, before a push.",
    "audit": "Verify or show the records of what fixes changed.",
    "lsp": "Serve an editor: findings as you type, quick fixes, explanations.",
    "serve": "Serve a Kubernetes API server as an admission webhook.",
    "scan-cluster": "Judge what a Kubernetes cluster already holds.",
    "certs": "Make and renew the webhook's own certificates in a cluster.",
}


def _help(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    del option
    if asked and not ctx.resilient_parsing:
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _version(ctx: click.Context, option: click.Parameter, asked: bool) -> None:
    del option
    if asked and not ctx.resilient_parsing:
        click.echo(f"loralint, version {__version__}", color=ctx.color)
        ctx.exit()


# In one language: to translate a text, click reads the locales of the machine, which takes 1 % of a check.
_HELP = click.Option(
    ["-h", "--help"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_help,
    help="Show this message and exit.",
)


class Plain(click.Command):
    """A command with `_HELP` instead of click's own."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """That of all commands of this class."""
        del ctx
        return _HELP


class Lazy(Plain, click.Group):
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
        command: click.Command = import_module(f"loralint.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of `--help`, without importing a single command."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. What nobody foresaw ends in one line that quotes nothing of a config, and exit code 3."""
        gc.set_threshold(_COLLECT_AFTER)
        gc.enable()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):  # an output that knows ASCII only still gets all of it
                stream.reconfigure(errors="backslashreplace")
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, EOFError):
            raise
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of our output has gone; click ends quietly
                raise
            raise click.UsageError(f"{error.filename or 'output'}: {error.strerror}") from None
        except Exception as error:
            if os.environ.get("LORALINT_TRACEBACK"):
                raise
            click.echo(_internal(error), err=True)
            sys.exit(3)


def _internal(error: Exception) -> str:
    """Names the place in our code; the error's own text may hold a piece of the config, so it is left out."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "an unknown place"
    return (
        f"internal error: {type(error).__name__} at {place}; please report it "
        "(LORALINT_TRACEBACK=1 shows the traceback, which may quote the config)"
    )


@click.command(
    cls=Lazy,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: loralint check config.yaml --gpu T4",
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Find what will kill, waste or spoil a LoRA fine-tune before it starts.

    Exit codes: 0 passed, 1 not passed, 2 usage or settings error, 3 internal error, 4 nothing to lint
    (with --require-files), 130 Ctrl-C during --probe.
    """
