"""Which calls of a program make one training start: its trainer, and what reaches it."""

from __future__ import annotations

from typing import NamedTuple

from loralint.frameworks.python.classes import PREPARING, Known, of
from loralint.frameworks.python.handed import optimizer_of
from loralint.frameworks.python.trace import argument, last, makers, root
from loralint.source.script import Argument, Call, Script, Thing

# parts of a loop of the program's own, by the roles of the calls that make them
_LOOP = ("optimizer", "accelerator", "batches")
_HIDDEN = "the script does not show how the model is made"
# How calls are named that train.
_TRAINS = frozenset({"train", "fit", "backward"})
# What a trainer loads a model with of which it gets the name, among its arguments.
_KEYWORDS = "model_init_kwargs"


class Parts(NamedTuple):
    """The calls of one start, None where there is none. open: section or role -> why nobody knows what it holds.

    named: the trainer gets the model's name. plain: the trainer gets a model that nothing was put on. inside: a method
    of the model puts the adapter into it.
    """

    trainer: Call | None = None
    arguments: Call | None = None
    adapter: Call | None = None
    wrap: Call | None = None
    load: Call | None = None
    quantiser: Call | None = None
    saved: Call | None = None
    prepare: Call | None = None
    optimizer: Call | None = None
    accelerator: Call | None = None
    batches: Call | None = None
    open: tuple[tuple[str, str], ...] = ()
    named: bool = False
    plain: bool = False
    inside: bool = False

    def calls(self) -> list[Call]:
        """Those that there are, each once: one call loads a model together with the adapter saved on it."""
        every = (self.trainer, self.arguments, self.adapter, self.wrap, self.load, self.quantiser, self.saved,
                 self.prepare, self.optimizer, self.accelerator, self.batches)  # fmt: skip
        return list({id(call): call for call in every if call is not None}.values())


class Pool:
    """The calls of a program by their role. added: those that put an adapter into a model, and make no other of it."""

    def __init__(self, script: Script) -> None:
        self.by_role: dict[str, list[Call]] = {}
        self._by_owner: dict[int, list[Call]] = {}
        for call in script.calls:
            what = of(call)
            if what is not None:
                self.by_role.setdefault(what.role, []).append(call)
            if call.on is not None:
                self._by_owner.setdefault(id(call.on), []).append(call)
        self.added = [call for call in script.calls if call.on is not None and last(call) == "add_adapter"]

    def all(self, role: str) -> list[Call]:
        """Every call of a role, in order."""
        return self.by_role.get(role, [])

    def on(self, made: Call) -> list[Call]:
        """The methods that are called, and the attributes that are set, on what a call gives back."""
        return self._by_owner.get(id(made.result), [])

    def only(self, role: str) -> tuple[Call | None, str]:
        """The only call of a role, or why none can be taken for it."""
        found = self.all(role)
        if len(found) == 1:
            return found[0], ""
        return None, f"the script makes {len(found)} of them, and which one counts is not clear" if found else ""


def starts_of(script: Script) -> list[Parts]:
    """One for each trainer that is made, else one for all that the program prepares, else none."""
    pool = Pool(script)
    trainers = pool.all("trainer")
    if trainers:
        return [_of_trainer(call, pool, script) for call in trainers if not _only_measures(call, pool, script)]
    if not any(map(pool.all, PREPARING)) and not any(_is_unsloth(call) for call in pool.all("load")):
        return []
    return [_without_trainer(pool)]


def _only_measures(trainer: Call, pool: Pool, script: Script) -> bool:
    """Whether a trainer is asked for its measures alone, as scripts of evaluation do with a finished adapter."""
    asked = {last(call) for call in pool.on(trainer)}
    return not asked.isdisjoint(("evaluate", "predict")) and "train" not in asked and not script.unread


def _is_unsloth(call: Call) -> bool:
    what = of(call)
    return what is not None and what.package == "unsloth"


