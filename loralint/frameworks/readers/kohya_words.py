"""Names of optimizers and schedules that kohya's trainers do not find, and stop when the optimizer is made.

A short name is compared in small letters. What is none goes, as it is written, to torch.optim, or to the module that it
names with dots. sd-scripts has many short names, musubi-tuner three, so that `prodigy` is one of the former only.
Sources: kohya-ss/sd-scripts 48d368f library/train_util.py (get_optimizer, get_scheduler_fix); kohya-ss/musubi-tuner
30c658c training/trainer_base.py; torch 2.13 optim; transformers 5.24.0 and diffusers 0.39.0 (SchedulerType).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Pair
from loralint.source.scalars import is_template, plain


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


class Words(NamedTuple):
    """What a trainer knows. elsewhere: the class that is meant by a short name of its kin, with its module."""

    package: str
    optimizers: tuple[str, ...]
    schedules: tuple[str, ...]
    elsewhere: Mapping[str, str] = {}


_TORCH = _words("Adadelta Adafactor Adagrad Adam Adamax AdamW ASGD LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam")
_SCHEDULES = _words("""
    linear cosine cosine_with_restarts polynomial constant constant_with_warmup inverse_sqrt reduce_lr_on_plateau
    cosine_with_min_lr cosine_warmup_with_min_lr warmup_stable_decay greedy piecewise_constant adafactor
""")
SD_SCRIPTS = Words(
    "sd-scripts",
    _words("""
        AdamW AdamW8bit PagedAdamW PagedAdamW8bit PagedAdamW32bit Lion Lion8bit PagedLion8bit SGDNesterov
        SGDNesterov8bit DAdaptation DAdaptAdamPreprint DAdaptAdaGrad DAdaptAdam DAdaptAdan DAdaptAdanIP DAdaptLion
        DAdaptSGD Prodigy Adafactor RAdamScheduleFree AdamWScheduleFree SGDScheduleFree
    """),
    _SCHEDULES,
)
MUSUBI = Words(
    "musubi-tuner",
    _words("AdamW AdamW8bit Adafactor"),
    (*_SCHEDULES, "rex", "Rex", "REX"),
    {
        "prodigy": "prodigyopt.Prodigy",
        "lion": "lion_pytorch.Lion",
        "lion8bit": "bitsandbytes.optim.Lion8bit",
        "pagedadamw8bit": "bitsandbytes.optim.PagedAdamW8bit",
        "came": "pytorch_optimizer.CAME",
    },
)
_NAME = re.compile(r"\w+")


def observe_words(known: Words) -> Callable[[Document, Look], list[Observation]]:
    """Observe names that the trainer does not know; those with a dot, and what is filled in later, are not judged."""

    def observed(document: Document, _: Look) -> list[Observation]:
        return [*_optimizer(document, known), *_schedule(document, known)]

    return observed


def _optimizer(document: Document, known: Words) -> Iterator[Observation]:
    pair, name = _given(document, "optimizer_type", "optimizer")
    if pair is not None and name not in _TORCH and name.lower() not in (one.lower() for one in known.optimizers):
        message = f"there is no optimizer `{name}`, neither among its own nor in torch.optim"
        meant = known.elsewhere.get(name.lower()) or _near(name, (*known.optimizers, *_TORCH))
        yield _refused(document, pair, message, meant, known.package)


def _schedule(document: Document, known: Words) -> Iterator[Observation]:
    """A class may stand in for the word, and a schedule-free optimizer asks for none."""
    pair, name = _given(document, "lr_scheduler")
    instead, _ = _given(document, "lr_scheduler_type")
    free = _given(document, "optimizer_type", "optimizer")[1].lower().endswith("schedulefree")
    if pair is not None and name not in known.schedules and instead is None and not free:
        near = _near(name, known.schedules)
        yield _refused(document, pair, f"there is no schedule `{name}`", near, known.package)


def _given(document: Document, *keys: str) -> tuple[Pair | None, str]:
    """The first of these keys that holds a plain name, and the name."""
    for key in keys:
        pair = document.root.pair(key) if document.root is not None else None
        word = plain(pair.value, document.format) if pair is not None and pair.value.kind == "scalar" else None
        if pair is not None and isinstance(word, str) and _NAME.fullmatch(word) and not is_template(pair.value.raw):
            return pair, word
    return None, ""


def _near(word: str, known: tuple[str, ...]) -> str:
    spelled = {one.lower(): one for one in known}
    close = get_close_matches(word.lower(), spelled, 1, 0.8)
    return spelled[close[0]] if close else ""


def _refused(document: Document, pair: Pair, message: str, meant: str, package: str) -> Observation:
    rewrite = "value" if meant else ""
    return Observation("rejected", place(document, pair, pair.key), "crash", message, meant, rewrite, package)
