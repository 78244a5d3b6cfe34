"""A Report in, text out: one module per format."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from loralint.model import Report

FORMATS = ("full", "concise", "json")
WITH_FIXES = frozenset({"json"})  # formats that show the edits of a fix
_MODULES = {"full": "full", "concise": "concise", "json": "json_v1", "statistics": "statistics"}


def render(name: str, report: Report, *, color: bool) -> str:
    """The report in a format of `FORMATS` (or "statistics"), ending in a newline unless empty."""
    module = import_module(f"loralint.render.{_MODULES[name]}")
    return cast("str", module.render(report, color=color))
