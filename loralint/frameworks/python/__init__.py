"""Training scripts: from what a program does to the starts of training that it holds, each with a reader of its own.

A script has no table of keys: each start is read as a tree of sections, one for each class that it fills, by the rows
that files with the same fields are read by. Nothing is run, and what only running would tell is unknown with a reason.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from loralint.frameworks.python.assigned import with_assigned
from loralint.frameworks.python.build import section, tree
from loralint.frameworks.python.classes import Known, of
from loralint.frameworks.python.events import CUT, events
from loralint.frameworks.python.faults import faults
from loralint.frameworks.python.gone import Observer, observe_gone
from loralint.frameworks.python.keywords import observe_keywords
from loralint.frameworks.python.loads import CLASSIFIERS, may_hold_adapter
from loralint.frameworks.python.observers import OBSERVED
from loralint.frameworks.python.options import parsers
from loralint.frameworks.python.owners import number_of
from loralint.frameworks.python.parts import Parts, package_of, starts_of, trains_itself
from loralint.frameworks.python.program import observe_program, text_decides, whole_adapter
from loralint.frameworks.python.tables import Shape, table
from loralint.frameworks.python.trace import argument, last, root
from loralint.frameworks.read import read_layer
from loralint.frameworks.table import Layer, Look, Reader
from loralint.model import Event, Note, Observation, Unknown
from loralint.source.document import Document, Pair
from loralint.source.limits import TRAINERS
from loralint.source.script import Call, Script

_TITLES = {"trl": "TRL", "transformers": "Transformers", "peft": "PEFT"}
_PACKAGES = {
    "trl": ("trl", "transformers", "peft"),
    "transformers": ("transformers", "peft"),
    "peft": ("peft", "transformers"),
}
# without any of these nobody sees that the script trains: it may as well load an adapter to use it
_TRAINING = frozenset({"train", "optimizer", "prepare", "checkpointing"})
# what no section stands for, where nobody knows of it
_HIDDEN = ("quantisation", "optimizer", "schedule", "rate")
_DEFAULT_ARGUMENTS = {"Seq2SeqTrainer": "Seq2SeqTrainingArguments", "UnslothTrainer": "UnslothTrainingArguments"}


class Start(NamedTuple):
    """One training start of a program. offset: where its trainer is made, or the first of its parts. parsed: sections
    of a library's classes that the command line fills. seen: the reader where all of that line is known. placed: an
    adapter's config is made whatever the settings are.
    """

    document: Document
    reader: Reader
    offset: int
    events: tuple[Event, ...] = ()
    observations: tuple[Observation, ...] = ()
    notes: tuple[Note, ...] = ()
    parsed: tuple[str, ...] = ()
    seen: Reader | None = None
    placed: bool = False


def starts(script: Script) -> tuple[Start, ...]:
    """Every training start of a program, in its order; none for a program that trains nothing of ours."""
    every = starts_of(script)
    done = events(script) if every else ()
    if script.modules and not any(event.kind in _TRAINING for event in done):
        every = [parts for parts in every if trains_itself(script, parts)]
    found = every[:TRAINERS]
    models = [_models(parts) for parts in every]
    gone = observe_gone(script)
    cut = any(event.kind == "unread" and event.data.get("reason") == CUT for event in done)
    notes = (*_untold(len(every)), *((Note("not-checked", CUT),) if cut else ()))
    return tuple(
        _start(script, parts, _own(done, at, every, models), gone)._replace(notes=notes)
        for at, parts in enumerate(found)
    )


def _untold(trainers: int) -> tuple[Note, ...]:
    more = trainers - TRAINERS
    told = f"{more} more trainer{'s' if more > 1 else ''} of the program, of which the first {TRAINERS} are read"
    return (Note("not-checked", told),) if more > 0 else ()


def _own(done: tuple[Event, ...], at: int, every: list[Parts], models_of: list[frozenset[int]]) -> tuple[Event, ...]:
    """The events of one start: all but those of another trainer, on a model that only another one trains, or of a
    collator that only another one gets.
    """
    trainers = {one.trainer.result.number for one in every if one is not every[at] and one.trainer is not None}
    models = frozenset().union(*(one for other, one in enumerate(models_of) if other != at)) - models_of[at]
    collators = {_collator(one) for one in every if one is not every[at]} - {_collator(every[at]), None}
    return tuple(
        event for event in done
        if not trainers.intersection(event.on) and not (event.on and models.issuperset(event.on))
        and not (event.kind == "collator" and event.data["number"] in collators)
    )  # fmt: skip


def _models(parts: Parts) -> frozenset[int]:
    """Numbers of the model that a start trains, in its first form."""
    given = argument(parts.trainer, "model", of(parts.trainer)) if parts.trainer is not None else None
    return frozenset({root(given.thing).number} if given is not None and given.thing is not None else ())


def _collator(parts: Parts) -> int | None:
    """The number of the collator that a start's trainer gets."""
    return number_of(argument(parts.trainer, "data_collator", of(parts.trainer))) if parts.trainer is not None else None


