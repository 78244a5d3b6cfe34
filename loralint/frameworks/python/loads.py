"""How a model is loaded, and what switches among arguments say."""

from __future__ import annotations

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.trace import last, makers
from loralint.model import Unknown
from loralint.source.script import Argument, Call, Thing

# parts of names under which adapters are saved
_SAVED = ("lora", "adapter", "checkpoint", "output")
CLASSIFIERS = ("ForSequenceClassification", "ForTokenClassification")
# of pictures and sound, whose checkpoints often bring a head: with labels of the program's own it is a new one
_OTHERS = ("ForImageClassification", "ForVideoClassification", "ForAudioClassification")


def loaded(call: Call) -> dict[str, object]:
    """What an event says of a load. bits: 16 when nothing quantises, None when nobody knows."""
    what = of(call)
    owner = call.name.rpartition(".")[0].rpartition(".")[2]
    padded = any(call.arg(name) is not None for name in ("pad_token_id", "config")) or (None if call.open else False)
    if what is not None and what.package == "sentence_transformers":
        name = last(call)
        bits = None if call.arg("model_kwargs") is not None or call.open else 16
        ranks = name == "CrossEncoder"
        said = {"classifier": ranks, "headed": ranks}
        return {"class": name, "padded": None, "bits": bits, "unsloth": False, **said}
    classifier = owner.endswith(CLASSIFIERS)
    labelled = owner.endswith(_OTHERS) and any(call.arg(name) is not None for name in ("num_labels", "id2label"))
    data: dict[str, object] = {"class": owner, "classifier": classifier, "padded": padded}
    data["headed"] = classifier or labelled
    data["outputs"] = _outputs(call) if classifier else None
    if what is not None and what.package == "unsloth":
        four = switch(call.arg("load_in_4bit", 3), True)
        eight, whole = switch(call.arg("load_in_8bit"), False), switch(call.arg("full_finetuning"), False)
        hidden = call.open or None in (four, eight, whole)
        return {**data, "bits": None if hidden else 16 if whole else 8 if eight else 4 if four else 16, "unsloth": True}
    return {**data, "bits": _bits(call), "unsloth": False}


def _outputs(call: Call) -> int | None:
    """How many numbers a classifier gives for a text: two unless it is told."""
    if call.open or any(call.arg(name) is not None for name in ("config", "id2label", "label2id", "problem_type")):
        return None
    given = call.arg("num_labels")
    if given is None:
        return 2
    return given.node.native if isinstance(given.node.native, int) else None


def _bits(call: Call) -> int | None:
    given = call.arg("quantization_config")
    switches = [(bits, switch(call.arg(f"load_in_{bits}bit"), False)) for bits in (4, 8)]
    if given is None or given.node.tag == "null":
        if call.open or any(on is None for _, on in switches):
            return None
        return next((bits for bits, on in switches if on), 16)
    found, sure = makers(given.thing, "quantisation")
    if len(found) != 1 or not sure or found[0].open:
        return None
    for bits in (4, 8):
        if switch(found[0].arg(f"load_in_{bits}bit"), False):
            return bits
    return None


def load_of(thing: Thing | None) -> Call | None:
    """The one call that loads what a model comes from."""
    found = [*makers(thing, "load")[0], *makers(thing, "load-with-adapter")[0]]
    return found[0] if len(found) == 1 else None


def switch(given: Argument | None, default: bool) -> bool | None:
    """A switch, or its default; None when nobody knows."""
    if given is None:
        return default
    return None if isinstance(given.node.native, Unknown) else bool(given.node.native)


def reentrant(given: Argument | None) -> bool | None:
    """`use_reentrant` in keywords of checkpointing; None when it is not given."""
    node = given.node.get("use_reentrant") if given is not None and given.node.kind == "mapping" else None
    return node.native if node is not None and isinstance(node.native, bool) else None


def may_hold_adapter(load: Call) -> bool:
    """Whether Unsloth loads what may be a saved adapter together with its base: a folder, or a name that says so."""
    what = of(load)
    given = load.arg("model_name", 0)
    if what is None or what.package != "unsloth" or given is None:
        return False
    name = given.node.raw.lower()
    return given.node.tag != "str" or name.startswith(("/", ".", "~")) or any(word in name for word in _SAVED)


def paired(thing: Thing | None) -> bool:
    """Whether an object is all that Unsloth's loader gives back, a model together with its tokenizer."""
    made = thing.made if thing is not None else None
    what = of(made) if made is not None else None
    whole = made is not None and made.result is thing
    return whole and what is not None and (what.role, what.package) == ("load", "unsloth")


def valued(trainer: Call) -> str | None:
    """Class of the model that says what a state is worth, "" where a trainer with a reward model gets none; None when
    nobody knows.
    """
    given = trainer.arg("value_model")
    if given is None or given.node.tag == "null":
        return None if trainer.open or trainer.arg("reward_model") is None else ""
    load = load_of(given.thing)
    return str(loaded(load)["class"]) if load is not None else None
