"""What a TrainJob lays over its runtime (kubeflow/trainer): pods, under the name that each release has for it; flags.

`podSpecOverrides` in 2.0, `podTemplateOverrides` in 2.1, `runtimePatches` since 2.2; the later one of a list counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.command import Executed, flags_of
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Group, Job
from loralint.frameworks.readers.kubernetes.tree import At, inside, items, named, word
from loralint.source.document import Node, Pair

_DEEP = 12  # of a pod that is laid over; real ones need six
_PLACING = frozenset({"nodeSelector", "affinity"})


class _Override(NamedTuple):
    """names: of the groups that are meant, none for all. pod: what is laid over theirs."""

    names: frozenset[str]
    pod: At


def overridden(runtime: Job, job: Job) -> Job:
    """A runtime as a TrainJob has it that names it; any other as it is.

    Places are those of one file: of a runtime in another one only what decides on the node is taken away, so that it
    is unknown.
    """
    over = list(_overrides(job.spec))
    if not over or word(inside(job.spec, "runtimeRef"), "name") != runtime.name:
        return runtime
    lay = _merged if runtime.document is job.document else _without
    return runtime._replace(pods=tuple(_laid_over(group, over, lay) for group in runtime.pods))


def overrule(runtime: Job, found: Executed) -> None:
    """Take the flags away that a runtime gives and its job gives again behind them, as jobs are meant to."""
    if runtime.kind not in RUNTIMES:
        return
    own = runtime.root.node
    for part in flags_of(found.launches):
        for mapping in _mappings(part.root):
            gone = [first for first, later in mapping.duplicates() if _within(first, own) and not _within(later, own)]
            if gone:
                mapping.refill([pair for pair in mapping.pairs if pair not in gone])


def _mappings(node: Node | None) -> Iterator[Node]:
    if node is not None and node.kind == "mapping":
        yield node
        for pair in node.pairs:
            yield from _mappings(pair.value)


def _within(pair: Pair, node: Node) -> bool:
    return node.start <= pair.key_node.start < node.end


def _overrides(spec: At) -> Iterator[_Override]:
    for one in items(named(spec, "podSpecOverrides")):
        yield _Override(_targets(one), one)
    for one in items(named(spec, "podTemplateOverrides")):
        if (pod := named(one, "spec")) is not None:
            yield _Override(_targets(one), pod)
    for patch in items(named(spec, "runtimePatches")):
        for one in items(inside(patch, "trainingRuntimeSpec.template.spec.replicatedJobs")):
            if (pod := inside(one, "template.spec.template.spec")) is not None:
                yield _Override(frozenset({word(one, "name")}), pod)


def _targets(override: At) -> frozenset[str]:
    return frozenset(word(one, "name") for one in items(named(override, "targetJobs")))


def _laid_over(group: Group, over: list[_Override], lay: Callable[[Node, Node], Node]) -> Group:
    pod = group.pod
    for one in over:
        if pod is not None and (not one.names or group.role in one.names):
            pod = pod._replace(node=lay(pod.node, one.pod.node))
    return group._replace(pod=pod, containers=tuple(items(named(pod, "containers"))))


def _without(below: Node, over: Node) -> Node:
    made = Node(below.kind, below.tag, below.start_mark, below.end_mark)
    made.refill([pair for pair in below.pairs if pair.key not in _PLACING or over.pair(pair.key) is None])
    return made


def _merged(below: Node, over: Node, depth: int = _DEEP) -> Node:
    """Mappings key by key, lists of what has names by these; of all else the upper one."""
    if not depth or below.kind != over.kind or below.kind == "scalar":
        return over
    made = Node(below.kind, below.tag, below.start_mark, below.end_mark)
    if below.kind == "mapping":
        made.refill(_pairs(below, over, depth))
    elif _named(below) and _named(over):
        made.items = _items(below, over, depth)
    else:
        return over
    return made


def _pairs(below: Node, over: Node, depth: int) -> list[Pair]:
    pairs = {pair.key: pair for pair in below.pairs}
    for pair in over.pairs:
        old = pairs.get(pair.key)
        pairs[pair.key] = pair._replace(value=_merged(old.value, pair.value, depth - 1)) if old else pair
    return list(pairs.values())


def _items(below: Node, over: Node, depth: int) -> list[Node]:
    several = {_name(one): one for one in below.items}
    for one in over.items:
        old = several.get(_name(one))
        several[_name(one)] = _merged(old, one, depth - 1) if old is not None else one
    return list(several.values())


def _named(several: Node) -> bool:
    names = [_name(one) for one in several.items]
    return all(names) and len(set(names)) == len(names)


def _name(one: Node) -> str:
    name = one.get("name") if one.kind == "mapping" else None
    return name.raw if name is not None and name.kind == "scalar" else ""
