"""Bars on the terminal while rows are read and runs are micro-trained."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from loralint.api import probing
from loralint.engine.lint import Job


@contextmanager
def watched(job: Job, given: dict[str, Any]) -> Iterator[Job]:
    """The job, with its progress shown on standard error where that is a terminal.

    given: the options of the command line. Raises ValueError where a probe is asked for that cannot be had.
    """
    if given["probe"]:
        with _probe_watched(job, given) as shown_job:
            yield shown_job
    elif job.data is None or not sys.stderr.isatty():
        yield job
    else:
        with click.progressbar(length=job.data.size, label="rows", file=sys.stderr) as bar:
            yield job._replace(data=job.data._replace(progress=bar.update))


@contextmanager
def _probe_watched(job: Job, given: dict[str, Any]) -> Iterator[Job]:
    from loralint.probe.request import Request

    request = Request(
        given["probe_model"],
        given["probe_steps"],
        given["probe_seconds"] or math.inf,
        given["device"],
        given["seed"],
        data=given["probe_data"],
        suggest=given["probe_suggest"],
        svd=given["probe_svd"],
        tell=lambda said: click.echo(f"probe: {said}", err=True),
    )
    if not sys.stderr.isatty():
        yield probing(job, request)
        return
    parts = 3 if request.suggest else 2  # arms, controls, and the arms with what is suggested
    # No forecast of the time: the first step waits for the model to load, and what is hopeless or STABLE takes fewer.
    with click.progressbar(length=parts * request.steps, label="probe", file=sys.stderr, show_eta=False) as bar:
        yield probing(job, request._replace(progress=bar.update))
        bar.update(max(0, parts * request.steps - bar.pos))
