"""The cards and machines that a file asks a cloud or a runner for, beside the commands that it hands over.

A machine has the cards that are asked for and no more. What may be one of several is not told, nor a count in a range.
Sources: docs.skypilot.co/en/latest/reference/yaml-spec (`accelerators`); dstack 0.19 core/models/resources.py (a text
is split at colons; vendor, names, memory and count in any order); learn.microsoft.com reference-yaml-job-command
(`instance_count`, `process_count_per_instance`); docs.docker.com/reference/compose-file/deploy (`devices`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, value, whole, word
from loralint.frameworks.table import Reader, Values
from loralint.model import Unknown
from loralint.source.document import Document

_SEVERAL = "the cloud may choose among {}"
_MEMORY = re.compile(r"[\d.]+[GTM]B", re.IGNORECASE)

# What is asked for: field -> where it stands and what it says.
Asked = Iterator[tuple[str, At, object]]


def _skypilot(unit: At) -> Asked:
    asked = inside(unit, "resources.accelerators")
    if inside(unit, "resources.any_of") is None and inside(unit, "resources.ordered") is None and asked is not None:
        counted = [(one, one.label.raw, text(one)) for one in entries(asked) if one.label is not None]
        said = [(one, *_named(text(one))) for one in (items(asked) or [asked]) if text(one)] or counted
        yield from _cards(said)
    yield from _machines(named(unit, "num_nodes"))


def _named(spec: str) -> tuple[str, str]:
    """Name and count of `A100:8`; one card where none is counted."""
    name, _, count = spec.partition(":")
    return name, count or "1"


def _cards(said: list[tuple[At, str, str]]) -> Asked:
    """Of cards to choose from nobody knows which it will be. said: place, name and count of each."""
    if len({name for _, name, _ in said}) == 1:
        yield "run.gpu", said[0][0], _known(said[0][1])
    elif said:
        yield "run.gpu", said[0][0], Unknown(_SEVERAL.format(", ".join(name for _, name, _ in said)))
    if len({count for _, _, count in said}) == 1 and said[0][2].isdigit():
        yield from _count(said[0][0], int(said[0][2]))


def _known(name: str) -> object:
    """The name where it is a GPU's of the list, None for any other."""
    from loralint.knowledge.hardware import gpu

    return name if gpu(name) is not None else None


def _count(at: At | None, number: int | None) -> Asked:
    if at is not None and number:
        yield "job.gpus_per_node", at, number
        yield "dist.visible_devices", at, number


def _machines(at: At | None) -> Asked:
    if at is not None and whole(at):
        yield "job.nodes", at, whole(at)


def _dstack(unit: At) -> Asked:
    asked = inside(unit, "resources.gpu")
    if asked is not None and asked.node.kind == "mapping":
        held = named(asked, "name")
        names = [text(one) for one in items(held)] or [text(held)]
        yield from _dstack_cards(asked, names, word(asked, "memory"), word(asked, "count") or "1")
    elif asked is not None:
        yield from _dstack_text(asked, text(asked).split(":"))
    yield from _machines(named(unit, "nodes"))


def _dstack_text(at: At, parts: list[str]) -> Asked:
    memory = next((one for one in parts if _MEMORY.fullmatch(one)), "")
    count = next((one for one in parts if one.isdigit() or (".." in one and "B" not in one.upper())), "1")
    left = [one for one in parts if one not in (memory, count) and not _MEMORY.match(one) and ".." not in one]
    yield from _dstack_cards(at, left[-1].split(",") if left else [], memory, count)


def _dstack_cards(at: At, names: list[str], memory: str, count: str) -> Asked:
    sized = f"-{memory.upper()}" if _MEMORY.fullmatch(memory) else ""
    whole_names = [name if sized and _known(f"{name}{sized}") is None else f"{name}{sized}" for name in names if name]
    yield from _cards([(at, name, count) for name in whole_names] or [(at, "", count)])


def _azure(unit: At) -> Asked:
    nodes = inside(unit, "resources.instance_count")
    each = inside(unit, "distribution.process_count_per_instance")
    yield from _machines(nodes)
    if each is not None and whole(each) and text(inside(unit, "distribution.type")).lower() == "pytorch":
        yield "job.processes_per_node", each, whole(each)


def _compose(unit: At) -> Asked:
    held = items(inside(unit, "deploy.resources.reservations.devices"))
    if len(held) == 1:
        counted, listed = named(held[0], "count"), named(held[0], "device_ids")
        yield from _count(counted, whole(counted))
        yield from _count(listed, len(items(listed)))


def _beaker(unit: At) -> Asked:
    counted = inside(unit, "resources.gpuCount")
    yield from _count(counted, whole(counted))
    yield from _machines(named(unit, "replicas"))


def _vertex(unit: At) -> Asked:
    machine = named(unit, "machineSpec") or named(unit, "machine_spec")
    kind = named(machine, "acceleratorType") or named(machine, "accelerator_type")
    counted = named(machine, "acceleratorCount") or named(machine, "accelerator_count")
    if kind is not None and text(kind):
        yield "run.gpu", kind, _known(text(kind).replace("_", "-"))
    yield from _count(counted, whole(counted))


def _nothing(_: At) -> Asked:
    yield from ()


_ASKED: dict[str, Callable[[At], Asked]] = {
    "SkyPilot": _skypilot,
    "dstack": _dstack,
    "Azure ML": _azure,
    "Docker Compose": _compose,
    "Beaker": _beaker,
    "Vertex AI": _vertex,
}


def asked_of(kind: str, unit: At) -> dict[str, tuple[At, object]]:
    """Field -> where a unit of a file asks for it, and what. kind: as in `frameworks.tasks`."""
    found = {field: (at, said) for field, at, said in _ASKED.get(kind, _nothing)(unit) if said is not None}
    at, each = found.get("job.gpus_per_node", (unit, 0))
    nodes = found.get("job.nodes", (unit, 1))[1]
    if isinstance(each, int) and isinstance(nodes, int) and each:
        found["run.gpu_count"] = at, each * nodes
    return found


def reader_of(kind: str, unit: At) -> Reader:
    """The reader of what a unit asks for."""

    def combine(document: Document, _: Values) -> Values:
        asked = asked_of(kind, unit).items()
        return {field: (value(document, at, said)._replace(field=field),) for field, (at, said) in asked}

    return Reader(
        name="cloud", title=kind, dialect="pyyaml", table=(), keys="", coerces=True, packages=(), combine=combine,
        documents=True,
    )  # fmt: skip
