"""What a program asks Modal for: the GPU of its functions, and what their image installs.

Of functions on different GPUs nobody sees which one a training runs on.
Sources: modal.com/docs/guide/gpu (`gpu="A100-80GB:2"`, `"H100!"`, a list to choose from); modal 1.1 image.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.companions.installed import asked_for
from loralint.frameworks.table import Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Mark, Node
from loralint.source.script import Argument, Call, Script

_APPS = frozenset({"modal.App", "modal.Stub"})
_RUNS = frozenset({"function", "cls"})
_INSTALLS = frozenset({"pip_install", "uv_pip_install"})


def installs(script: Script) -> dict[str, str]:
    """Package -> version, as `companions.installed` gives them; "" where two images differ."""
    found: dict[str, str] = {}
    for call in script.calls:
        if call.name in _INSTALLS and call.on is not None:
            nodes = [node for given in call.args for node in (given.node.items or [given.node])]
            own = asked_for([one.native for one in nodes if isinstance(one.native, str)], {})
            found |= {name: version if found.get(name, version) == version else "" for name, version in own.items()}
    return found


def card(script: Script) -> Argument | None:
    """Where the GPU stands that every function with one asks for; None where they differ, or where none does."""
    asked = [one for call in script.calls if _is_function(call) and (one := call.arg("gpu")) is not None]
    said = {one.node.native if isinstance(one.node.native, str) else "" for one in asked}
    return asked[0] if len(said) == 1 and "" not in said else None


def _is_function(call: Call) -> bool:
    made = call.on.made if call.on is not None else None
    return call.name in _RUNS and made is not None and made.name in _APPS


def machine(document: Document, given: Argument) -> Document:
    """A document whose root is the place of the GPU."""
    made = Document(document.file, "flags", document.text)
    made.lines, made.sealed = document.lines, document.sealed
    made.roots = [Node("mapping", "map", Mark(given.node.start, made.lines), Mark(given.node.end, made.lines))]
    return made


def reader_of(given: Argument) -> Reader:
    """The reader of the GPU that is asked for."""

    def combine(document: Document, _: Values) -> Values:
        return {one.field: (one,) for one in _asked(document, given)}

    return Reader(
        name="cloud", title="Modal", dialect="python", table=(), keys="", coerces=True, packages=(), combine=combine,
        documents=True,
    )  # fmt: skip


def _asked(document: Document, given: Argument) -> Iterator[Value]:
    from loralint.knowledge.hardware import parse_gpus

    gpu, count = parse_gpus(str(given.node.native).rstrip("!"))
    place = Value(None, key="gpu", pointer="/gpu", text=given.node.raw, span=document.span(given.node))
    if gpu is not None:
        yield place._replace(value=gpu.name, field="run.gpu")
        for field in ("job.gpus_per_node", "run.gpu_count", "dist.visible_devices"):
            yield place._replace(value=count or 1, field=field)
