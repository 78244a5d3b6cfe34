"""A model built on the meta device from a config of traced numbers: every module with the shapes of its own weights."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from loralint.authoring.catalogue.symbol import TracedInt, Whole, expression

_FACTORIES = {torch.empty, torch.zeros, torch.ones, torch.randn, torch.rand, torch.full}
_KINDS: tuple[tuple[type[nn.Module], str], ...] = (
    (nn.Linear, "Linear"),
    (nn.Conv1d, "Conv1d"),
    (nn.Conv2d, "Conv2d"),
    (nn.Conv3d, "Conv3d"),
    (nn.Embedding, "Embedding"),
    (nn.MultiheadAttention, "MultiheadAttention"),
)


_TIED = {"bias": "tied_bias"}


class Part(NamedTuple):
    """One module: path, kind (as PEFT tells layers apart, else the class), own weights as (name, expressions).

    A module that was met before under another path is "Same", without weights. A convolution in groups has their number
    beside its weights, and a bias that another module has as well is a `tied_bias`.
    """

    path: str
    kind: str
    weights: tuple[tuple[str, tuple[str, ...]], ...]
    length: int | None = None


class _Shapes(TorchFunctionMode):  # type: ignore[misc]  # torch is not there where types are checked
    """Notes on each new tensor the expressions that its shape was given as."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = function(*args, **(kwargs or {}))
        if function in _FACTORIES and isinstance(made, torch.Tensor):
            sizes = (kwargs or {}).get("size", args)
            if sizes and isinstance(sizes[0], (tuple, list, torch.Size)):
                sizes = sizes[0]
            if len(sizes) == made.dim():
                made.loralint_shape = tuple(expression(size) for size in sizes)
        return made


@contextlib.contextmanager
def _tracing(packages: tuple[str, ...], *, labels: bool) -> Iterator[None]:
    """While it lasts, tensors are on the meta device, know their shapes, and `int` keeps expressions."""
    new = nn.Parameter.__new__

    def parameter(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        made = new(cls, data, requires_grad)
        if hasattr(data, "loralint_shape"):
            made.loralint_shape = data.loralint_shape
        return made

    end = _traced_labels() if labels else None
    kept = {name: getattr(nn.init, name) for name in dir(nn.init) if name.endswith("_") and not name.startswith("_")}
    for name in kept:  # values do not matter, and setting them takes a third of the time
        setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(packages) and module]
    nn.Parameter.__new__ = parameter
    for module in modules:
        module.__dict__.setdefault("int", TracedInt)
    try:
        with torch.device("meta"), _Shapes():
            yield
    finally:
        if end:
            end()
        for name, function in kept.items():
            setattr(nn.init, name, function)
        nn.Parameter.__new__ = new
        for module in modules:
            if module.__dict__.get("int") is TracedInt:
                del module.__dict__["int"]


def _traced_labels() -> Callable[[], None]:
    """Make the number of labels, which a config counts, a traced one; gives what ends it."""
    config = sys.modules["transformers.configuration_utils"].PretrainedConfig
    before = config.num_labels
    config.num_labels = property(lambda self: Whole.of(len(self.id2label or {0: 0, 1: 1}), "num_labels"), before.fset)

    def end() -> None:
        config.num_labels = before

    return end


def trace(
    build: Callable[[], nn.Module], packages: tuple[str, ...] = ("transformers.models.",), *, labels: bool = False
) -> list[Part]:
    """All modules of what `build` makes, in order, the root without a path. `labels`: trace their number too."""
    with _tracing(packages, labels=labels):
        model = build()
    parts: list[Part] = []
    modules: set[int] = set()
    weights: set[int] = set()
    for path, module in model.named_modules(remove_duplicate=False):
        parts.append(_part(path, module, weights) if id(module) not in modules else Part(path, "Same", ()))
        modules.add(id(module))
        weights.update(map(id, module.parameters(recurse=False)))
    return parts


def _part(path: str, module: nn.Module, before: set[int]) -> Part:
    kind = next((name for base, name in _KINDS if isinstance(module, base)), _own_kind(module))
    own = module.named_parameters(recurse=False)
    weights = tuple((_TIED.get(name, name) if id(one) in before else name, _shape(one)) for name, one in own)
    if "Conv" in kind and isinstance(getattr(module, "groups", 1), int) and getattr(module, "groups", 1) > 1:
        weights += (("groups", (expression(module.groups),)),)
    length = len(module) if isinstance(module, nn.ModuleList) else None
    return Part(path, kind, weights, length)


def _shape(tensor: torch.Tensor) -> tuple[str, ...]:
    given = getattr(tensor, "loralint_shape", None)
    return given if given is not None else tuple(str(size) for size in tensor.shape)


def _own_kind(module: nn.Module) -> str:
    """The class's name; activations, which a config chooses among dozens, go by one name."""
    home = type(module).__module__
    plain = not any(True for _ in module.parameters(recurse=False))
    return "Activation" if plain and home.endswith((".activation", ".activations")) else type(module).__name__
