"""The text that a model of the user's own is probed on, in its own tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from loralint.probe.tokens import ids_of

_LENGTH, _ROWS = 32, 288
_FEWEST = 16  # rows; of fewer every batch is the same
_ENOUGH = 16 * _LENGTH * _ROWS  # characters; a token has 16 at most, or about


class Text(NamedTuple):
    """tokens: the ids in use, sorted. rows: [many, 32] numbers of those, to probe on. healing: others, for a cut."""

    tokens: Tensor
    rows: Tensor
    healing: Tensor


def text_for(tokenizer: Any, prose: str, *, heals: bool) -> Text:
    """Rows of a text, each after BOS where the model has one. prose: "" for our own text. heals: whether a cut is to be
    trained, on text that it is not probed on. The tokens of our own text are in use with any other too: few words would
    bring chance down to where no base is far below it.

    Raises ValueError for too few tokens.
    """
    own = prose or _own_text()
    probed = _rows(tokenizer, own[:_ENOUGH], _ROWS)
    if len(probed) < _FEWEST:
        what = "the text of --probe-data" if prose else "the text"
        raise ValueError(
            f"{what} is only {len(probed)} rows of {_LENGTH} tokens for its tokenizer, and a probe takes {_FEWEST}"
        )
    healing = _rows(tokenizer, _own_text())[0 if prose else _ROWS :] if heals else probed[:0]
    beside = _rows(tokenizer, _own_text()[:_ENOUGH], _ROWS) if prose and not heals else probed[:0]
    tokens, numbers = torch.unique(torch.cat((probed, healing, beside)), return_inverse=True)
    return Text(tokens, numbers[: len(probed)], numbers[len(probed) : len(probed) + len(healing)])


def _rows(tokenizer: Any, prose: str, most: int | None = None) -> Tensor:
    begin = [tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else []
    ids = ids_of(tokenizer, prose)
    length = _LENGTH - len(begin)
    starts = range(0, len(ids) // length * length, length)[:most]
    return torch.tensor([[*begin, *ids[at : at + length]] for at in starts], dtype=torch.long).view(-1, _LENGTH)


def _own_text() -> str:
    """The help texts of the running Python."""
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))
