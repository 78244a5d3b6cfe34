"""A linter for LoRA and QLoRA fine-tuning configs.

`loralint.check(path_or_mapping)` gives a Report; everything else is on the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loralint.version import __version__ as __version__

if TYPE_CHECKING:
    from loralint.api import check as check

__all__ = ["__version__", "check"]


def __getattr__(name: str) -> Any:
    """`check` is imported when first asked for: `loralint --version` needs no engine."""
    if name == "check":
        from loralint.api import check

        return check
    raise AttributeError(f"module 'loralint' has no attribute {name!r}")
