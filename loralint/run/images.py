"""Which release of a framework an image holds, where its maker's tags are the releases.

Only images whose own build says so: a tag of another's copy may mean anything, and `main-latest` means another release
every day. A copy at another registry is not taken for the original.

Sources: axolotl docs/docker.qmd and .github/workflows/main.yml (`0.16.1`, and `0.9.2-py3.11-cu124-2.6.0` with more
behind it); LLaMA-Factory .github/workflows/docker.yml (the VERSION of a release, `-npu-a2` and the like behind it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_AXOLOTL = ("axolotl", "axolotl-uv", "axolotl-cloud", "axolotl-cloud-uv", "axolotl-cloud-term")
_PACKAGES = {
    **dict.fromkeys((f"axolotlai/{name}" for name in _AXOLOTL), "axolotl"),
    "hiyouga/llamafactory": "llamafactory",
}
_IMAGE = re.compile(
    r"(?:docker\.io/|index\.docker\.io/)?([a-z0-9-]+/[a-z0-9-]+):(\d+\.\d+\.\d+(?:\.post\d+)?)(?:-[\w.-]+)?(?:@.*)?"
)


def released(images: Iterable[str]) -> dict[str, str]:
    """Package -> version that these images hold; nothing of a package that two of them hold differently."""
    found: dict[str, set[str]] = {}
    for image in images:
        match = _IMAGE.fullmatch(image)
        if match and match[1] in _PACKAGES:
            found.setdefault(_PACKAGES[match[1]], set()).add(match[2])
    return {package: versions.pop() for package, versions in found.items() if len(versions) == 1}