def layer_of(start: Start, look: Look) -> Layer:
    """What a start says in canonical terms, at the versions that `look` knows."""
    layer = read_layer(start.document, start.reader, look)
    return layer._replace(observations=(*layer.observations, *start.observations), events=start.events, kind="script")


def _start(script: Script, parts: Parts, done: tuple[Event, ...], gone: Observer) -> Start:
    shape = _shape(parts)._replace(whole=_whole(script, parts))
    placed = parts.adapter is not None and parts.adapter.sure
    reader = Reader(
        name=shape.framework,
        title=_TITLES[shape.framework],
        dialect="python",
        table=table(shape),
        keys="",
        coerces=False,  # a dataclass takes what it is given
        packages=_PACKAGES[shape.framework],
        guessed=parts.trainer is None and parts.arguments is None and not any(e.kind in _TRAINING for e in done),
        kin=("peft",) if shape.adapter else (),
        observe=(
            observe_keywords(script, patched=shape.load == "unsloth"),
            *OBSERVED,
            *whole_adapter(parts, script),
            gone,
            partial(observe_program, script, parts),
        ),
        combine=partial(text_decides, script.text, placed),
    )
    sections = [_named(_section(script, call, parts), call) for call in parts.calls()]
    first = parts.trainer or min(parts.calls(), key=lambda call: call.span.start, default=None)
    offset = first.span.start if first is not None else 0
    document = tree(script.document, sections)
    places = parsers(script)
    filled = tuple(_named_of(call) for call in parts.calls() if call.open and call.span in places)
    left = shape._replace(open=tuple(one for one in shape.open if one[0] not in filled))
    told = faults(script, document, parts)
    seen = reader._replace(table=table(left))
    return Start(document, reader, offset, done, told, parsed=filled, seen=seen, placed=placed)


def _section(script: Script, call: Call, parts: Parts) -> Pair:
    made = section(script.document, call, of(call))
    users = {id(parts.arguments): parts.trainer, id(parts.adapter): parts.wrap or parts.trainer,
             id(parts.quantiser): parts.load}  # fmt: skip
    return with_assigned(made, script, call, users[id(call)]) if id(call) in users else made


def _named(pair: Pair, call: Call) -> Pair:
    """A saved adapter is loaded by a function of the same name as a model, so its section has the class' name."""
    return pair._replace(key=_named_of(call)) if package_of(call).role == "load-adapter" else pair


def _named_of(call: Call) -> str:
    return "PeftModel" if package_of(call).role == "load-adapter" else last(call)


def _shape(parts: Parts) -> Shape:
    trainer = last(parts.trainer) if parts.trainer is not None else ""
    what = of(parts.trainer) if parts.trainer is not None else None
    arguments = last(parts.arguments) if parts.arguments is not None else _default_arguments(trainer, what)
    framework = _framework(parts, what)
    wrap = package_of(parts.wrap).package if parts.wrap is not None else ""
    load = "name" if parts.named else _load(parts)
    return Shape(
        framework=framework,
        arguments=arguments if framework != "peft" else "",
        trainer=trainer,
        adapter=last(parts.adapter) if parts.adapter is not None else "",
        quantiser=last(parts.quantiser) if parts.quantiser is not None else "",
        load=load,
        wrap=wrap,
        method=_method(parts),
        task=_task(parts, what),
        open=tuple(sorted(_open(parts, arguments))),
        cast=not parts.inside and _casts(parts.wrap),
        optimizer=last(parts.optimizer) if parts.optimizer is not None else "",
        accelerator=parts.accelerator is not None,
        batches=_batches(parts),
    )


