"""What goes wrong on the way to a class: objects that reach nothing, strings that became one, calls that give None."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from loralint.frameworks.logins import typed
from loralint.frameworks.observe import place
from loralint.frameworks.python.classes import of
from loralint.frameworks.python.filled import left_to_nobody
from loralint.frameworks.python.padded import counted
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.sought import empty_targets
from loralint.frameworks.python.trace import last, makers
from loralint.frameworks.table import Observation
from loralint.model import Span, Unknown, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.script import Script
from loralint.source.secrets import find, holds_one


def faults(script: Script, document: Document, parts: Parts) -> tuple[Observation, ...]:
    """Every such fault of one start. document: its tree."""
    return (
        *_unused(script, parts), *_joined(script, document), *_nothing(document),
        *_config_as_rank(script), *empty_targets(script, document, parts), *counted(script, parts),
        *leaked(script, {id(call) for call in parts.calls()}), *typed(script), *left_to_nobody(script, document),
    )  # fmt: skip


def _unused(script: Script, parts: Parts) -> Iterator[Observation]:
    """Arguments that are made while the only trainer gets none."""
    trainer = parts.trainer
    if trainer is None or parts.arguments is not None or trainer.open or trainer.arg("args", 1) is not None:
        return
    trainers = [call for call in script.calls if (what := of(call)) is not None and what.role == "trainer"]
    made = [call for call in script.calls if (what := of(call)) is not None and what.role == "arguments"]
    if len(trainers) != 1 or not made:
        return
    name = last(made[-1])
    where = Value(None, key=name, pointer=f"/{name}", span=made[-1].name_span, key_span=made[-1].name_span)
    message = f"{last(trainer)} gets no `args`, so what {name} says reaches it by accident or not at all"
    data = {"advice": f"hand the arguments over: {last(trainer)}(args=...)"}
    yield Observation("ignored", where, "changed", message, data=data)


def _joined(script: Script, document: Document) -> Iterator[Observation]:
    """Strings of a list without a comma between them, where the list reaches a class."""
    for fault in script.faults:
        found = _holding(document, fault.span) if fault.kind == "implicit-join" else None
        key, pair = found or ("", None)
        if pair is not None:
            where = place(document, pair, key)._replace(span=fault.span, text=None)
            data = {"advice": "write a comma behind every string of the list"}
            alone = key.endswith(".target_modules") and len(pair.value.items) == 1  # no module has such a name
            yield Observation("coerced", where, "crash" if alone else "changed", fault.message, data=data)
            _blur(document, pair, fault.span)


def _holding(document: Document, place: Span) -> tuple[str, Pair] | None:
    """The argument whose list holds a place."""
    for outer in document.root.pairs if document.root is not None else ():
        for pair in outer.value.pairs:
            if any(_holds(document, item, place) for item in pair.value.items):
                return f"{outer.key}.{pair.key}", pair
    return None


def _holds(document: Document, item: Node, place: Span) -> bool:
    span = document.span(item)
    return span.file == place.file and span.start <= place.start < span.end


def _blur(document: Document, pair: Pair, place: Span) -> None:
    """Make the joined string an unknown one, so that nothing else is told of what nobody meant to write."""
    for item in pair.value.items:
        if _holds(document, item, place):
            item.native = Unknown("a comma is missing in the list")


def _nothing(document: Document) -> Iterator[Observation]:
    """Methods that change a list and give back None, taken for the list."""
    for outer in document.root.pairs if document.root is not None else ():
        for pair in outer.value.pairs:
            node = pair.value
            if node.tag == "null" and "(" in node.raw:
                what = f"`{node.raw}` changes the list and gives back None, which is what {outer.key} gets"
                data = {"advice": f"make the list first, and give {outer.key} the list"}
                where = place(document, pair, f"{outer.key}.{pair.key}")
                yield Observation("coerced", where, "changed", what, data=data)


def _config_as_rank(script: Script) -> Iterator[Observation]:
    """PEFT's config given to Unsloth's function of the same name, whose second argument is the rank."""
    for call in script.calls:
        what = of(call)
        given = call.arg("r", 1) if what is not None and (what.role, what.package) == ("wrap", "unsloth") else None
        found, sure = makers(given.thing, "adapter") if given is not None else ([], False)
        if found and sure:
            key = f"{last(call)}.r"
            where = Value(None, key=key, pointer=f"/{key}", span=call.name_span, key_span=call.name_span)
            message = f"Unsloth takes the numbers themselves (r=16, lora_alpha=32, ...), not a {last(found[0])}"
            yield Observation("rejected", where, "crash", message, package="unsloth")


def leaked(script: Script, read: Collection[int]) -> Iterator[Observation]:
    """Secrets that the program gives to any other call, or puts into its environment; the secret itself never stays.

    read: ids of the calls whose arguments are read by name.
    """
    for call in script.calls if holds_one(script.text) else ():
        for index, given in enumerate(call.args):
            node = given.node
            if id(call) in read or node.tag != "str":
                continue
            key = given.name or (call.args[0].node.raw if index and call.name.startswith("__set") else last(call))
            kind = find(f"{call.name}.{key}", node.raw)
            if kind:
                span = script.document.span(node)
                where = Value("***", key=key, pointer=f"/{key}", text="***", span=span, key_span=span)
                advice = "hand the new one over in the environment of the job instead of the program"
                yield Observation("secret", where, "harmless", f"`{key}` holds a {kind}", data={"advice": advice})
