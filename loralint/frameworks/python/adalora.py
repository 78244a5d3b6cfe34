"""What AdaLoRA stops at or never reads: it has ranks and a schedule of its own, which somebody has to move on.

Source: peft 0.11.1 to 0.21.2 `tuners/adalora/config.py`, `tuners/adalora/model.py`; transformers 5.24.0 `trainer.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import plain

_CONFIG = "AdaLoraConfig"
_CHECKED = "peft>=0.15"
_MOVES = "update_and_allocate"
_DEFAULT = 8


def observe_adalora(text: str, document: Document, look: Look) -> list[Observation]:
    """Observe an unread rank, a schedule without a step for the ranks, and a trainer that never moves them.

    text: of the program.
    """
    root = document.root
    outer = root.pair(_CONFIG) if root is not None else None
    if root is None or outer is None:
        return []
    still = _allocation(document, root, outer) if _MOVES not in text else ()
    return [*_rank(document, outer.value), *_schedule(document, outer, look), *still]


def _rank(document: Document, config: Node) -> Iterator[Observation]:
    pair = config.pair("r")
    if pair is not None and plain(pair.value, "python") != _DEFAULT:
        message = "AdaLoRA begins with `init_r` (12) and ends with `target_r` (8), and reads no `r`"
        yield Observation(
            "ignored", place(document, pair, f"{_CONFIG}.r"), "lost", message, f"{_CONFIG}.init_r", "key", "peft"
        )


def _schedule(document: Document, outer: Pair, look: Look) -> Iterator[Observation]:
    config = outer.value
    if not look.version_is(_CHECKED):
        return
    total = config.pair("total_step")
    if total is None or plain(total.value, "python") in (None, 0):
        at = place(document, total or outer, f"{_CONFIG}.total_step")
        advice = {"advice": "write total_step: the number of optimizer steps of the whole run"}
        message = "AdaLoRA has to know how many steps the run has, and PEFT raises without that number"
        yield Observation("rejected", at, "crash", message, package="peft", data=advice)
        return
    steps = [_number(config.pair(key), 0) for key in ("tinit", "tfinal")]
    whole = _number(total, None)
    if whole is None or None in steps or sum(one or 0 for one in steps) < whole:
        return
    pair = config.pair("tinit") or config.pair("tfinal") or total
    message = f"tinit and tfinal leave none of the {whole} steps of total_step to shrink the ranks in, and PEFT raises"
    data = {"advice": "write a smaller tinit or tfinal, or a larger total_step"}
    yield Observation(
        "rejected", place(document, pair, f"{_CONFIG}.{pair.key}"), "crash", message, package="peft", data=data
    )


def _number(pair: Pair | None, absent: int | None) -> int | None:
    """A count that is written out; None for any other value."""
    value = plain(pair.value, "python") if pair is not None else absent
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _allocation(document: Document, root: Node, outer: Pair) -> Iterator[Observation]:
    """Trainer takes optimizer steps and calls nothing of the adapter's."""
    trains = next((pair for pair in root.pairs if pair.key.endswith("Trainer")), None)
    if trains is None:
        return
    at = place(document, outer.value.pair("target_r") or outer, f"{_CONFIG}.target_r")
    message = f"{trains.key} never calls `{_MOVES}`, so every rank stays `init_r`"
    advice = {"advice": f"call model.base_model.{_MOVES}(state.global_step) in a callback's on_optimizer_step"}
    yield Observation("ignored", at, "lost", message, package="peft", data=advice)
