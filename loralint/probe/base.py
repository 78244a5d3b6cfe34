"""The frozen models that a probe trains adapters on."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import torch
from torch import Tensor, nn

from loralint.probe.llama import Llama, Sizes
from loralint.probe.loss import token_loss

_DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_data")
LEAST_KNOWN = 2.5  # nats below chance; a base that knows less cannot be broken, so its ramp says nothing


class Base(NamedTuple):
    """title: as a verdict names it. rows: [many, tokens] of held-out ids. gain: factor on alpha, see `Arm`. kind: whose
    bands hold for it, embedded, own or cut. vocabulary: ids that the head tells apart. most_rows: of one step, for the
    sake of time. layers: of a cut, the numbers that its layers have in the whole model.
    """

    title: str
    model: nn.Module
    rows: Tensor
    gain: float
    kind: str
    vocabulary: int
    most_rows: int = 4
    layers: tuple[int, ...] = ()

    def rows_for(self, wanted: int) -> int:
        """Rows of a step for a run that has so many."""
        return min(wanted, self.most_rows)

    def batches(self, steps: int, rows: int, seed: int) -> list[Tensor]:
        """`steps` batches of [rows, tokens], drawn by the seed; the text starts over where it is too short."""
        order = torch.randperm(len(self.rows), generator=torch.Generator().manual_seed(seed))
        picked = order.repeat(-(-steps * rows // len(order)))[: steps * rows]
        return list(self.rows[picked].view(steps, rows, -1))


def embedded(device: str = "cpu") -> Base:
    """The model of our own that the package brings along; its card says how it was made."""
    from safetensors.torch import load_file

    with open(os.path.join(_DATA, "probe_card.json"), encoding="utf-8") as file:
        card = json.load(file)
    tensors = load_file(os.path.join(_DATA, "probe.safetensors"))
    rows = tensors.pop("held_out").long()
    sizes = Sizes(**card["sizes"])
    with torch.device("meta"):
        model = Llama(sizes)
    model.load_state_dict({name: one.float() for name, one in tensors.items()}, assign=True)
    title = f"the embedded model ({card['parameters'] / 1e6:.1f} M)"
    return Base(title, model.to(device).eval(), rows.to(device), card["gain"], "embedded", sizes.vocab)


@torch.no_grad()
def loss_of(base: Base, most: int = 32) -> float:
    """Mean loss on the first rows, in nats."""
    rows = base.rows[:most]
    return token_loss(base.model(rows), rows).item()


def linear_layers(model: nn.Module) -> tuple[str, ...]:
    """Names of the linear layers."""
    return tuple(name for name, one in model.named_modules() if isinstance(one, nn.Linear))
