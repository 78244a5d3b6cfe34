"""What the facts say of a run in numbers, as tables for formats that draw; one that is not known says why.

Only such a format pays for it: the sum of memory and the model's modules take milliseconds a run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loralint.checks.golden import applicable
from loralint.engine.lint import Job
from loralint.facts.scope import Scope
from loralint.knowledge.data import part
from loralint.model import Setting, Table, Unknown, Value
from loralint.run.config import Config

PARTS = ("weights", "adapters", "gradients", "optimizer", "activations", "logits")
_SUMS = ("peak", "band", "measured")


def drawing(job: Job) -> Job:
    """The job whose runs carry their settings and figures."""
    return job._replace(show_settings=True, count_trained=False, figures=True)


def figures(config: Config, scope: Scope) -> tuple[Table, ...]:
    """golden, schedule, targets and memory, those of them that the run has."""
    trains_lora = scope.get("lora.on").value is True
    return (
        Table("golden", "the golden list", ("setting", "entry", "reason"), tuple(_golden(config, scope))),
        _listed(scope, "schedule", "lr.course", ("step", "learning rate")),
        *([_listed(scope, "targets", "lora.coverage", _COVERAGE)] if trains_lora else []),
        *_memory(scope),
    )


_COVERAGE = ("path", "layers", "adapted", "trained whole", "parameters")


def _golden(config: Config, scope: Scope) -> Iterator[tuple[object, ...]]:
    """A row for every parameter of the list that the run has a value for, with the id of the entry that counts."""
    every: Any = part("golden")
    for name in every:
        value = scope.get(name)
        if value.value is None:
            continue
        if isinstance(value.value, Unknown):
            yield _setting(config, name, value), "", value.value.reason
            continue
        entry = applicable(scope, name)
        if isinstance(entry, Unknown):
            yield _setting(config, name, value), "", entry.reason
        elif entry is not None:
            yield _setting(config, name, value), entry["id"], ""


def _setting(config: Config, name: str, value: Value) -> Setting:
    return Setting(name, value if value.key or value.origin == "derived" else value._replace(key=config.key(name)))


def _listed(scope: Scope, name: str, fact: str, columns: tuple[str, ...]) -> Table:
    value = scope.get(fact).value
    if isinstance(value, Unknown):
        return Table(name, value.reason, ("not known",), ())
    return (
        Table(name, "", columns, tuple(tuple(row) for row in value))
        if isinstance(value, list)
        else Table(name, "", (), ())
    )


def _memory(scope: Scope) -> Iterator[Table]:
    """GiB of each part at the peak, then the peak, half its band, whether such runs were measured, and the card."""
    peak = scope.get("memory.peak").value
    if isinstance(peak, Unknown):
        yield Table("memory", peak.reason, ("not known",), ())
        return
    rows = [(name, scope.get(f"memory.{name}").value) for name in (*PARTS, *_SUMS)]
    yield Table("memory", "", ("part", "GiB"), (*rows, ("card", scope.get("gpu.memory_gib").value)))
