"""Seconds of micro-training that say whether a run's numbers hold together; needs the extra `probe`.

`plan` turns a config into an `Arm`, the numbers of one run; `stack` trains many arms over one frozen base at once;
`ramp` and `course` are what they are put through; `verdict` and `diagnosis` read the outcome. Torch is imported by the
modules that train and by nothing else in this project.

For a user's own training: `normalize_inputs`, a control for PEFT models, and `StabilityGuard`, a callback for the
Trainer of Transformers. Both are imported when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loralint.probe.guard import StabilityGuard as StabilityGuard
    from loralint.probe.guard import UnstableTrainingError as UnstableTrainingError
    from loralint.probe.normalize import normalize_inputs as normalize_inputs

_HOMES = {"StabilityGuard": "guard", "UnstableTrainingError": "guard", "normalize_inputs": "normalize"}
__all__ = ["StabilityGuard", "UnstableTrainingError", "normalize_inputs"]


def __getattr__(name: str) -> Any:
    """The public names, from the modules that need torch."""
    if name in _HOMES:
        return getattr(import_module(f"loralint.probe.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'loralint.probe' has no attribute {name!r}")
