"""What a program does to models, tokenizers and trainers, in its order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.forms import collated, formed, judged, left_out, merged
from loralint.frameworks.python.loads import load_of, loaded, paired, reentrant, switch, valued
from loralint.frameworks.python.owners import (
    by_accelerator,
    class_of,
    config_of,
    frozen,
    is_bare,
    is_part,
    is_trainer,
    number_of,
    numbers,
    optimized,
    wrapped_twice,
)
from loralint.frameworks.python.prompts import marked
from loralint.frameworks.python.rows import batched, labelled, media, transformed, with_rows
from loralint.frameworks.python.shards import flattened
from loralint.frameworks.python.splits import divided, measured, reduced, several
from loralint.frameworks.python.tokens import added, is_eos
from loralint.frameworks.python.trace import argument, last, makers, perhaps_none
from loralint.model import Event, Value
from loralint.source.limits import EVENTS
from loralint.source.script import Argument, Call, Script

_METHODS = {
    "gradient_checkpointing_enable": "checkpointing",
    "activation_checkpointing_enable": "checkpointing",
    "enable_input_require_grads": "enable-input-grads",
    "merge_and_unload": "merge",
    "merge_adapter": "merge",
    "resize_token_embeddings": "resize",
    "add_tokens": "add-tokens",
    "add_special_tokens": "add-tokens",
    "train": "train",
    "half": "cast",
    "bfloat16": "cast",
    "float": "cast",
    "to": "cast",
    "cuda": "cast",
    "save_pretrained": "save",
    "load_adapter": "load-adapter",
    "add_adapter": "wrap",
    "unload": "unload",
    "delete_adapter": "unload",
    "delete_adapters": "unload",
    "requires_grad_": "freeze",
    "set_adapter": "unfreeze",
    "enable_adapters": "unfreeze",
}
_OF_MODELS = frozenset({"add_adapter", "to", "cuda"})
_ROLES = {
    "load": "load", "load-with-adapter": "load", "load-tokenizer": "load-tokenizer", "prepare": "prepare",
    "wrap": "wrap", "load-adapter": "load-adapter",
}  # fmt: skip
_OPTIMIZERS = frozenset({"AdamW", "Adam", "SGD", "Adafactor", "Lion", "RMSprop", "AdamW8bit", "PagedAdamW8bit",
                         "Adam8bit", "PagedAdamW", "PagedAdamW32bit", "Adagrad", "NAdam", "RAdam"})  # fmt: skip
# collators that leave every padding token out of the loss by its number
_MASKING = frozenset({"DataCollatorForLanguageModeling", "DataCollatorForCompletionOnlyLM"})
_TOKENIZES = frozenset({"__call__", "encode", "batch_encode_plus", "encode_plus", "tokenize"})
CUT = f"of what the program does to its models only the first {EVENTS} steps are followed"


def events(script: Script) -> tuple[Event, ...]:
    """Every event of a program. What nobody could follow is an event of its own, since it may hold any other."""
    text = script.text
    done = list(itertools.islice((event for call in script.calls for event in _of(call, text)), EVENTS + 1))
    unread = [Event("unread", Value(why), (), {"reason": why}) for why in script.unread + (CUT,) * (len(done) > EVENTS)]
    read = {number for call in script.calls if last(call) in _TOKENIZES for number in numbers(call.on)}
    masked = [_masked(script, call) for call in script.calls if last(call) == "train_on_responses_only"]
    idle = left_out(script)
    kept = [one for one in judged(done[:EVENTS]) if one.kind != "collator" or one.data["number"] not in idle]
    return (*unread, *(with_rows(event, script, read) for event in kept), *masked)


def _masked(script: Script, call: Call) -> Event:
    """Prompts that are taken out of the loss, by the marks around them."""
    given = call.arg("response_part", 2)
    trainer = call.arg("trainer", 0)
    on = numbers(trainer.thing if trainer is not None else None)
    return _event("mask-prompts", call, last(call), on, marked(script, call), given)


def _of(call: Call, text: str) -> Iterator[Event]:
    what = of(call)
    name = last(call)
    if what is not None and what.role == "trainer":
        yield from _trainer(call, text)
    elif what is not None and what.role in _ROLES:
        yield from _known(call, _ROLES[what.role])
    elif call.on is not None and name in _METHODS:
        yield from _method(call, name)
    elif name == "__setattr__" and call.on is not None:
        yield from _assigned(call)
    elif name in _OPTIMIZERS and call.on is None:
        yield _event("optimizer", call, name, optimized(call), {"has_peft_config": False})
    elif name in _MASKING:
        tokenizer = call.arg("tokenizer", 0 if name != "DataCollatorForCompletionOnlyLM" else -1)
        on = numbers(tokenizer.thing if tokenizer is not None else None)
        yield _event("collator", call, name, on, collated(call))
    elif name == "save" and call.name.startswith("torch"):
        yield from _saved(call)
    else:
        yield from _beside(call, name, text)


def _beside(call: Call, name: str, text: str) -> Iterator[Event]:
    """What is done to rows, to parameters and to gradients."""
    if transformed(call):
        yield _event("transform", call, name, numbers(call.on), {"media": media(text)})
    elif (flat := flattened(call)) is not None:
        yield _event("flatten", call, name, *flat)
    elif name == "backward" and (accelerated := by_accelerator(call, text)) is not None:
        yield _event("backward", call, name, numbers(call.on), {"accelerated": accelerated})


def _known(call: Call, kind: str) -> Iterator[Event]:
    what = of(call)
    assert what is not None
    model = argument(call, "model", what)
    on = numbers(call.result) if model is None or kind.startswith("load-t") or kind == "load" else numbers(model.thing)
    data: Mapping[str, object] = {}
    by_swift = "Swift.from_pretrained" in call.name
    if kind == "load":
        data = loaded(call)
    elif kind == "load-adapter":
        wrapped = bool(makers(model.thing, "wrap")[0]) if model is not None else None
        unseen = by_swift and call.arg("inference_mode") is not None  # which its own adapters read
        decides = None if unseen else switch(call.arg("is_trainable", 3), False)
        data = {"trainable": decides, "wrapped": wrapped}
    elif kind == "wrap":
        named = call.arg("adapter_name", 2)
        name = named.node.native if named is not None and what.package == "peft" else "default"
        config = argument(call, "peft_config", what)
        data = {"named": name != "default", "unsloth": what.package == "unsloth", "beside": False, "own": False,
                "wrapped": bool(makers(model.thing, "wrap")[0]) if model is not None else None,
                "inner": is_part(model), "config": number_of(config)}  # fmt: skip
    elif kind == "load-tokenizer":
        yield from _tokenizer(call)
    elif kind == "prepare":
        kwargs = call.arg("gradient_checkpointing_kwargs", 2)
        data = {
            "checkpointing": switch(call.arg("use_gradient_checkpointing", 1), True),
            "reentrant": reentrant(kwargs),
        }
    loader = "Swift.from_pretrained" if by_swift else "PeftModel.from_pretrained"
    yield _event(kind, call, loader if kind == "load-adapter" else last(call), on, data)


def _trainer(call: Call, text: str) -> Iterator[Event]:
    what = of(call)
    model, config, args = (argument(call, name, what) for name in ("model", "peft_config", "args"))
    reference = argument(call, "ref_model", what)
    thing = model.thing if model is not None else None
    wraps = makers(thing, "wrap")[0]
    data = {
        "has_args": args is not None or call.open,
        "has_peft_config": _configured(config),
        "wrapped": bool(wraps),
        "wrapped_by": "unsloth" if any(of(one).package == "unsloth" for one in wraps) else "peft",  # type: ignore[union-attr]
        "trl": what is not None and what.package == "trl",
        "has_ref_model": None if perhaps_none(reference) else _given(reference) and not _same(reference, model),
        "own_reference": _same(reference, model),
        "evaluates": None if call.open else _given(argument(call, "eval_dataset", what)),
        "formats": _function(argument(call, "formatting_func", what)),
        "has_metrics": measured(call, text),
        "splits": divided(argument(call, "train_dataset", what)),
        "sets": several(argument(call, "eval_dataset", what)),
        "collator": batched(call, what),
        "labelled": labelled(call, what, text),
        "own_loss": "compute_loss" in text,
        "paired": paired(thing),
        "reduced": reduced(call, text),
        "valued": valued(call),
        "class": last(call),
        "args_class": class_of(args),
    }
    on = (*numbers(thing), *numbers(call.result))
    yield _event("trainer", call, last(call), on, data)
    tokenizer = call.arg("processing_class") or call.arg("tokenizer")
    if data["collator"] == "" and tokenizer is not None:
        yield _event("own-batches", call, last(call), numbers(tokenizer.thing), {"class": last(call)})
    if config is not None and _configured(config):
        both = wrapped_twice(call, wraps, config)
        given = {"wrapped": both, "trl": data["trl"], "beside": False, "own": False, "inner": False,
                 "config": number_of(config)}  # fmt: skip
        wrap = _event("trainer-wrap", call, f"{last(call)}.peft_config", on, given, config)
        yield wrap._replace(sure=wrap.sure and both is not None)  # in the other branch there is no config to put on


def _configured(config: Argument | None) -> bool | None:
    """Whether a trainer gets an adapter's config; None when it may turn out to be nothing."""
    if config is None or config.node.tag == "null":
        return False
    found, sure = makers(config.thing, "adapter")
    return True if found and sure else None


