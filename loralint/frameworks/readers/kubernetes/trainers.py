"""What a TrainJob's trainer lays over the container of its runtime (kubeflow/trainer v2)."""

from __future__ import annotations

from loralint.frameworks.readers.kubernetes.tree import At
from loralint.source.document import Node, Pair


def laid_over(trainer: At | None, container: At) -> At:
    """The container of a runtime with the image, command, arguments, variables and resources of the trainer."""
    if trainer is None or trainer.node.kind != "mapping":
        return container
    pairs = {pair.key: pair for one in (container, trainer) for pair in one.node.pairs}
    pairs |= {"resources": pairs["resourcesPerNode"]} if "resourcesPerNode" in pairs else {}
    env = [pair for one in (container, trainer) if (pair := one.node.pair("env")) and pair.value.kind == "sequence"]
    pairs |= {"env": env[-1]._replace(value=_both(env))} if env else {}
    node = Node("mapping", "map", trainer.node.start_mark, trainer.node.end_mark)
    node.refill(list(pairs.values()))
    return trainer._replace(node=node)


def mounted(trainer: At, container: At) -> At:
    """The trainer with what is mounted in the container of its runtime."""
    pairs = {pair.key: pair for pair in trainer.node.pairs}
    mounts = container.node.pair("volumeMounts")
    pairs |= {"volumeMounts": mounts} if mounts is not None else {}
    node = Node("mapping", "map", trainer.node.start_mark, trainer.node.end_mark)
    node.refill(list(pairs.values()))
    return trainer._replace(node=node)


def _both(lists: list[Pair]) -> Node:
    """The variables of both, the trainer's behind, where they count."""
    node = Node("sequence", "seq", lists[-1].value.start_mark, lists[-1].value.end_mark)
    node.items = [item for one in lists for item in one.value.items]
    return node