def _of_trainer(trainer: Call, pool: Pool, script: Script) -> Parts:
    what = of(trainer)
    assert what is not None
    reasons: dict[str, str] = {}
    arguments = _reached(argument(trainer, "args", what), "arguments", pool, reasons, trainer)
    model = argument(trainer, "model", what)
    named = _is_named(model, what)
    parts = Parts() if named else _of_model(model.thing if model is not None else None, pool, reasons)
    config = argument(trainer, "peft_config", what)
    adapter, quantiser = parts.adapter, parts.quantiser
    if config is not None and not _is_none(config):
        reasons.pop("adapter", None)
        adapter = _reached(config, "adapter", pool, reasons, trainer)
    elif trainer.open:
        reasons.setdefault("adapter", _more(trainer))
    if named and (given := argument(trainer, "quantization_config", what)) is not None and not _is_none(given):
        quantiser = _reached(given, "quantisation", pool, reasons, trainer)
    elif named and arguments is not None:
        quantiser = _of_keywords(arguments, pool, reasons)
    plain = (named or parts.plain) and adapter is None and "adapter" not in reasons
    optimizer = optimizer_of(trainer, pool.on(trainer), script, reasons)
    return parts._replace(
        trainer=trainer, arguments=arguments, adapter=adapter, quantiser=quantiser, named=named, plain=plain,
        optimizer=optimizer, open=tuple(reasons.items()),
    )  # fmt: skip


def _of_keywords(arguments: Call, pool: Pool, reasons: dict[str, str]) -> Call | None:
    """The quantisation among the keywords that a trainer loads a named model with."""
    later = [call for call in pool.on(arguments) if call.name == "__setattr__" and call.args[0].node.raw == _KEYWORDS]
    given = [call.args[1] for call in later] or [one for one in (arguments.arg(_KEYWORDS),) if one is not None]
    node = given[-1].node if given else None
    if node is None or node.tag == "null":
        return None
    asked = node.get("quantization_config") if node.kind == "mapping" else node
    if asked is None or asked.tag == "null":
        return None
    only, why = pool.only("quantisation")
    if only is None or node.kind != "mapping":
        reasons["quantisation"] = why or f"what `{_KEYWORDS}` says of it is made when the program runs"
    return only if node.kind == "mapping" else None


def _is_named(model: Argument | None, what: Known) -> bool:
    """Whether a trainer gets the model's name: a text, or what the command line or the environment gives for one."""
    texts = ("str", "argument") if what.package == "trl" else ("str",)
    return model is not None and model.thing is None and model.node.tag in texts


def _without_trainer(pool: Pool) -> Parts:
    """What there is of each role, where there is one of it."""
    reasons: dict[str, str] = {}
    wrapped = pool.all("wrap") or pool.all("load-adapter")
    parts = _of_model(wrapped[-1].result, pool, reasons) if wrapped else Parts()
    arguments = _single("arguments", pool, reasons)
    adapter = parts.adapter or _single("adapter", pool, reasons)
    made = [None, None, None] if arguments is not None else [_single(role, pool, reasons) for role in _LOOP]
    loop = Parts(optimizer=made[0], accelerator=made[1], batches=made[2])
    if wrapped:
        return parts._replace(
            arguments=arguments, adapter=adapter, plain=False, open=tuple(reasons.items()),
            optimizer=loop.optimizer, accelerator=loop.accelerator, batches=loop.batches,
        )  # fmt: skip
    load = _single("load", pool, reasons) or _single("load-with-adapter", pool, reasons)
    quantiser = _quantiser(load, pool, reasons) if load is not None else _single("quantisation", pool, reasons)
    return loop._replace(
        arguments=arguments, adapter=adapter, load=load, quantiser=quantiser, open=tuple(reasons.items())
    )


def _single(role: str, pool: Pool, reasons: dict[str, str]) -> Call | None:
    found, why = pool.only(role)
    if why:
        reasons[role] = why
    return found