def _same(one: Argument | None, other: Argument | None) -> bool:
    return one is not None and other is not None and one.thing is not None and one.thing is other.thing


def _given(given: Argument | None) -> bool:
    return given is not None and given.node.tag != "null"


def _function(given: Argument | None) -> bool | None:
    """Whether a function is given; None when it may turn out to be nothing."""
    if given is None or given.node.tag == "null":
        return False
    return True if given.node.tag == "object" else None


def _method(call: Call, name: str) -> Iterator[Event]:
    on, kind, data = numbers(call.on), _METHODS[name], dict[str, object]()
    if (name == "train" and not is_trainer(call.on)) or (name in _OF_MODELS and load_of(call.on) is None):
        return  # `model.train()` is a mode, no training; batches are moved as models are
    if kind == "train":
        resumed = call.arg("resume_from_checkpoint", 0)
        data = {"resume": None if call.open and resumed is None else _given(resumed)}
    elif kind == "checkpointing":
        given = reentrant(call.arg("gradient_checkpointing_kwargs", 0))
        data = {"reentrant": given, "reenters": given is not False}
    elif kind == "wrap":
        named = call.arg("adapter_name", 1)  # of PEFT's own method the config stands there, after the name
        beside = named is not None and named.node.native != "default"
        data = {"unsloth": False, "named": False, "beside": beside, "own": True, "inner": False}
    elif kind == "cast":
        kind, data = formed(call, name)
    elif kind == "merge":
        load = load_of(call.on)
        data = {"bits": loaded(load)["bits"] if load is not None else None}
    elif kind == "freeze":
        asked = call.arg("requires_grad", 0)
        kind = "freeze" if asked is not None and asked.node.native is False else "unfreeze"
        on, data = frozen(call.on)
    elif kind == "save":
        data = {"bare": is_bare(call.on), "merged": merged(call.on)}
    elif kind == "add-tokens":
        data = added(call, name)
        yield from _special(call, data)
    yield _event(kind, call, name, on, data)


