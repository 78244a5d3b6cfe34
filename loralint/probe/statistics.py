"""What a probe shows beside its verdict: norms of the adapters' inputs, spectra of what they learnt."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from loralint.probe.adapted import Adapted
from loralint.probe.loss import token_loss
from loralint.probe.stack import Stack


class Inputs(NamedTuple):
    """Norms over tokens of what one type of module reads: median of the modules' medians, 99th percentile and largest,
    and the worst module's largest over its median.
    """

    kind: str
    median: float
    p99: float
    largest: float
    worst_ratio: float
    worst_module: str


class Spectrum(NamedTuple):
    """Singular values of s BA, by type of module: the largest over its modules (spectral norm), the share of the
    squared values that the first holds, and the slope of log value over log index; medians but for the first.
    """

    kind: str
    largest: float
    first_share: float
    slope: float


class Read(NamedTuple):
    """What passes over the frozen base showed: its inputs by type of module, their median norm by module, and the loss
    on each batch.
    """

    inputs: list[Inputs]
    medians: dict[str, float]
    losses: list[float]


def measure_inputs(stack: Stack, batches: Iterable[Tensor]) -> Read:
    """Read the frozen base's inputs and losses over some batches."""
    for one in stack.modules.values():
        one.norms = []
    losses = [token_loss(stack.frozen(batch), batch).item() for batch in batches]
    norms = {name: torch.cat(one.norms or [torch.ones(1)]) for name, one in stack.modules.items()}
    for one in stack.modules.values():
        one.norms = None
    medians = {name: max(found.median().item(), 1e-6) for name, found in norms.items()}
    inputs = [_inputs(kind, names, norms, medians) for kind, names in _by_kind(stack.modules).items()]
    return Read(inputs, medians, losses)


def tell_medians(stack: Stack, medians: dict[str, float]) -> None:
    """Tell the modules the medians that control arms go by."""
    middle = math.exp(sum(map(math.log, medians.values())) / max(1, len(medians)))
    for name, one in stack.modules.items():
        one.median, one.middle = medians[name], middle


def _inputs(kind: str, names: list[str], norms: dict[str, Tensor], medians: dict[str, float]) -> Inputs:
    every = torch.cat([norms[name] for name in names])
    worst = max(names, key=lambda name: norms[name].max().item() / medians[name])
    middle = sorted(medians[name] for name in names)[len(names) // 2]
    p99 = every.kthvalue(max(1, math.ceil(0.99 * len(every)))).values.item()
    return Inputs(kind, middle, p99, every.max().item(), norms[worst].max().item() / medians[worst], worst)


@torch.no_grad()
def spectra(stack: Stack, number: int) -> list[Spectrum]:
    """Of one arm's s BA in every module; modules that it left at zero, or that are not finite, are passed over.

    number: which of the arms that the stack was made with.
    """
    arm, values = stack.given[number], {}
    for name, pair in stack.learnt_by(number).items():
        a, b = (one.float().cpu() for one in pair)
        if not b.any() or not (a.isfinite().all() and b.isfinite().all()):
            continue
        left, right = torch.linalg.qr(b).R, torch.linalg.qr(a.T).R
        product = left @ right.T * arm.scale
        if product.any() and product.isfinite().all():  # the parts may be finite where their product is not
            values[name] = torch.linalg.svdvals(product)[: arm.rank]
    return [_spectrum(kind, [values[name] for name in names]) for kind, names in _by_kind(values).items()]


def _spectrum(kind: str, found: list[Tensor]) -> Spectrum:
    shares = [1 / (one / one[0]).square().sum().item() for one in found]
    return Spectrum(
        kind, max(one[0].item() for one in found), _median(shares), _median([_slope(one.tolist()) for one in found])
    )


def _slope(values: Sequence[float]) -> float:
    """Least-squares slope of log value over log index (from 1); 0 for a single value."""
    points = [(math.log(index), math.log(value)) for index, value in enumerate(values, 1) if value > 1e-6 * values[0]]
    if len(points) < 2:
        return 0.0
    mean_x, mean_y = (sum(one) / len(points) for one in zip(*points, strict=True))
    across = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / across


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def _by_kind(modules: Iterable[str] | dict[str, Adapted] | dict[str, Tensor]) -> dict[str, list[str]]:
    """Module names by their last part."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for name in modules:
        kinds[name.rpartition(".")[2]].append(name)
    return dict(kinds)
