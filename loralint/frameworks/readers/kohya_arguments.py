"""What stands in `network_args` of kohya's trainers: words `key=value`, a list in a file, one or several as flags.

The network takes what it knows and passes over the rest. In a file a text instead of a list is taken letter by letter.
Sources: kohya-ss/sd-scripts 0.10 train_network.py, networks/lora.py; LyCORIS lycoris/kohya.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import number_text

_LISTS = ("network_args", "optimizer_args", "lr_scheduler_args")
_LONGEST = 400  # characters of an argument
_OF_LYCORIS = ("algo", "preset", "dora_wd", "factor", "use_tucker", "use_cp", "decompose_both")


class Argument(NamedTuple):
    """A word of `network_args`. dotted: where it stands."""

    key: str
    text: str
    dotted: str
    node: Node


def arguments_of(document: Document) -> dict[str, Argument]:
    """The words by their keys; of a key given twice the last counts."""
    pair = document.root.pair("network_args") if document.root is not None else None
    if pair is None:
        return {}
    if pair.value.kind == "scalar":
        words = [("network_args", pair.value)]
    else:
        words = [(f"network_args[{index}]", item) for index, item in enumerate(pair.value.items)]
    found = {}
    for dotted, node in words:
        key, equals, text = node.raw.partition("=")
        if equals:
            found[key.strip()] = Argument(key.strip(), text.strip(), dotted, node)
    return found


def fields_of(document: Document) -> dict[str, tuple[Value, ...]]:
    """What the words say in canonical terms."""
    found: dict[str, tuple[Value, ...]] = {}
    for argument in arguments_of(document).values():
        row = _ROWS.get(argument.key)
        made = row[1](argument.text) if row is not None else None
        if row is not None and made is not None:
            found[row[0]] = (_placed(document, argument, row[0], made),)
    return found


def _placed(document: Document, argument: Argument, field: str, made: object) -> Value:
    pointer = "/" + argument.dotted.replace("[", "/").replace("]", "")
    span = document.span(argument.node)
    return Value(made, "set", argument.dotted, pointer, argument.node.raw, span, field=field)


def _number(text: str) -> object:
    return number_text(text)


def _switch(text: str) -> object:
    return text.lower() in ("true", "1") if text else None


_ROWS: dict[str, tuple[str, Callable[[str], object]]] = {
    "conv_dim": ("adapter.conv_rank", _number),
    "conv_alpha": ("adapter.conv_alpha", _number),
    "loraplus_lr_ratio": ("adapter.loraplus_ratio", _number),
    "loraplus_unet_lr_ratio": ("adapter.loraplus_ratio", _number),
    "dora_wd": ("adapter.dora", _switch),
    "rs_lora": ("adapter.rslora", _switch),
}


def observe_arguments(document: Document, _: Look) -> list[Observation]:
    """Observe texts where a list is wanted, words that are no Python, and words that the network does not read."""
    return [*_texts(document), *_words(document), *_idle(document)]


def _texts(document: Document) -> Iterator[Observation]:
    root = document.root if document.format == "toml" else None
    for key in _LISTS:
        pair = root.pair(key) if root is not None else None
        if pair is not None and pair.value.kind == "scalar" and pair.value.raw:
            message = "every letter of a text counts as an argument of its own; a list of texts is meant"
            words = ", ".join(f'"{word}"' for word in pair.value.raw.split())
            yield Observation("rejected", place(document, pair, key), "crash", message, f"[{words}]")


def _words(document: Document) -> Iterator[Observation]:
    """Words with their `=`; those of the optimizer and of the schedule have one, and behind it a value of Python's."""
    root = document.root
    for key in _LISTS:
        pair = root.pair(key) if root is not None else None
        if pair is None or (pair.value.kind == "scalar" and document.format == "toml"):
            continue
        several = pair.value.kind != "scalar"
        for index, node in enumerate(pair.value.items if several else [pair.value]):
            message = _fault(node.raw) if node.kind == "scalar" and not isinstance(node.native, Unknown) else ""
            if message and (key != "network_args" or "=" not in node.raw):  # of these the network reads any text
                dotted = f"{key}[{index}]" if several else key
                there = place(document, Pair(key, pair.key_node, node), dotted)
                yield Observation("rejected", there, "crash", message)


def observe_joined_arguments(document: Document, _: Look) -> list[Observation]:
    """The same of arguments that stand in one text, with blanks between them, as in presets of the window; that wants
    one blank between two of them and none around all.
    """
    found = []
    for key in _LISTS[1:]:
        pair = document.root.pair(key) if document.root is not None else None
        words = pair.value.raw.replace('"', " ").split() if pair is not None and pair.value.kind == "scalar" else []
        message = next((fault for word in words if (fault := _fault(word))), "")
        if not message and words and pair is not None and pair.value.raw.split(" ") != pair.value.raw.split():
            message = "the window wants one blank between arguments and none before or behind them, and does not start"
        if pair is not None and message:
            sound = " ".join(word.rstrip(",") for word in words)
            meant = sound if not any(map(_fault, sound.split())) else ""
            rewrite = "value" if meant else ""
            found.append(Observation("rejected", place(document, pair, key), "crash", message, meant, rewrite))
    return found


def _fault(text: str) -> str:
    """What is wrong with an argument; of what is filled in later, and of what is too long, nothing is said."""
    if not text or len(text) > _LONGEST or "$" in text:
        return ""
    name, equals, value = text.partition("=")
    if not equals:
        return f"`{name}` is no argument; each is a word `name=value`"
    if "=" in value:
        return "each argument is a word of its own, and this one holds several"
    if value.endswith(",") and "," not in value[:-1]:
        return f"`{value}` is a list of one to Python; words stand with blanks between them and no commas"
    sound = _is_python(value.strip())
    return "" if sound else f"`{value}` is no value for Python; texts stand in quotes, True is large"


def _is_python(text: str) -> bool:
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of odd escapes
            ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _idle(document: Document) -> Iterator[Observation]:
    module = document.root.get("network_module") if document.root is not None else None
    if module is None or not module.raw.startswith("networks."):
        return
    for argument in arguments_of(document).values():
        if argument.key in _OF_LYCORIS and not (argument.key == "factor" and module.raw.endswith("lokr")):
            message = f"{module.raw} does not read `{argument.key}`, which is for lycoris.kohya"
            there = _placed(document, argument, "", argument.text)._replace(value=argument.node.raw)
            yield Observation("ignored", there._replace(key_span=there.span), "lost", message)