def _special(call: Call, given: dict[str, object]) -> Iterator[Event]:
    """A padding or end token that is chosen by adding it."""
    if given["pad"]:
        yield _event("set-pad", call, "pad_token", numbers(call.on), {"is_eos": False})
    if given["eos"]:
        yield _event("set-eos", call, "eos_token", numbers(call.on), {"literal": True})


def _assigned(call: Call) -> Iterator[Event]:
    name, given = call.args[0].node.raw, call.args[1]
    on = numbers(call.on)
    if name in ("pad_token", "pad_token_id") and not config_of(call.on):
        yield _event("set-pad", call, "pad_token", on, {"is_eos": is_eos(given)}, given)
    elif name == "requires_grad":
        kind = "freeze" if given.node.native is False else "unfreeze"
        yield _event(kind, call, name, *frozen(call.on))
    elif name == "eos_token":
        yield _event("set-eos", call, "eos_token", on, {"literal": given.node.tag == "str"}, given)
    else:
        inside = config_of(call.on)
        owner = numbers(inside) if inside is not None else on
        dotted = f"config.{name}" if inside is not None else name
        value = "adapter" if "get_peft_model_state_dict" in given.node.raw else given.node.native
        yield _event("set-attribute", call, dotted, owner, {"name": dotted, "value": value}, given)


def _tokenizer(call: Call) -> Iterator[Event]:
    for key, kind in (("pad_token", "set-pad"), ("eos_token", "set-eos")):
        given = call.arg(key)
        if given is not None and given.node.tag != "null":
            data = {"is_eos": is_eos(given)} if kind == "set-pad" else {"literal": given.node.tag == "str"}
            yield _event(kind, call, key, numbers(call.result), data, given)


def _saved(call: Call) -> Iterator[Event]:
    given = call.arg("obj", 0)
    made = given.thing.made if given is not None and given.thing is not None else None
    if made is not None and last(made) == "state_dict":
        yield _event("save", call, "torch.save", numbers(made.on), {"state_dict": True})


def _event(
    kind: str, call: Call, key: str, on: tuple[int, ...], data: Mapping[str, object] | None = None,
    given: Argument | None = None,
) -> Event:  # fmt: skip
    span = given.name_span if given is not None and given.name_span is not None else call.name_span
    return Event(kind, Value(None, key=key, span=span, key_span=span), on, data or {}, call.sure)
