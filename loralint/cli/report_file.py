"""The HTML report at the command line: what it takes, and where `--probe` puts one that nobody asked for."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import click

from loralint.cli.options import usage
from loralint.model import Report
from loralint.render import DRAWN, render
from loralint.source.read import NotRegularError, open_regular
from loralint.source.shown import path

DEFAULT = "loralint-report.html"
_OURS = b'content="loralint '  # stands near the start of every report
_INSTALL = "pip install '.[report]' in a checkout"


def needs_templates(format_: str) -> str:
    """The format. Raises click.UsageError for one that cannot be made here."""
    if format_ in DRAWN and find_spec("jinja2") is None:
        raise usage(f"an HTML report needs jinja2: {_INSTALL}")
    return format_


def draws(given: dict[str, Any]) -> bool:
    """Whether a format that draws is asked for, or `--probe` brings one."""
    return not DRAWN.isdisjoint((given["format_"], *dict(given["outputs"]))) or _unasked(given)


def write_unasked(report: Report, given: dict[str, Any]) -> None:
    """The report of a probe in the working folder. Says where it is, or why there is none; never fails."""
    if not _unasked(given) or not any(run.framework for run in report.runs):
        return
    if find_spec("jinja2") is None:
        click.echo(f"no HTML report: it needs jinja2 ({_INSTALL}); --no-report says that none is wanted", err=True)
    elif os.path.lexists(DEFAULT) and not _ours():
        click.echo(f"no HTML report: {DEFAULT} is another file; --output html=FILE names a place", err=True)
    else:
        _write(render("html", report, color=False))


def _unasked(given: dict[str, Any]) -> bool:
    return given["probe"] and not given["no_report"] and DRAWN.isdisjoint((given["format_"], *dict(given["outputs"])))


def _ours() -> bool:
    """Whether what stands there is a report of ours, which a new one replaces."""
    if os.path.islink(DEFAULT):
        return False
    try:
        with open_regular(DEFAULT) as file:
            return _OURS in file.read(2000)
    except (OSError, NotRegularError):
        return False


def _write(text: str) -> None:
    try:
        with open(DEFAULT, "w", encoding="utf-8", newline="") as file:
            file.write(text)
    except OSError as error:
        with suppress(OSError):  # half a page, where the disk is full
            os.remove(DEFAULT)
        click.echo(f"no HTML report: {DEFAULT}: {error.strerror}", err=True)
    else:
        click.echo(f"report: {path(os.path.abspath(DEFAULT))}", err=True)
