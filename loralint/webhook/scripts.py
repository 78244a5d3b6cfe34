"""Maps whose scripts an object runs: nothing else may say that it trains."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.webhook.objects import Object, mapping, wanted_maps

_DEEP = 40


def run_from(obj: Object) -> tuple[str, ...]:
    """The names of the maps that are mounted where a command line of the same container looks, each once."""
    return tuple(dict.fromkeys(name for pod in _pods(obj, _DEEP) for name in _of_pod(pod)))


def _pods(node: object, depth: int) -> Iterator[Object]:
    if depth and isinstance(node, dict):
        if isinstance(node.get("containers"), list):
            yield node
        for key, value in node.items():
            if key not in ("metadata", "status"):
                yield from _pods(value, depth - 1)
    elif depth and isinstance(node, list):
        for one in node:
            yield from _pods(one, depth - 1)


def _of_pod(pod: Object) -> Iterator[str]:
    volumes = [mapping(one) for one in _list(pod.get("volumes"))]
    for container in map(mapping, _list(pod["containers"])):
        words = [*_list(container.get("command")), *_list(container.get("args")), container.get("workingDir")]
        said = " ".join(one for one in words if isinstance(one, str))
        for mount in map(mapping, _list(container.get("volumeMounts"))):
            path = str(mount.get("mountPath") or "").rstrip("/")
            if path and path in said:
                yield from (
                    name for one in volumes if one.get("name") == mount.get("name") for name in wanted_maps(one)
                )


def _list(node: object) -> list[object]:
    return node if isinstance(node, list) else []
