"""The loss that everything here is measured in: mean negative log-likelihood of the next token, in nats."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional


def token_loss(logits: Tensor, tokens: Tensor, arms: int = 1) -> Tensor:
    """Mean loss of each arm, [arms]. logits: [arms * rows, tokens, vocab]; tokens: [rows, tokens], the same for all."""
    guesses = logits[:, :-1].float()
    wanted = tokens[:, 1:].repeat(arms, 1)
    each = functional.cross_entropy(guesses.flatten(0, 1), wanted.flatten(), reduction="none")
    return each.view(arms, -1).mean(1)
