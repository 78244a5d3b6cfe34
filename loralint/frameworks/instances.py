"""How many GPUs a cloud's type of instance has, and of which kind.

Source: docs.aws.amazon.com EC2 user guide, accelerated computing instances (GPUs of each size).
"""

from __future__ import annotations

import re

from loralint.frameworks.readers.kubernetes.gpus import gpu_of_instance

_TYPE = re.compile(r"(?:ml\.)?([a-z]\w{1,12})\.((?:\d{1,3})?x?large|metal)")
# family -> {size: GPUs}, and what all other sizes have
_COUNTS: dict[str, tuple[dict[str, int], int]] = {
    **dict.fromkeys(("g4dn", "g5", "g6", "g6e"), ({"12xlarge": 4, "24xlarge": 4, "48xlarge": 8, "metal": 8}, 1)),
    "p2": ({"8xlarge": 8, "16xlarge": 16}, 1),
    "p3": ({"8xlarge": 4, "16xlarge": 8}, 1),
    "p3dn": ({}, 8),
    "p4d": ({}, 8),
    "p4de": ({}, 8),
    "p5": ({"4xlarge": 1}, 8),
    "p5e": ({}, 8),
    "p5en": ({}, 8),
}


def instance(name: str) -> tuple[str, int]:
    """GPU and number of them of an instance of AWS, as `ml.g5.12xlarge`; ("", 0) where that is not known."""
    match = _TYPE.fullmatch(name)
    if match is None or match[1] not in _COUNTS:
        return "", 0
    sizes, other = _COUNTS[match[1]]
    return gpu_of_instance(f"{match[1]}.{match[2]}"), sizes.get(match[2], other)
