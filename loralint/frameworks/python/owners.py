"""Whose an object is: the model behind its parameters or its config, and whether anything was put on it."""

from __future__ import annotations

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.loads import load_of
from loralint.frameworks.python.trace import last, makers, root
from loralint.source.script import Argument, Call, Thing

# what gives a model's parameters one after the other
_PARAMETERS = frozenset({"parameters", "named_parameters"})


def is_bare(thing: Thing | None) -> bool:
    """Whether an object is a model that nothing was put on, as far as its own way goes."""
    roles = ("wrap", "load-adapter", "load-with-adapter")
    return thing is not None and not is_trainer(root(thing)) and not any(makers(thing, role)[0] for role in roles)


def number_of(given: Argument | None) -> int | None:
    """Which of the program's objects is given; None when nobody knows."""
    return given.thing.number if given is not None and given.thing is not None else None


def class_of(args: Argument | None) -> str | None:
    """The class that a trainer's arguments are of; None when nobody knows."""
    found, sure = makers(args.thing, "arguments") if args is not None else ([], False)
    return last(found[0]) if len(found) == 1 and sure else None


def is_trainer(thing: Thing | None) -> bool:
    """Whether an object is a trainer, also of a class of the program's own."""
    if thing is None or thing.made is None:
        return False
    what = of(thing.made)
    return (what is not None and what.role == "trainer") or last(thing.made).endswith("Trainer")


def frozen(thing: Thing | None) -> tuple[tuple[int, ...], dict[str, object]]:
    """The model whose parameters are made to require a gradient or none, and whether an adapter is on it."""
    model = _owner(thing)
    return numbers(model), {"wrapped": bool(makers(model, "wrap")[0])}


def _owner(thing: Thing | None) -> Thing | None:
    """The model whose parameters a loop goes through, of one of them; a model that was loaded itself."""
    made = thing.made if thing is not None else None
    if made is not None and last(made) == "__next__" and made.on is not None and made.on.made is not None:
        source = made.on.made
        return source.on if last(source) in _PARAMETERS else None
    return thing if load_of(thing) is not None else None


def config_of(thing: Thing | None) -> Thing | None:
    """The model whose `config` or `generation_config` this is."""
    made = thing.made if thing is not None else None
    if made is None or last(made) != "__getattr__" or "config" not in made.args[0].node.raw:
        return None
    return made.on


def numbers(thing: Thing | None) -> tuple[int, ...]:
    """The number by which all forms of one model are known; none for what nobody follows."""
    return (root(thing).number,) if thing is not None else ()


def by_accelerator(call: Call, text: str) -> bool | None:
    """Whether gradients are computed by an Accelerator's method, in a program that has prepared its parts with one.

    None in any other program, and of a loss that a scaler of the program's own has made.
    """
    made = call.on.made if call.on is not None and "Accelerator(" in text and ".prepare(" in text else None
    what = of(made) if made is not None else None
    return None if made is None or last(made) == "scale" else what is not None and what.role == "accelerator"


def optimized(call: Call) -> tuple[int, ...]:
    """The model whose parameters an optimizer gets."""
    given = call.arg("params", 0)
    made = given.thing.made if given is not None and given.thing is not None else None
    return numbers(made.on) if made is not None and made.on is not None else ()


def is_part(given: Argument | None) -> bool:
    """Whether what is given is a part of another object, as the language model within one that sees."""
    made = given.thing.made if given is not None and given.thing is not None else None
    return made is not None and last(made) == "__getattr__"


def wrapped_twice(trainer: Call, wraps: list[Call], config: Argument) -> bool | None:
    """Whether the trainer's model has an adapter besides the config; None where branches of their own make either."""
    made = [*wraps, *makers(config.thing, "adapter")[0]]
    return None if wraps and trainer.sure and not any(one.sure for one in made) else bool(wraps)
