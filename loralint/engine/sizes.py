"""What the runs of one file take of a GPU's memory, part by part, for people to look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.facts import FACTS
from loralint.facts.scope import Scope
from loralint.model import Value
from loralint.run.options import Options
from loralint.run.project import Project
from loralint.run.starts import starts
from loralint.source.document import Document

PARTS = ("weights", "adapters", "gradients", "optimizer", "activations", "logits")


class Sizes(NamedTuple):
    """Of one run: its files, its framework, GiB of each part, the peak, half the band and the card."""

    files: tuple[str, ...]
    framework: str
    parts: dict[str, Value]
    peak: Value
    band: Value
    measured: Value
    card: Value


def sizes(document: Document, options: Options, project: Project) -> Iterator[Sizes]:
    """One for each run that the file starts; what is not known says why."""
    for one in starts(document, options, project):
        scope = Scope(one.config, FACTS, one.observations, one.events)
        yield Sizes(
            tuple(document.file for document in one.documents),
            one.config.reader.title,
            {part: scope.get(f"memory.{part}") for part in PARTS},
            scope.get("memory.peak"),
            scope.get("memory.band"),
            scope.get("memory.measured"),
            scope.get("gpu.memory_gib"),
        )
