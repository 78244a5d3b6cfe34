"""What a program asks of a library that cannot do it: of streamed rows, and of old releases of Sentence Transformers.

Sources: transformers 4.57.6 trainer.py (`group_by_length` and an IterableDataset: a ValueError, gone in 5);
sentence-transformers 3.2.1 and 3.3.0 (peft_mixin.py came with 3.3).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.collators import of_collators
from loralint.frameworks.python.columns import of_columns
from loralint.frameworks.python.fed import of_fed
from loralint.frameworks.python.imported import of_imported
from loralint.frameworks.python.jupyter import of_jupyter
from loralint.frameworks.python.loops import of_loops
from loralint.frameworks.python.overridden import of_overridden
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.refused import of_refused
from loralint.frameworks.python.trace import argument, last
from loralint.frameworks.python.unchanged import of_unchanged
from loralint.frameworks.python.virtual import of_virtual
from loralint.frameworks.table import Look, Observation
from loralint.model import Span, Value
from loralint.source.script import Call, Script, Thing

_SAME_ROWS = frozenset(
    {"map", "filter", "shuffle", "take", "skip", "select_columns", "remove_columns", "rename_column"}
)
# whose first parameter has been the model in every release
_MODEL_FIRST = frozenset(
    {"Trainer", "Seq2SeqTrainer", "SFTTrainer", "DPOTrainer", "KTOTrainer", "ORPOTrainer", "CPOTrainer",
     "RewardTrainer", "GRPOTrainer"}
)  # fmt: skip
_REWARDS = 5  # place of the model of rewards among PPO's arguments
_STEPS = 20  # of one set of rows to the next


def of_what_cannot_be(script: Script, parts: Parts, look: Look) -> Iterator[Observation]:
    """Whatever of this one start asks."""
    yield from _grouped(script, parts, look)
    own = (parts.trainer,) if parts.trainer is not None else script.calls
    yield from _given_twice(script, own)
    yield from _without(own, look)
    yield from of_jupyter(script)
    yield from of_imported(script)
    yield from of_loops(script, parts)
    yield from of_overridden(script, parts, look)
    yield from of_unchanged(script)
    yield from of_refused(script, parts, look)
    yield from of_fed(script, parts, look)
    yield from of_collators(script, parts, look)
    yield from of_columns(script, parts, look)
    yield from of_virtual(script, parts, look)
    for call in script.calls if look.version_is("sentence-transformers<3.3") else ():
        owner = call.on.made if call.on is not None else None
        if last(call) == "add_adapter" and owner is not None and last(owner) == "SentenceTransformer":
            message = "models of Sentence Transformers take adapters since 3.3"
            yield _told(
                "add_adapter", call.name_span, message, "pin sentence-transformers>=3.3", "sentence-transformers"
            )


def _given_twice(script: Script, calls: tuple[Call, ...]) -> Iterator[Observation]:
    """A trainer whose first place something else takes, while the model, which stands there, comes by its name."""
    for call in calls:
        first = next((one for one in call.args if not one.name), None)
        if last(call) in _MODEL_FIRST and call.on is None and first is not None and call.arg("model") is not None:
            key, written = f"{last(call)}.model", first.node.raw[:40]
            message = f"`{written}` stands where the model belongs, and Python stops at two values for `model`"
            yield _told(key, script.document.span(first.node), message, "name every argument: args=..., model=...", "")


def _without(calls: tuple[Call, ...], look: Look) -> Iterator[Observation]:
    """A trainer of models that gets none, and PPO in the form of before TRL 0.12, with neither rewards nor rows."""
    for call in calls:
        placed = sum(not one.name for one in call.args)
        if call.on is not None or call.open or not call.name.startswith(("transformers.", "trl.")):
            continue
        if last(call) in _MODEL_FIRST and not placed and call.arg("model") is None and call.arg("model_init") is None:
            message = "it gets neither a model nor a way to make one"
            yield _told(f"{last(call)}.model", call.name_span, message, "hand it the model: model=...", "")
        old = last(call) == "PPOTrainer" and placed < _REWARDS and call.arg("reward_model") is None
        if old and look.version_is("trl>=0.12"):
            message = "since TRL 0.12 it wants reward_model and train_dataset, and has no step() of its own any more"
            advice = "pin trl<0.12, or write the loop anew: reward_model=..., value_model=..., train_dataset=..."
            yield _told("PPOTrainer.reward_model", call.name_span, message, advice, "trl")


def _grouped(script: Script, parts: Parts, look: Look) -> Iterator[Observation]:
    """A stream whose rows are to be sorted by their length."""
    asked = parts.arguments.arg("group_by_length") if parts.arguments is not None else None
    what = of(parts.trainer) if parts.trainer is not None else None
    if parts.trainer is None or asked is None or asked.node.native is not True or not look.version_is("transformers<5"):
        return
    rows = argument(parts.trainer, "train_dataset", what)
    if rows is not None and _streamed(rows.thing):
        key = f"{last(parts.arguments)}.group_by_length" if parts.arguments is not None else ""
        message = "the rows are a stream, whose lengths nobody knows, and the trainer refuses it"
        yield _told(
            key, script.document.span(asked.node), message, "take it out, or load the rows without streaming", ""
        )


def _streamed(rows: Thing | None) -> bool:
    """Whether rows surely come from `load_dataset(..., streaming=True)`."""
    for _ in range(_STEPS):
        made = rows.made if rows is not None else None
        if made is None or made.on is None or last(made) not in _SAME_ROWS:
            break
        rows = made.on
    given = made.arg("streaming") if made is not None and last(made) == "load_dataset" else None
    return given is not None and given.node.native is True


def _told(key: str, span: Span, message: str, advice: str, package: str) -> Observation:
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    return Observation("rejected", where, "crash", message, package=package, data={"advice": advice})
