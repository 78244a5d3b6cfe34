"""A Report in, text out: one module per format."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from loralint.model import Report

FORMATS = ("full", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
WITH_FIXES = frozenset({"json", "sarif", "html"})  # formats that show the edits of a fix
FROM_ROOT = frozenset({"sarif", "junit", "github", "gitlab", "markdown"})  # that name files from the repository's root
DRAWN = frozenset({"html"})  # that show settings and figures of every run
# Of `##[`, by which GitHub's runner knows a command anywhere in its log, the bracket as these formats may write it too;
# text for people has it escaped where values are quoted (`source.clean`).
_BRACKETS = {"json": "\\u005b", "sarif": "\\u005b", "gitlab": "\\u005b", "junit": "&#91;", "html": "&#91;"}
_MODULES = {"json": "json_v1"}  # where it is called otherwise than its format


def render(name: str, report: Report, *, color: bool) -> str:
    """The report in a format of `FORMATS` (or "statistics"), ending in a newline unless empty."""
    module = import_module(f"loralint.render.{_MODULES.get(name, name)}")
    text = silent(cast("str", module.render(report, color=color)), report)
    return text.replace("##[", f"##{_BRACKETS[name]}") if name in _BRACKETS else text


def silent(text: str, report: Report) -> str:
    """A text made of a report, without the values that its files or settings give to keys of secrets.

    They may have gone on to other keys, by `$(HF_TOKEN)`.
    """
    from loralint.source.secrets import key_of_secret, names_one

    texts = [one for one in {*report.texts.values(), *report.cells.values()} if names_one(one)]
    under = [one.value for run in report.runs for one in run.settings if key_of_secret(one.value.key)]
    if not texts and not under:
        return text
    from loralint.source.credentials import hide, telling, values

    given = {one.value for one in under if isinstance(one.value, str) and telling(one.value)}
    return hide(text, given.union(*map(values, texts)))
