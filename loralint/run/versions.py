"""Which versions of the framework and its packages a run is judged by, and whether anybody pinned them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from loralint.frameworks.table import Reader
from loralint.knowledge.versions import assumed, satisfies


class Versions:
    """Package -> version: pinned by the caller, else what the framework's newest known release pins."""

    __slots__ = ("_assumed", "pinned")

    def __init__(self, framework: str, pinned: Mapping[str, str]) -> None:
        self.pinned = pinned
        self._assumed = assumed(framework, pinned.get(framework))

    def of(self, package: str) -> str:
        """The version in force; empty when none is known."""
        return self.pinned.get(package) or self._assumed.get(package, "")

    def satisfy(self, spec: str) -> bool:
        """Whether "package<spec>" holds, such as "transformers>=4.46,<5". False for a package without a version."""
        package, bounds = split(spec)
        version = self.of(package)
        return bool(version) and satisfies(version, bounds)

    def title(self, reader: Reader) -> str:
        """`axolotl 0.19.0`, the source of a default."""
        return f"{reader.title} {self.of(reader.packages[0])}".strip()


@cache
def split(spec: str) -> tuple[str, str]:
    """`transformers>=4.46,<5` -> ("transformers", ">=4.46,<5")."""
    end = next((index for index, char in enumerate(spec) if char in "<>=!"), len(spec))
    return spec[:end].strip(), spec[end:]
