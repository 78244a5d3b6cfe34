"""Arguments of an optimizer that another one takes: kohya's trainers hand them on, and Python stops with a TypeError.

Sources: kohya-ss/sd-scripts 48d368f library/train_util.py (get_optimizer); signatures in transformers 5.24.0, torch
2.13, prodigyopt 1.1.2, lion-pytorch 0.2.5 and bitsandbytes (optim/adamw.py); bmaltais/kohya_ss#2191.
"""

from __future__ import annotations

from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import arguments
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document
from loralint.source.scalars import plain

_OF_ADAFACTOR = frozenset({"scale_parameter", "relative_step", "warmup_init", "clip_threshold", "decay_rate"})
_OF_PRODIGY = frozenset(
    {"d_coef", "d0", "decouple", "use_bias_correction", "safeguard_warmup", "growth_rate", "slice_p"}
)
# names as the trainers compare them, in small letters; of those that are not here nothing is known
_FOREIGN = {
    **dict.fromkeys(
        ("adamw", "adamw8bit", "pagedadamw", "pagedadamw8bit", "pagedadamw32bit", "lion", "lion8bit", "pagedlion8bit"),
        _OF_ADAFACTOR | _OF_PRODIGY,
    ),
    "prodigy": _OF_ADAFACTOR,
    "adafactor": _OF_PRODIGY | {"betas", "amsgrad", "fused_backward_pass"},
}


def observe_foreign(document: Document, _: Look) -> list[Observation]:
    """Observe arguments that the named optimizer does not take, where both stand in one place."""
    root = document.root
    pair = root.pair("optimizer_args") if root is not None else None
    named = root and (root.get("optimizer_type") or root.get("optimizer"))
    if pair is None or named is None or named.kind != "scalar":
        return []
    given = arguments(plain(pair.value, document.format))
    foreign = _FOREIGN.get(named.raw.lower(), frozenset())
    found = sorted(foreign.intersection(given)) if isinstance(given, dict) else []
    if not found:
        return []
    of = "Adafactor" if _OF_ADAFACTOR & set(found) else "another optimizer"
    message = f"{named.raw} takes no `{found[0]}`, which is an argument of {of}, and Python stops with a TypeError"
    return [Observation("rejected", place(document, pair, "optimizer_args"), "crash", message)]
