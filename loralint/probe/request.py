"""What a caller asks of the probe, checked before anything is trained, and the function that the engine calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from loralint.facts import FACTS
from loralint.facts.need import Missing
from loralint.facts.scope import Scope
from loralint.model import Note, Probed, Run
from loralint.run.config import Config

if TYPE_CHECKING:
    from loralint.probe.base import Base

DEVICES = ("auto", "cpu", "cuda")
_NEEDED = ("torch", "safetensors")
_FEWEST_STEPS = 2
_SEEDS = 2**32
_INTERRUPTED = "probe: interrupted"
_NOT_BEGUN = "interrupted before it began"
_NO_MEMORY = {
    "cpu": "this machine has too little memory free for it; a smaller --probe-model or a lower rank takes less",
    "cuda": "cuda has too little memory; try --device cpu",
}
_OWN_TEXT = "the embedded model reads its own text only; --probe-data needs --probe-model, or the base in the cache"


def unheard(said: object) -> None:
    """Take what a caller does not want to hear of."""


class Request(NamedTuple):
    """model: a folder or file of weights; "" for the config's own where the local cache has it, else the embedded one.

    seconds: at most so many for each run. progress: is called with steps done since its last call. data: a file of the
    user's own rows to train on, which takes a model of theirs; "" for our own text. suggest: also probe the change
    that the diagnosis names. svd: also a control arm that starts from the base's largest singular values. tell: hears,
    in words, of what takes minutes.
    """

    model: str = ""
    steps: int = 36
    seconds: float = float("inf")
    device: str = "auto"
    seed: int = 0
    progress: Callable[[int], None] = unheard
    data: str = ""
    suggest: bool = False
    svd: bool = False
    tell: Callable[[str], None] = unheard


def interrupted(run: Run) -> bool:
    """Whether Ctrl-C ended the probe of a run, or came before it."""
    return any(note.message.startswith(_INTERRUPTED) for note in run.notes)


def prober(request: Request) -> Callable[[Config], Probed]:
    """A function that probes one run, or none once Ctrl-C has come, so that what else is known of it is still told.

    Raises ValueError, saying what to do, for what cannot be had here.
    """
    try:
        return _prober(request)
    except KeyboardInterrupt:
        return lambda _: _unprobed(_NOT_BEGUN)


def _prober(request: Request) -> Callable[[Config], Probed]:
    _refuse(request)
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ValueError(f"--probe needs {' and '.join(missing)}: pip install '.[probe]' in a checkout")
    import torch

    if request.device == "cuda" and not torch.cuda.is_available():
        raise ValueError("--device cuda: torch sees no such device here; --device cpu works everywhere")
    from loralint.probe.memory import no_memory

    device = "cuda" if request.device != "cpu" and torch.cuda.is_available() else "cpu"
    load = _loader(request, device)
    bases: dict[str, Base] = {request.model: load(request.model)}
    over = False

    def probe(config: Config) -> Probed:
        nonlocal over
        if over:
            return _unprobed(_NOT_BEGUN)
        try:
            found = _probe(config, request, _base(config, request, device, bases, load))
        except Missing as missing:
            return _unprobed(missing.reason)
        except (RuntimeError, MemoryError) as error:
            if not no_memory(error):
                raise
            return _unprobed(_NO_MEMORY[device])
        except KeyboardInterrupt:  # while a model was loaded, healed or measured
            over = True
            return _unprobed("interrupted before there was anything to tell")
        over = any(note.message.startswith(_INTERRUPTED) for note in found.notes)
        return found

    return probe


def _refuse(request: Request) -> None:
    """Raise ValueError for what no probe can go by, by the names that the command line has for it."""
    if request.device not in DEVICES:
        raise ValueError(f"--device {request.device!r} is none of {', '.join(DEVICES)}")
    if request.steps < _FEWEST_STEPS:
        raise ValueError(f"--probe-steps {request.steps}: the fewest are {_FEWEST_STEPS}")
    if not request.seconds > 0:  # nan included
        raise ValueError(f"--probe-seconds {request.seconds:g} is no time above 0")
    if not 0 <= request.seed < _SEEDS:
        raise ValueError(f"--seed {request.seed} is not from 0 to {_SEEDS - 1}")


def _unprobed(reason: str) -> Probed:
    return Probed(notes=(Note("not-checked", f"probe: {reason}"),))


def _base(config: Config, request: Request, device: str, bases: dict[str, Base], load: Callable[[str], Base]) -> Base:
    """The model that was asked for; else the config's own, where it is at hand and small; else the embedded one.

    Raises Missing where that would be fed the user's text.
    """
    from loralint.probe.place import in_cache

    name, asked = config.get("model.base").value, request.model
    if asked or not isinstance(name, str) or not in_cache(name, device):
        name = asked
    if name not in bases:
        try:
            bases[name] = load(name)
        except ValueError as error:  # Transformers cannot load it: the embedded model will do, and the verdict names it
            if request.data:
                raise Missing(str(error)) from None
            bases[name] = bases[asked]
    if request.data and bases[name].kind == "embedded":
        raise Missing(_OWN_TEXT)
    return bases[name]


def _loader(request: Request, device: str) -> Callable[[str], Base]:
    """What loads a model by its name, "" for the embedded one. Raises ValueError for rows that cannot be read."""
    from loralint.probe.base import embedded
    from loralint.probe.local import local

    data, prose = request.data, ""
    if data:
        from loralint.probe.rows import text_of

        prose = text_of(data)

    def load(model: str) -> Base:
        if not model:
            return embedded(device)
        base = local(model, device, prose, request.tell)
        return base._replace(title=f"{base.title} on {os.path.basename(data)}") if data else base

    return load


def _probe(config: Config, request: Request, base: Base) -> Probed:
    import torch

    from loralint.probe.experiment import Limits, experiment
    from loralint.probe.plan import compared, plan
    from loralint.probe.report import cause_of, probed
    from loralint.probe.suggest import suggested

    names = _names(base)
    scope = Scope(config, FACTS)
    found = plan(scope, request.seed, tuple(names))
    if base.kind != "embedded":
        found = compared(found, scope, base.model.head.shape[1])
    if names:
        found = found._replace(arm=found.arm._replace(targets=tuple(names[one] for one in found.arm.targets)))
    limits, threads = Limits(request.steps, request.seconds, request.progress), torch.get_num_threads()
    if base.kind == "embedded":
        torch.set_num_threads(1)  # so small a model gains nothing from more, and waits for cores that others use
    try:
        outcome = experiment(found, base, limits, svd=request.svd)
        cause = cause_of(outcome)
        try:
            suggestion = suggested(found, base, outcome, cause, limits) if request.suggest else None
        except KeyboardInterrupt:  # before it trains; the verdict stands
            suggestion, outcome = None, outcome._replace(stopped="interrupted before the suggestion was tried")
    finally:
        torch.set_num_threads(threads)
    return probed(found, base, outcome, config.get("optim.lr"), cause, suggestion)


def _names(base: Base) -> dict[str, str]:
    """The linear layers of a model of the user's own, by their names in the whole model; none for the embedded one."""
    from loralint.probe.base import linear_layers
    from loralint.probe.weights import in_layer, layer_of

    if base.kind == "embedded":
        return {}
    names = linear_layers(base.model)
    if not base.layers:
        return {name: name for name in names}
    return {in_layer(name, base.layers[layer_of(name) or 0]): name for name in names}
