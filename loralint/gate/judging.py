"""A written-out commit, judged like a folder that is checked."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir
from typing import NamedTuple

from loralint.api import around, make_job, options, report
from loralint.engine.figures import drawing
from loralint.engine.lint import Job, lint
from loralint.engine.settings import Settings, SettingsError, load_settings
from loralint.gate.tree import Tree
from loralint.model import Report
from loralint.run.project import Project
from loralint.source.discover import Candidate, discover, starts_first
from loralint.source.document import Document
from loralint.source.read import read_bytes, read_file


class Asked(NamedTuple):
    """What the caller knows of the runs; see `loralint.api.check`. fixes: whether findings carry their edits; figures:
    whether runs carry what formats draw.
    """

    gpu: str = ""
    target: tuple[str, ...] = ()
    rows: int | None = None
    fixes: bool = False
    figures: bool = False


def settings_of(tree: Tree) -> Settings:
    """The settings at the top of a commit. Raises SettingsError, naming the file as the repository does."""
    try:
        return load_settings(tree.folder)
    except SettingsError as error:
        raise SettingsError(str(error).replace(tree.folder + os.sep, "")) from None


def judge_tree(tree: Tree, settings: Settings, asked: Asked) -> Report:
    """Every run of the commit. Baselines are left out: what stood at the base is known by comparing."""
    job = _job(tree, settings, asked)
    with chdir(tree.folder):
        found = starts_first(discover(["."], exclude=settings.exclude))
        return report(_documents(found), job, project=around(["."]), grouped=False)


def reads_as_run(tree: Tree, name: str, like: str, settings: Settings, asked: Asked) -> bool:
    """Whether a file would be a training config if it were called like another one."""
    with chdir(tree.folder):
        document = read_bytes(tree.read(name).encode(), like)
        return bool(lint(document, _job(tree, settings, asked)._replace(rules=()), Project()))


def _job(tree: Tree, settings: Settings, asked: Asked) -> Job:
    """Patterns of the settings speak of this commit's files, whichever commit the settings are of."""
    settings = settings._replace(root=tree.folder)
    chosen = options(gpu=asked.gpu, target=asked.target, rows=asked.rows, settings=settings)
    job = make_job(settings, chosen, show_settings=True, fixes=asked.fixes)
    return drawing(job) if asked.figures else job._replace(count_trained=False)


def _documents(found: list[Candidate]) -> Iterator[Document]:
    for one in found:
        if not one.skipped:
            yield read_file(one.path, one.shown)
