"""What rows reach a trainer, and what puts them into batches: as far as it decides whether there are labels."""

from __future__ import annotations

import re
from functools import lru_cache

from loralint.frameworks.python.classes import Known
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import argument, last
from loralint.model import Event
from loralint.source.script import Call, Script, Thing

# what makes a dataset of the rows of a file or of the hub
_SOURCES = frozenset(
    {"load_dataset", "from_list", "from_dict", "from_pandas", "from_json", "from_csv", "from_generator"}
)
_ENCODES = re.compile(r"(?i)\btok\(|\.encode\(")
_STEPS = 50
_TRANSFORMS = frozenset({"set_transform", "with_transform"})
# what models take of pictures and sound, which no column of the files holds
_MEDIA = re.compile(r"\b(?:pixel_values|input_values|input_features)\b")
# a column of pictures or sound that is called like no argument of a model; some data sets call theirs like one
_RAW = re.compile(
    r"(?i)\[\s*\\?[\"'](?:\w*(?:image|img|picture|photo|audio|speech|sound|wav|video|file|path)\w*|jpe?g|png)\\?[\"']"
)
# running text in blocks of one length: there is no answer to end, and nothing to pad
_BLOCKS = ("group_texts", "return_overflowing_tokens")
_END_WORDS = ("apply_chat_template", "add_eos_token", "</s>", "<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<eos>")


def batched(call: Call, what: Known | None) -> str | None:
    """The class or function that makes a trainer's batches: "" where the trainer has its own, None when unknown."""
    given = argument(call, "data_collator", what)
    if given is None or given.node.tag == "null":
        return None if call.open and given is None else ""
    made = given.thing.made if given.thing is not None else None
    if made is not None:
        return last(made)
    return given.node.raw.rpartition(".")[2] if given.node.tag == "name" else None


def labelled(call: Call, what: Known | None, text: str) -> bool | None:
    """Whether the rows of a trainer may have labels: False where the program makes all of their columns and never
    speaks of any; None when nobody knows.
    """
    if "label" in text or "train_on_responses_only" in text:
        return True
    given = argument(call, "train_dataset", what)
    if given is None or not mapped(given.thing):
        return None
    own_tokens = (what is not None and what.package == "trl") or reads(text) or says(_ENCODES, text)
    return False if own_tokens else None


@lru_cache(maxsize=1)  # asked for each start of a program
def reads(text: str) -> bool:
    """Whether a program calls a tokenizer or a processor: without one its rows may well come with everything."""
    lower = text.lower()
    return "tokenizer(" in lower or "processor(" in lower


def transformed(call: Call) -> bool:
    """Whether a dataset is told to change its rows as they are read, which no column of it shows."""
    return call.on is not None and last(call) in _TRANSFORMS


def media(text: str) -> bool:
    """Whether a program speaks of what models take of pictures or sound."""
    return _MEDIA.search(text) is not None and _RAW.search(text) is not None


def mapped(thing: Thing | None) -> bool:
    """Whether a dataset is made in the program, row by row, from one that is loaded."""
    through = False
    for _ in range(_STEPS):
        made = thing.made if thing is not None else None
        if made is None:
            return False
        if last(made) in _SOURCES:
            return through
        through = through or last(made) == "map"
        thing = made.on
    return False


def loaded(thing: Thing | None) -> bool:
    """Whether rows are those of load_dataset as they came, or some of them, or changed one by one."""
    for _ in range(_STEPS):
        made = thing.made if thing is not None and not thing.either else None
        if made is None or last(made) == "load_dataset":
            return made is not None
        if last(made) not in ("map", "filter", "shuffle", "select", "__getitem__", "train_test_split"):
            return False
        thing = made.on
    return False


def with_rows(event: Event, script: Script, read: set[int]) -> Event:
    """A choice of padding, with whether the rows that its tokenizer reads carry an end token. read: what reads any."""
    if event.kind != "set-pad":
        return event
    text = script.text
    ends = not says(_BLOCKS, text) and (
        read.isdisjoint(event.on) or says(_END_WORDS, text) or text.count("eos_token") > text.count("pad_token")
    )
    return event._replace(data={**event.data, "ends": ends})
