"""What a schedule of Transformers takes in `lr_scheduler_kwargs`: any other keyword is a TypeError, as in any call.

Source: transformers 4.44.2 and 5.24.0 `optimization.py` (get_scheduler).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation
from loralint.source.document import Document, Node, Pair

KEY = "lr_scheduler_kwargs"
_FLOORS = ("min_lr", "min_lr_rate")
_COSINE = ("num_cycles", "last_epoch")
_TAKES: dict[str, tuple[str, ...]] = {
    "linear": ("last_epoch",),
    "cosine": _COSINE,
    "cosine_with_restarts": _COSINE,
    "polynomial": ("lr_end", "power", "last_epoch"),
    "inverse_sqrt": ("timescale", "last_epoch"),
    "cosine_with_min_lr": (*_COSINE, *_FLOORS),
    "cosine_warmup_with_min_lr": (*_COSINE, *_FLOORS, "warmup_lr_rate"),
}
# words of other libraries for the rate that a schedule ends at
_ENDS = frozenset({"eta_min", "min_lr", "min_lr_rate", "min_lr_ratio", "lr_end", "lr_min", "end_lr"})


def floor(document: Document, section: Node, pair: Pair, key: str) -> Iterator[Observation]:
    """Observe a schedule down to a floor that nobody sets: there is no default for it."""
    given = section.get(KEY)
    if given is None or given.tag == "null" or (given.kind == "mapping" and not any(map(given.pair, _FLOORS))):
        message = f"`{pair.value.raw}` needs `min_lr` or `min_lr_rate` in `{KEY}`, and stops without"
        yield Observation("rejected", place(document, pair, key), "crash", message)


def strangers(document: Document, section: Node, pair: Pair, under: str = "") -> Iterator[Observation]:
    """Observe keywords that the schedule does not take. under: what stands before the key of the section."""
    taken, given = _TAKES.get(pair.value.raw), section.get(KEY)
    if taken is None or given is None or given.kind != "mapping":
        return
    words = " and ".join(f"`{one}`" for one in taken if one != "last_epoch") or "none"
    for one in given.pairs:
        if one.key in taken or one.key.startswith("*"):
            continue
        message = f"the schedule `{pair.value.raw}` takes {words}, and Python stops with a TypeError"
        advice = f"leave {one.key} out"
        if one.key in _ENDS and pair.value.raw.startswith("cosine"):
            advice = f"write lr_scheduler_type: cosine_with_min_lr and {KEY}: {{min_lr: ...}}"
        at = place(document, one, f"{under}{KEY}.{one.key}")
        yield Observation("rejected", at, "crash", message, package="transformers", data={"advice": advice})
