"""A report as one HTML file that needs nothing else: no network, no other file, no script but its own few lines.

Every quoted value is escaped by the template engine and has passed `shown`, so that neither mark-up nor controls of the
writing direction nor secrets come out of a config. The page's own policy (CSP) lets nothing run or load but the style
and the script in it, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from loralint.model import Note, Report, Run
from loralint.render.html.told import reasons
from loralint.render.html.view import View, view
from loralint.source.shown import path, shown
from loralint.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

_FOLDER = os.path.join(os.path.dirname(__file__), "templates")
_VERDICTS = ("block", "review", "pass")
_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'"
_MOST = 20_000  # characters of one expression


def render(report: Report, *, color: bool) -> str:
    """The whole page. Raises ImportError without jinja2, which the extra `report` brings."""
    del color
    judged = [run for run in report.runs if _judged(run)]
    views = [view(run, number, report) for number, run in enumerate(judged, 1)]
    style, script = _file("report.css"), _file("report.js")
    return _environment().get_template("report.html").render(
        version=__version__,
        style=_marked(style),
        script=_marked(script),
        policy=f"{_POLICY}; style-src {_hash(style)}; script-src {_hash(script)}",
        runs=views,
        verdicts=[(one, count) for one in _VERDICTS if (count := sum(run.verdict == one for run in views))],
        tiers=sum((run.tiers for run in views), Counter[str]()),
        rules=reasons(dict.fromkeys(one.rule for run in views for _, _, some in run.found for one in some)),
        recorded=report.recorded,
        unread=[(path(run.files[0]), _messages(run.notes)) for run in report.runs if not _judged(run)],
        title=_title(views),
    ) + "\n"  # fmt: skip


def _judged(run: Run) -> bool:
    """Whether there is more to say of it than why nobody looked into it."""
    return run.framework is not None or bool(run.findings)


def _title(views: list[View]) -> str:
    if len(views) == 1:
        return f"{views[0].name}: {views[0].verdict}"
    return f"{len(views)} runs" if views else "no training config found"


def _messages(notes: tuple[Note, ...]) -> str:
    return "; ".join(shown(one.message, 400) for one in notes)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=StrictUndefined, finalize=_shown,
    )  # fmt: skip
    made.filters["number"] = lambda value: f"{value:,}"
    made.filters["coded"] = _coded
    return made


def _shown(value: Any) -> Any:
    """What the template prints: texts that no browser obeys, and numbers as they are."""
    if hasattr(value, "__html__") or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    return shown(value, _MOST)


def _coded(text: str) -> Any:
    """What stands between backticks as code; all of it escaped."""
    from markupsafe import Markup

    parts = shown(text, _MOST).split("`")
    if not len(parts) % 2:  # a backtick without its fellow
        return text
    marked = [Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)]
    return Markup("").join(marked)


@cache
def _file(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _marked(text: str) -> Any:
    """Our own style or script, which the template does not escape."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - a file of this package


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
