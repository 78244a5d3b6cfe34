"""What the caller names for a run: files that can be read, and a launch line that a shell takes.

A file of the project that cannot be read is a note of its run; one that the caller names is the caller's mistake.
"""

from __future__ import annotations

import os

import click

from loralint.source.shown import shown


def readable(path: str) -> str:
    """The path of a regular file. Raises click.BadParameter with the reason why it cannot be read."""
    from loralint.source.read import NotRegularError, open_regular

    try:
        open_regular(path).close()
    except NotRegularError as error:
        raise click.BadParameter(f"{shown(path)!r} is {error}, not a regular file") from None
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        reason = os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else "no usable name"
        raise click.BadParameter(f"{shown(path)!r} cannot be read: {reason}") from None
    return path


def companions(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """The files of `--with`."""
    del ctx, param
    return tuple(map(readable, given))


def map_of(path: str) -> str:
    """What a ConfigMap is made of: a file, or a folder that can be listed."""
    if not os.path.exists(path):
        raise click.BadParameter(f"there is no file or folder {shown(path)!r}")
    if not os.path.isdir(path):
        return readable(path)
    if not os.access(path, os.R_OK | os.X_OK):
        raise click.BadParameter(f"the folder {shown(path)!r} cannot be read")
    return path


def launch(ctx: click.Context, param: click.Parameter, line: str) -> str:
    """The line of `--launch`, where a shell would run it; what a here-document lacks, bash adds itself.

    The line is not repeated: it may hold a token.
    """
    del ctx, param
    if not line:
        return line
    from loralint.api import launch_line
    from loralint.source.shell import read_shell

    document = launch_line(line)
    shell = read_shell(document)
    open_ones = [message for kind, message, *_ in shell.faults if kind == "unterminated" and "here-doc" not in message]
    reasons = [*(problem.message for problem in document.problems), *open_ones]
    if reasons:
        raise click.BadParameter(f"the shell would not take this line: {reasons[0]}")
    return line
