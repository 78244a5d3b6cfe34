"""AutoTrain's own classes in a program: `LLMTrainingParams(...)` has the names of `autotrain llm`'s flags.

What other tasks' classes (`VLMTrainingParams`, `Seq2SeqParams`) take besides is not claimed to be known.
Sources: autotrain-advanced 0.8.36 trainers/clm/params.py, trainers/common.py, project.py.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.python.build import section
from loralint.frameworks.python.faults import leaked
from loralint.frameworks.readers.autotrain_faults import cut, rejected
from loralint.frameworks.readers.autotrain_flags import reader_of
from loralint.frameworks.table import Observation, Reader
from loralint.source.document import Document
from loralint.source.script import Call, Script

_LANGUAGE = "LLMTrainingParams"
# what starts the training that such an object describes
_STARTS = frozenset({"AutoTrainProject", "train"})


class Start(NamedTuple):
    """What one object describes. open: why it may hold more than is seen."""

    document: Document
    reader: Reader
    observations: tuple[Observation, ...]
    name: str
    open: str


def starts(script: Script) -> Iterator[Start]:
    """Every training that the program describes in AutoTrain's classes and starts."""
    found = [one for one in script.calls if one.name.startswith("autotrain.") and one.name.endswith("Params")]
    if not any(_last(one) in _STARTS for one in script.calls if one.name.startswith("autotrain.")):
        return
    for index, call in enumerate(found):
        name = _last(call)
        known = name == _LANGUAGE
        reader = reader_of("llm" if known else name)._replace(
            dialect="python", keys="autotrain_python" if known else "", observe=(rejected, cut) if known else ()
        )
        told = () if index else tuple(leaked(script, {id(one) for one in found}))
        why = f"`{name}` gets more arguments than can be seen here" if call.open else ""
        yield Start(_document(script, call), reader, told, name, why)


def _last(call: Call) -> str:
    return call.name.rpartition(".")[2]


def _document(script: Script, call: Call) -> Document:
    """The program's text with the arguments of the call as its root."""
    made = copy.copy(script.document)
    made.roots, made.format = [section(script.document, call).value], "python"
    made._root = None  # noqa: SLF001 - a copy of our own, whose root is not yet asked for
    return made
