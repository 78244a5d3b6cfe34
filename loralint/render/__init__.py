"""A Report in, text out: one module per format."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from loralint.model import Report

FORMATS = ("full", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
WITH_FIXES = frozenset({"json", "sarif", "html"})  # formats that show the edits of a fix
FROM_ROOT = frozenset({"sarif", "junit", "github", "gitlab", "markdown"})  # that name files from the repository's root
DRAWN = frozenset({"html"})  # that show settings and figures of every run
_MODULES = {"json": "json_v1"}  # where it is called otherwise than its format


def render(name: str, report: Report, *, color: bool) -> str:
    """The report in a format of `FORMATS` (or "statistics"), ending in a newline unless empty."""
    module = import_module(f"loralint.render.{_MODULES.get(name, name)}")
    return cast("str", module.render(report, color=color))
