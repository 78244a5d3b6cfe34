"""The table of `loralint show --memory`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import click

from loralint.api import around, launch_line, options
from loralint.cli.options import usage
from loralint.engine.settings import Settings
from loralint.engine.sizes import Sizes, sizes
from loralint.facts.memory.answers import LEAST
from loralint.facts.scope import number
from loralint.model import Unknown, Value
from loralint.source.read import read_file
from loralint.source.shown import path as name

_ABOUT = "GiB of one GPU at the peak of a training step whose rows have their full length"
_EVIDENCE = {True: "the formulas were held against an H200", False: "formula only: such runs were not measured"}


def memory_table(path: str, settings: Settings, given: Mapping[str, Any]) -> Iterator[str]:
    """Lines for every run of one file. Raises click.UsageError where it holds none, or an option is not known."""
    if not os.path.isfile(path):
        raise click.UsageError(f"{name(path)}: show --memory looks at one file")
    chosen = {key: given[key] for key in ("gpu", "target", "framework", "rows", "model_config", "model_cache")}
    try:
        asked = options(**chosen, settings=settings)
    except ValueError as error:
        raise usage(str(error)) from None
    asked = asked._replace(companions=tuple(given["companions"]), env=dict(given["env"]))
    project = around([path])
    documents = [*([launch_line(given["launch"])] if given["launch"] else []), read_file(path, path)]
    found = [one for document in documents for one in sizes(document, asked, project)]
    if not found:
        raise click.UsageError(f"{name(path)}: no training config found")
    for one in found:
        yield from _run(one)


def _run(one: Sizes) -> Iterator[str]:
    yield f"{' + '.join(map(name, one.files))} ({one.framework})"
    yield from (f"  {part:12}{_size(value)}" for part, value in one.parts.items())
    yield f"  {'peak':12}{_peak(one)}"
    yield f"  {_ABOUT}; {_EVIDENCE[one.measured.value is True]}"


def _peak(one: Sizes) -> str:
    """The peak with its error; where a part is not counted, what the others take."""
    known = [size for value in one.parts.values() if (size := number(value)) is not None]
    if not isinstance(one.peak.value, Unknown) or not known:
        return f"{_size(one.peak)}{_error(one.band)}{_card(one)}"
    limit = number(one.card)
    verdict = "" if limit is None or sum(known) * LEAST <= limit else f", which does not fit in {limit:g}"
    return f"{sum(known):8.2f} or more{verdict}; not counted: {one.peak.value.reason}"


def _size(value: Value) -> str:
    if isinstance(value.value, Unknown):
        return f"     ?  {value.value.reason}"
    return f"{value.value:8.2f}"


def _error(band: Value) -> str:
    half = number(band)
    return "" if half is None else f" ± {half:.2f}, with the CUDA context"


def _card(one: Sizes) -> str:
    limit, peak, half = (number(value) for value in (one.card, one.peak, one.band))
    if limit is None or peak is None or half is None:
        return ""
    verdict = "does not fit" if peak - half > limit else "may not fit" if peak + half > limit else "fits"
    return f"; {verdict} in {limit:g}"
