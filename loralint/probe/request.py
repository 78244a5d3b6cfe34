"""What a caller asks of the probe, checked before anything is trained, and the function that the engine calls."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from loralint.facts import FACTS
from loralint.facts.need import Missing
from loralint.facts.scope import Scope
from loralint.model import Note, Probed
from loralint.run.config import Config

if TYPE_CHECKING:
    from loralint.probe.base import Base

DEVICES = ("auto", "cpu", "cuda")
_NEEDED = ("torch", "safetensors")


def unheard(steps: int) -> None:
    """Take the progress, in steps, of a caller who does not want to hear of it."""


class Request(NamedTuple):
    """model: a folder or file of weights, "" for the embedded model. seconds: at most so many for each run.
    progress: is called with steps done since its last call.
    """

    model: str = ""
    steps: int = 36
    seconds: float = float("inf")
    device: str = "auto"
    seed: int = 0
    progress: Callable[[int], None] = unheard


def prober(request: Request) -> Callable[[Config], Probed]:
    """A function that probes one run. Raises ValueError, saying what to do, for what cannot be had here."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ValueError(f"--probe needs {' and '.join(missing)}: pip install 'loralint[probe]'")
    import torch

    if request.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("--device cuda: torch sees no such device here; --device cpu works everywhere")
    device = "cuda" if request.device != "cpu" and torch.cuda.is_available() else "cpu"
    base = _base(request, device)

    def probe(config: Config) -> Probed:
        try:
            return _probe(config, request, base)
        except Missing as missing:
            return Probed(notes=(Note("not-checked", f"probe: {missing.reason}"),))
        except torch.OutOfMemoryError:
            return Probed(notes=(Note("not-checked", f"probe: {device} has too little memory; try --device cpu"),))

    return probe


def _base(request: Request, device: str) -> Base:
    from loralint.probe.base import embedded

    if not request.model:
        return embedded(device)
    from loralint.probe.local import local

    return local(request.model, device)


def _probe(config: Config, request: Request, base: Base) -> Probed:
    import torch

    from loralint.probe.experiment import Limits, experiment
    from loralint.probe.plan import plan
    from loralint.probe.report import probed

    found = plan(Scope(config, FACTS), request.seed)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # sums in one order, so the same seed gives the same result; and no waiting for busy cores
    try:
        outcome = experiment(found, base, Limits(request.steps, request.seconds, request.progress))
    finally:
        torch.set_num_threads(threads)
    return probed(found, base, outcome, config.get("optim.lr"))