def _of_model(model: Thing | None, pool: Pool, reasons: dict[str, str]) -> Parts:
    """How the model that is trained came to be, as far as its chain goes back."""
    if model is None:
        reasons |= {"load": _HIDDEN, "adapter": _HIDDEN}
        return Parts()
    wraps, _ = makers(model, "wrap")
    saved = [*makers(model, "load-adapter")[0], *makers(model, "load-with-adapter")[0]]
    load = _loaded(model, pool, reasons)
    wrap = wraps[0] if len(wraps) == 1 else None
    adapter = None
    if len(wraps) > 1:
        reasons["adapter"] = "which adapter is put on the model depends on a branch"
    elif wrap is not None and not _is_unsloth(wrap):
        adapter = _reached(argument(wrap, "peft_config", of(wrap)), "adapter", pool, reasons, wrap)
    first = root(model)
    own = [call for call in pool.added if not wraps and call.on is not None and root(call.on) is first]
    if own and (len(own) > 1 or not own[0].sure):
        reasons["adapter"] = "which adapter is put into the model depends on a branch"
    elif own:
        config = own[0].arg("adapter_config", 0) or own[0].arg("peft_config")
        adapter = _reached(config, "adapter", pool, reasons, own[0])
    prepared, _ = makers(model, "prepare")
    plain = not wraps and not own and not saved and load is not None and first.made is load
    if not wraps and not own and not saved and not plain:
        reasons.setdefault("adapter", "the script does not show what is put on the model")
    quantiser = _quantiser(load, pool, reasons) if load is not None else None
    return Parts(
        None, None, adapter, wrap, load, quantiser, saved[0] if saved else None,
        prepared[0] if len(prepared) == 1 else None, plain=plain, inside=bool(own),
    )  # fmt: skip


def _loaded(model: Thing, pool: Pool, reasons: dict[str, str]) -> Call | None:
    found = [*makers(model, "load")[0], *makers(model, "load-with-adapter")[0]]
    if len(found) == 1:
        return found[0]
    if found:
        reasons["load"] = "how the model is loaded depends on a branch"
        return None
    load = _single("load", pool, reasons)
    if load is None:
        reasons["load"] = _HIDDEN
    return load


def _quantiser(load: Call, pool: Pool, reasons: dict[str, str]) -> Call | None:
    given = load.arg("quantization_config")
    if given is not None and _is_none(given):
        return None
    found, sure = makers(given.thing, "quantisation") if given is not None else ([], True)
    if found and not sure:
        reasons["quantisation"] = "whether the model is quantised depends on a branch"
        return None
    return _reached(given, "quantisation", pool, reasons, load)


def _is_none(given: Argument) -> bool:
    return given.node.kind == "scalar" and given.node.tag == "null"


def _more(call: Call) -> str:
    return f"`{last(call)}` gets more arguments than can be seen here"


def _reached(given: Argument | None, role: str, pool: Pool, reasons: dict[str, str], by: Call) -> Call | None:
    """The call that made what is given; the only one of its role where the way to it cannot be followed."""
    if given is None or _is_none(given):
        if by.open and given is None:
            reasons[role] = _more(by)
        return None
    found, _ = makers(given.thing, role)
    if len(found) == 1:
        return found[0]
    if found:
        reasons[role] = f"`{given.name or role}` depends on a branch"
        return None
    only, why = pool.only(role)
    if only is None:
        reasons[role] = why or f"`{given.node.raw or given.name}` is made when the program runs"
    return only


def trains_itself(script: Script, parts: Parts) -> bool:
    """Whether a program that imports others of its files trains itself, or prepares anything itself; they do for others
    as well.
    """
    if parts.trainer is not None or any(last(call) in _TRAINS for call in script.calls):
        return True
    here = (call for call in parts.calls() if call.span.file == script.document.file and not call.fields)
    return any(package_of(call).role in PREPARING for call in here)


def package_of(call: Call) -> Known:
    """What a call of a start is; those of a start are all known."""
    what = of(call)
    assert what is not None
    return what
