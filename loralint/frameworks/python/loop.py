"""Rows of a training loop that the script writes itself: its optimizer and its Accelerator.

Sources: torch 2.13.0 optim, bitsandbytes 0.49.1 optim, accelerate 1.15.0 accelerator.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loralint.frameworks.convert import always, never, not_null
from loralint.frameworks.python.classes import CLASSES
from loralint.frameworks.table import SKIP, Entry
from loralint.model import Unknown

_DECAY = {"AdamW": 0.01, "AdamW8bit": 0.01, "PagedAdamW8bit": 0.01, "PagedAdamW32bit": 0.01, "PagedAdamW": 0.01}
_RATES = {"Lion": 1e-4, "Lion8bit": 1e-4, "PagedLion8bit": 1e-4, "Adafactor": SKIP}
LOADER = "DataLoader"
_ASKED = Unknown("`accelerate config` or the launch line says it where the script does not")


def loop_rows(optimizer: str, accelerator: bool, batches: str) -> Iterator[Entry]:
    """The rows of an optimizer's class, "" for none, of an Accelerator, and of rows in batches.

    batches: "DataLoader" where the program makes one and it is the only one, else why nobody knows their size.
    """
    if batches == LOADER:
        yield Entry("batch.micro", f"{LOADER}.batch_size", _size, default=1)
    else:
        yield Entry("batch.micro", f"{LOADER}.batch_size", write=never, default=Unknown(batches))
    if optimizer:
        yield from optimizer_rows(optimizer)
    if accelerator:
        yield Entry("precision.bf16", "Accelerator.mixed_precision", _is("bf16"), never, _ASKED)
        yield Entry("precision.fp16", "Accelerator.mixed_precision", _is("fp16"), never, _ASKED)
        yield Entry("batch.accumulation", "Accelerator.gradient_accumulation_steps", not_null, default=_ASKED)


def optimizer_rows(name: str) -> Iterator[Entry]:
    """The rows of an optimizer's class."""
    yield Entry("optim.name", name, always(CLASSES[name].word), never)
    yield Entry("optim.lr", f"{name}.lr", not_null, default=_RATES.get(name, 1e-3))
    yield Entry("optim.weight_decay", f"{name}.weight_decay", not_null, default=_DECAY.get(name, 0.0))
    yield Entry("optim.eps", f"{name}.eps", not_null)


def _size(value: object) -> object:
    return Unknown("the rows come in batches already") if value is None else value


def _is(wanted: str) -> Callable[[object], object]:
    return lambda value: SKIP if value is None else str(value) == wanted
