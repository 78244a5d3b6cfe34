"""What of a job says where it runs: Kueue and its like fill that in while the job is suspended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loralint.webhook.objects import Object, mapping

# Fields of pods, and of jobs, that decide which hardware a training meets and how much of it.
_FIELDS = frozenset(
    {
        "nodeSelector", "affinity", "tolerations", "schedulingGates", "resources", "resourcesPerNode", "resourceClaims",
        "runtimeClassName", "numNodes", "numProcPerNode", "parallelism", "replicas", "nprocPerNode",
    }
)  # fmt: skip
_DEEP = 40


def is_suspended(obj: Object) -> bool:
    """Whether a job waits, as every kind that Kueue queues can."""
    spec = mapping(obj.get("spec"))
    return spec.get("suspend") is True or mapping(spec.get("runPolicy")).get("suspend") is True


def scheduling(obj: Object) -> list[tuple[str, object]]:
    """Every field that says where the pods run, with its place."""
    return list(_found(obj.get("spec"), "", _DEEP))


def _found(node: object, at: str, depth: int) -> Iterator[tuple[str, object]]:
    if depth and isinstance(node, Mapping):
        for key in sorted(map(str, node)):
            if key in _FIELDS:
                yield f"{at}/{key}", node[key]
            else:
                yield from _found(node.get(key), f"{at}/{key}", depth - 1)
    elif depth and isinstance(node, list):
        for index, one in enumerate(node):
            yield from _found(one, f"{at}/{index}", depth - 1)