def _batches(parts: Parts) -> str:
    """The class that puts rows into batches, else why nobody knows of how many."""
    if parts.batches is not None and parts.batches.arg("batch_sampler") is None:
        return last(parts.batches)
    several = dict(parts.open).get("batches", "")
    return f"`DataLoader`: {several}" if several else "the script does not show what puts its rows into batches"


def _whole(script: Script, parts: Parts) -> bool:
    """Whether the model is loaded before the trainer's arguments or an Accelerator, from which alone Transformers knows
    that ZeRO-3 is to split it.
    """
    telling = ("arguments", "accelerator")
    first = next((call for call in script.calls if call is parts.load or _role(call) in telling), None)
    return first is not None and first is parts.load


def _role(call: Call) -> str:
    what = of(call)
    return what.role if what is not None else ""


def _default_arguments(trainer: str, what: Known | None) -> str:
    if what is None:
        return ""
    if what.package == "trl" and trainer not in _DEFAULT_ARGUMENTS:
        return trainer.removesuffix("Trainer") + "Config"
    return _DEFAULT_ARGUMENTS.get(trainer, "TrainingArguments")


def _framework(parts: Parts, what: Known | None) -> str:
    packages = {what.package} if what is not None else set()
    if parts.arguments is not None:
        packages.add(package_of(parts.arguments).package)
    return next((name for name in ("trl", "transformers") if name in packages), "peft")


def _load(parts: Parts) -> str:
    if parts.load is None:
        return ""
    package = package_of(parts.load).package
    return last(parts.load) if package == "sentence_transformers" else "unsloth" if package == "unsloth" else "auto"


def _task(parts: Parts, what: Known | None) -> str:
    """What the trainer or its arguments are for; for the plain Trainer the adapter's config and the model tell."""
    if what is not None and what.word:
        return what.word
    word = package_of(parts.arguments).word if parts.arguments is not None else ""
    if word or not (parts.arguments or parts.trainer or parts.optimizer):
        return word
    given = parts.adapter.arg("task_type") if parts.adapter is not None else None
    kind = given.node.raw.rpartition(".")[2] if given is not None else ""
    owner = parts.load.name.rpartition(".")[0] if parts.load is not None else ""
    if kind == "CAUSAL_LM" or (not kind and owner.endswith("ForCausalLM")):
        return "sft"
    return "cls" if kind in ("SEQ_CLS", "TOKEN_CLS") or owner.endswith(CLASSIFIERS) else ""


def _casts(wrap: Call | None) -> bool:
    given = wrap.arg("autocast_adapter_dtype") if wrap is not None else None
    return given is None or given.node.native is not False


def _method(parts: Parts) -> object:
    reason = dict(parts.open).get("adapter")
    if reason:
        return Unknown(reason)
    if parts.saved is not None:
        return Unknown("the adapter that is loaded says in its own config what it is")
    if parts.load is not None and may_hold_adapter(parts.load):
        return Unknown("Unsloth puts the adapter on that lies in what it loads, if one does")
    if parts.plain and parts.trainer is not None:
        return "full"
    return Unknown("the script does not show what is trained")


def _open(parts: Parts, arguments: str) -> list[tuple[str, str]]:
    """(section, why it may hold more than can be seen)."""
    found = []
    for call in parts.calls():
        if call.open:
            name = _named_of(call)
            found.append((name, f"`{name}` gets more arguments than can be seen here"))
    reasons = dict(parts.open)
    if parts.arguments is None and arguments and "arguments" in reasons:
        found.append((arguments, reasons["arguments"]))
    return found + [(name, reasons[name]) for name in _HIDDEN if name in reasons]


__all__ = ["Start", "layer_of", "starts"]
