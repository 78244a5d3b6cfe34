"""A bar on the terminal while rows are read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from loralint.engine.lint import Job


@contextmanager
def watched(job: Job) -> Iterator[Job]:
    """The job, with its progress shown on standard error where that is a terminal and there are rows to read."""
    if job.data is None or not sys.stderr.isatty():
        yield job
        return
    with click.progressbar(length=job.data.size, label="rows", file=sys.stderr) as bar:
        yield job._replace(data=job.data._replace(progress=bar.update))
