"""What a program says too late, or to the loss itself where nothing leads back to the adapter.

Sources: accelerate 1.15.0 launchers.py (`notebook_launcher` forks); torch 2.13.0 cuda/__init__.py (what forks after
CUDA has started cannot start it again; CUDA reads the variable once); unsloth 004d44eb __init__.py (critical_modules).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import last
from loralint.frameworks.table import Look, Observation
from loralint.model import Span, Value
from loralint.source.document import Document
from loralint.source.script import Call, Script

# in a notebook a line of the program begins behind a quote
_FORCED = re.compile(r"^(?:[ \t]*\")?[ \t]*(([\w.]+)\.requires_grad(?:_\((?:True)?\)|[ \t]*=[ \t]*True))", re.MULTILINE)


# the first line that imports Unsloth, wherever it stands, and those at the left that import what it rewrites
_UNSLOTH = re.compile(r"^[ \t]*(?:\"[ \t]*)?(?:from|import) unsloth\b", re.MULTILINE)
_REWRITTEN = re.compile(r"^(?:[ \t]*\")?((?:from|import) (trl|transformers|peft)\b)", re.MULTILINE)


def of_what_is_late(script: Script, _: Parts, __: Look) -> Iterator[Observation]:
    """Whatever of this a start is told."""
    yield from _forced(script)
    yield from _after_the_cards(script)
    yield from _after_the_libraries(script.document)


def _after_the_libraries(document: Document) -> Iterator[Observation]:
    """Unsloth, imported once the libraries are there that it rewrites as they are imported."""
    unsloth = _UNSLOTH.search(document.text) if "unsloth" in document.text else None
    first = _REWRITTEN.search(document.text, 0, unsloth.start()) if unsloth is not None else None
    if first is not None:
        span = document.span_at(first.start(1), first.end(1))
        where = Value(None, key=first[2], pointer=f"/{first[2]}", text=first[1], span=span)
        yield Observation("unsloth-late", where, "changed", "")


def _forced(script: Script) -> Iterator[Observation]:
    """A loss that is told to want a gradient, which hides that nothing leads back to the adapter."""
    for document in (script.document, *script.modules):
        several = _FORCED.finditer(document.text) if _may_force(document.text) else ()
        found = next((one for one in several if "loss" in one[2].rpartition(".")[2]), None)
        if found is not None:
            span = document.span_at(found.start(1), found.end(1))
            where = Value(None, key="requires_grad", pointer="/requires_grad", text=found[1], span=span)
            yield Observation("loss-forced", where, "lost", "")
            return


def _may_force(text: str) -> bool:
    return "requires_grad" in text and says(_FORCED, text)


def _after_the_cards(script: Script) -> Iterator[Observation]:
    """Which cards there are and how many processes, told after a model was put on one."""
    placed = next((at for at, call in enumerate(script.calls) if call.sure and _places(call)), len(script.calls))
    for call in script.calls[placed + 1 :]:
        if call.sure and _shows(call):
            message = "the program has put a model on a GPU before, and CUDA looks at it once"
            advice = "set it before anything is put on a GPU, best at the top of the program or in the shell"
            yield _told("ignored", "CUDA_VISIBLE_DEVICES", call.span, message, advice)
        elif last(call) == "notebook_launcher" and _several(call):
            message = "a model was put on a GPU before, and no process that is made after that can use CUDA"
            advice = "load the model in the function that is launched"
            yield _told("rejected", "notebook_launcher", call.name_span, message, advice)


def _shows(call: Call) -> bool:
    """Whether a call sets which GPUs the program itself sees."""
    own = call.on is not None and call.on.name == "os.environ"
    return own and call.name == "__setitem__" and call.args[0].node.raw == "CUDA_VISIBLE_DEVICES"


def _places(call: Call) -> bool:
    """Whether a call surely starts CUDA: it puts a model on a GPU."""
    if call.name == "cuda":
        return call.on is not None and not call.args
    given = call.arg("device_map") if last(call) == "from_pretrained" else None
    first = given.node.pairs[0].value if given is not None and given.node.pairs else given.node if given else None
    return first is not None and re.fullmatch(r"auto|cuda(?::\d+)?|\d+", first.raw) is not None


def _several(call: Call) -> bool:
    given = call.arg("num_processes", 2)
    return given is not None and isinstance(given.node.native, int) and given.node.native > 1


def _told(kind: str, key: str, span: Span, message: str, advice: str) -> Observation:
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    return Observation(kind, where, "changed" if kind == "ignored" else "crash", message, data={"advice": advice})
