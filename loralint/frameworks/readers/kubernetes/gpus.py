"""GPUs in a manifest: how many a container asks for, and which ones the node labels select."""

from __future__ import annotations

import re

from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, whole, word

# Whole devices, so that the number asked for is the number of devices a process can take.
WHOLE = frozenset({"nvidia.com/gpu", "amd.com/gpu", "habana.ai/gaudi"})
_SLICE = re.compile(r"nvidia\.com/mig-(.+)")
_ACCELERATOR = re.compile(
    r"(?:nvidia\.com|amd\.com|habana\.ai|gpu\.intel\.com)/.|aws\.amazon\.com/neuron|huawei\.com/Ascend|google\.com/tpu"
    r"|[^/]+/[^/]*gpu"
)
# Labels whose value is the name of a GPU.
_NAMES = (
    "cloud.google.com/gke-accelerator",
    "nvidia.com/gpu.product",
    "karpenter.k8s.aws/instance-gpu-name",
    "eks.amazonaws.com/instance-gpu-name",
    "k8s.amazonaws.com/accelerator",
    "gpu.nvidia.com/class",
    "gpu.nvidia.com/model",
    "amd.com/gpu.product-name",
)
_INSTANCES = (
    "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family",
    "eks.amazonaws.com/instance-family",
)  # fmt: skip
# Labels of GKE under which a pod gets a slice of a card, or shares it.
_SLICES = ("cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-gpu-sharing-strategy")
LABELS = (*_NAMES, *_INSTANCES)
# GKE's name for the 40 GB card does not say the size; the other one is nvidia-a100-80gb.
_GKE = {"nvidia-tesla-a100": "A100-40GB"}
# Instance types of AWS, Azure and Google Cloud that carry one kind of GPU, by the start of their name.
_TYPES = (
    (r"g4dn\.", "T4"), (r"g5g\.", "T4G"), (r"g5\.", "A10G"), (r"g6e\.", "L40S"), (r"gr?6\.", "L4"), (r"p2\.", "K80"),
    (r"p3\.", "V100-16GB"), (r"p3dn\.", "V100-32GB"), (r"p4d\.", "A100-40GB"), (r"p4de\.", "A100-80GB"),
    (r"p5\.", "H100-80GB"), (r"p5e\.|p5en\.", "H200"), (r"p6-b200\.", "B200"),
    (r"Standard_NC\d+as_T4_v3", "T4"), (r"Standard_NC\d+r?s_v2", "P100-16GB"), (r"Standard_NC\d+r?s_v3", "V100-16GB"),
    (r"Standard_ND40rs_v2", "V100-32GB"), (r"Standard_NC\d+ads_A100_v4", "A100-80GB"),
    (r"Standard_ND96a?m?sr_A100_v4|Standard_ND96amsr", "A100-80GB"), (r"Standard_ND96asr_v4", "A100-40GB"),
    (r"Standard_(?:NC\d+adi?s|ND96isr?)_H100_v5", "H100-80GB"), (r"Standard_ND96isr?_H200_v5", "H200"),
    (r"a2-highgpu-|a2-megagpu-", "A100-40GB"), (r"a2-ultragpu-", "A100-80GB"),
    (r"a3-(?:high|mega|edge)gpu-", "H100-80GB"), (r"a3-ultragpu-", "H200"), (r"a4-highgpu-", "B200"),
    (r"g2-standard-", "L4"),
)  # fmt: skip


def resources(container: At) -> At | None:
    """Where a container's limits and requests stand; a TrainJob has them for each node."""
    return named(container, "resources") or named(container, "resourcesPerNode")


def extended(at: At | None) -> list[At]:
    """The resources of a mapping that no node has by itself, and of which the scheduler counts whole pieces."""
    return [one for one in entries(at) if "/" in _resource(one) and "kubernetes.io/" not in _resource(one)]


def _resource(at: At) -> str:
    return at.label.raw if at.label is not None else ""


def resource(at: At) -> str:
    """The name of a resource, such as nvidia.com/gpu."""
    return _resource(at)


def accelerators(at: At | None) -> list[At]:
    """The GPUs and their like in limits or requests, those asked for with 0 left out."""
    return [one for one in extended(at) if _ACCELERATOR.match(_resource(one)) and text(one) not in ("0", "")]


def asks_for_gpus(container: At) -> bool:
    """Whether limits or requests name a GPU."""
    held = resources(container)
    return any(accelerators(named(held, part)) for part in ("limits", "requests"))


def gpu_limit(container: At) -> At | None:
    """Where a container's limit of whole GPUs stands; the request where there is no limit."""
    held = resources(container)
    found = [one for part in ("limits", "requests") for one in accelerators(named(held, part))]
    return next((one for one in found if _resource(one) in WHOLE), None)


def gpus(container: At) -> int | None:
    """How many whole GPUs a container gets; None where that is not said."""
    return whole(gpu_limit(container))


def sliced(container: At) -> str:
    """The slice of a card (MIG) that a container asks for, as `1g.10gb`; empty for a whole card."""
    held = resources(container)
    asked = [_SLICE.match(_resource(one)) for part in ("limits", "requests") for one in accelerators(named(held, part))]
    return next((match[1] for match in asked if match is not None), "")


def node_label(pod: At | None) -> tuple[At, list[str]] | None:
    """The place of a requirement on a node's GPU, and the labels' values that satisfy it."""
    selector = named(pod, "nodeSelector")
    for label in LABELS:
        found = named(selector, label)
        if found is not None and text(found):
            return found, [text(found)]
    required = inside(pod, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
    terms = items(required)
    if len(terms) != 1:  # several terms are alternatives
        return None
    for expression in items(named(terms[0], "matchExpressions")):
        if word(expression, "key") in LABELS and word(expression, "operator") == "In":
            values = [text(one) for one in items(named(expression, "values"))]
            return (expression, values) if values else None
    return None


def gpu_names(pod: At | None) -> tuple[At, list[str]] | None:
    """The GPUs that a pod may meet, by their names in the list of GPUs; None where no known label says it."""
    found = node_label(pod)
    if found is None or any(named(named(pod, "nodeSelector"), label) is not None for label in _SLICES):
        return None
    names = [gpu_of_instance(value) for value in found[1]]
    return (found[0], list(dict.fromkeys(names))) if all(names) else None


def gpu_of_type(at: At | None) -> tuple[At, list[str]] | None:
    """The GPU of a cloud's type of instance."""
    name = gpu_of_instance(text(at)) if at is not None else ""
    return (at, [name]) if at is not None and name else None


def gpu_of_instance(value: str) -> str:
    """The GPU behind a label's value, a type of instance or a name; empty where it is not known."""
    from loralint.knowledge.hardware import gpu

    if value in _GKE:
        return _GKE[value]
    for start, name in _TYPES:
        if re.match(start, value) or re.fullmatch(start, f"{value}."):
            return name
    return value if gpu(value) is not None else ""
