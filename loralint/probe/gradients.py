"""The trained parameters of a model by module, and the norms of their gradients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

ADAPTER = "lora_"


class Norms(NamedTuple):
    """Gradient norms of one module's trained parameters (A and B together) over a run. at: the step of the largest."""

    first: float
    largest: float
    at: int
    last: float

    def then(self, value: float, step: int) -> Norms:
        """After one more step; what is not finite is the largest."""
        if not value <= self.largest and isfinite(self.largest):
            return Norms(self.first, value, step, value)
        return self._replace(last=value)


class Trained:
    """What an optimizer trains of a model. missing: names of LoRA parameters that it does not."""

    def __init__(self, model: nn.Module, groups: Iterable[Mapping[str, Any]]) -> None:
        known = {id(one) for group in groups for one in group["params"]}
        self.missing: list[str] = []
        self.adapter = 0
        self._modules: dict[str, list[tuple[str, nn.Parameter]]] = {}
        for name, one in model.named_parameters():
            self.adapter += ADAPTER in name
            if id(one) in known and one.requires_grad:
                self._modules.setdefault(module_of(name), []).append((name, one))
            elif ADAPTER in name:
                self.missing.append(name)

    def norms(self) -> dict[str, float]:
        """Of each module's gradients, by its name, in fp32, with one transfer from the device."""
        sizes = {
            name: _size([one.grad for _, one in parameters if one.grad is not None])
            for name, parameters in self._modules.items()
        }
        return dict(zip(sizes, _values(sizes.values()), strict=True))

    def broken_gradient(self, module: str) -> str:
        """The name of the parameter of a module whose gradient is not finite."""
        gradients = ((name, one.grad) for name, one in self._modules[module] if one.grad is not None)
        return next((name for name, one in gradients if not isfinite(_size([one]).item())), module)

    def broken_weight(self) -> str:
        """The name of a parameter that is not finite; "" for none."""
        names, weights = zip(*self._all(), strict=True) if self._modules else ((), ())
        values = _values(_size([one.detach()]) for one in weights)
        return next((name for name, value in zip(names, values, strict=True) if not isfinite(value)), "")

    def drop(self) -> None:
        """Forget all gradients, so that the optimizer's next step changes nothing."""
        for _, one in self._all():
            one.grad = None

    def scale(self, factor: float) -> None:
        """Multiply all gradients."""
        for _, one in self._all():
            if one.grad is not None:
                one.grad.mul_(factor)

    def _all(self) -> Iterator[tuple[str, nn.Parameter]]:
        return (pair for parameters in self._modules.values() for pair in parameters)


def total(norms: Mapping[str, float]) -> float:
    """The norm of all gradients together."""
    return sum(value * value for value in norms.values()) ** 0.5


def module_of(name: str) -> str:
    """`...q_proj.lora_A.default.weight` -> `...q_proj`."""
    return name.partition(f".{ADAPTER}")[0] if ADAPTER in name else name.rpartition(".")[0]


def _size(tensors: list[Tensor]) -> Tensor:
    """The norm of several tensors together, []."""
    if not tensors:
        return torch.zeros(())
    parts = [torch.linalg.vector_norm(one, dtype=torch.float32).to(tensors[0].device) for one in tensors]
    return torch.linalg.vector_norm(torch.stack(parts))


def _values(sizes: Iterable[Tensor]) -> list[float]:
    found = list(sizes)
    if not found:
        return []
    device = next((one.device for one in found if one.device.type != "cpu"), found[0].device)
    values: list[float] = torch.stack([one.to(device) for one in found]).tolist()
    return values
