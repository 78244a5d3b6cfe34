"""The file of SimpleTuner's `lycoris_config` (4.8.0 read): the algorithm of a LyCORIS adapter and its sizes.

Rank and alpha are cut to whole numbers, and LyCORIS takes an alpha of 0 for the rank. With `full_matrix`, and with a
rank beyond the size of the weights, LoKr trains whole factors and neither counts.
Sources: simpletuner/helpers/configuration/cmd_args.py, helpers/training/trainer.py; lycoris/modules/lokr.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.convert import never
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import KNOWN_TASK, first
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document
from loralint.source.scalars import value

_METHODS = {
    "lora": "lora",
    "locon": "lora",
    "loha": "loha",
    "lokr": "lokr",
    "oft": "oft",
    "boft": "oft",
    "full": "full",
}
_WHOLE = ("linear_dim", "linear_alpha", "multiplier")
_REQUIRED = ("multiplier", "linear_alpha")


def _int(number: object) -> object:
    return int(number) if isinstance(number, (int, float)) and not isinstance(number, bool) else SKIP


def combine(document: Document, values: Values) -> Values:
    """Alpha 0 is the rank."""
    del document
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    alpha, rank = values.get("adapter.alpha", ()), values.get("adapter.rank", ())
    if first(alpha) == 0 and rank:
        fields["adapter.alpha"] = (alpha[0]._replace(value=rank[0].value),)
    return fields


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe what is missing, and fractions that are cut off."""
    return [*_missing(document), *_cut(document)]


def _missing(document: Document) -> Iterator[Observation]:
    root = document.root
    pair = root.pair("algo") if root is not None else None
    if root is None or pair is None:
        return
    whole = root.get("full_matrix")
    wanted = [*_REQUIRED, *([] if whole is not None and whole.native is True else ["linear_dim"])]
    for key in wanted:
        if root.pair(key) is None:
            message = f"SimpleTuner wants `{key}` in this file"
            yield Observation("rejected", place(document, pair, "algo"), "crash", message, package="simpletuner")


def _cut(document: Document) -> Iterator[Observation]:
    for key in _WHOLE:
        pair = document.root.pair(key) if document.root is not None else None
        made = value(pair.value, "json") if pair is not None and pair.value.kind == "scalar" else None
        if pair is not None and isinstance(made, float) and not made.is_integer():
            becomes = ", which stands for the rank" if key == "linear_alpha" and int(made) == 0 else ""
            message = f"SimpleTuner cuts {pair.value.raw} to {int(made)}{becomes}"
            yield Observation("coerced", place(document, pair, key), "changed", message, package="simpletuner")


READER = Reader(
    name="simpletuner",
    title="SimpleTuner",
    dialect="json",
    table=(
        Entry("train.task", "", write=never),
        Entry("adapter.method", "algo", lambda word: _METHODS.get(str(word).lower(), word), never),
        Entry("adapter.rank", "linear_dim", _int),
        Entry("adapter.alpha", "linear_alpha", _int),
    ),
    keys="",
    coerces=False,
    packages=("simpletuner",),
    observe=(observe_faults,),
    combine=combine,
    partial=lambda _: "the config that names this file may say it",
)
