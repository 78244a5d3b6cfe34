"""What a program or a notebook gives to shells, in its order: typed lines, subprocesses, variables and folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.command import Part
from loralint.source.python.spelled import value_field
from loralint.source.shell.session import Step
from loralint.source.shell.words import Field

if TYPE_CHECKING:
    from loralint.source.document import Node
    from loralint.source.script import Argument, Call, Script, Typed

_COMMANDS = frozenset({
    "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output", "subprocess.Popen",
})  # fmt: skip
_TEXTS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_VARIABLE = re.compile(r"\$\{?(\w+)")


def steps(script: Script) -> list[Step]:
    """All of them: a typed line stands before the first call that is made behind it."""
    waiting = sorted(script.shell, key=lambda one: one.start, reverse=True)
    found: list[Step] = []
    for call in script.calls:
        if call.span.file != script.document.file:  # of a module: its launches stand in no text of this one
            continue
        while waiting and _offset(script, waiting[-1]) < call.span.start:
            found.append(_typed(script, waiting.pop()))
        found += _called(script, call)
    return found + [_typed(script, one) for one in reversed(waiting)]


def _offset(script: Script, typed: Typed) -> int:
    parts = script.places.parts(typed.text[:1] or " ", typed.start) if script.places else []
    return parts[0].start if parts else typed.start


def _typed(script: Script, typed: Typed) -> Step:
    places = script.places
    parts = tuple(places.parts(typed.text, typed.start)) if places is not None else ()
    fields = (Field(parts, parts[0].start, parts[-1].end),) if parts else ()
    names = {} if typed.kind == "cell" else _names(script, typed.text, _offset(script, typed))
    return Step("lasting" if typed.kind == "magic" else "text", fields, names)


def _names(script: Script, text: str, before: int) -> dict[str, Field]:
    """The program's own names in a text, if given last before an offset: `{name}` is `$name_` here."""
    found: dict[str, Field] = {}
    wanted = set(_VARIABLE.findall(text))
    for one in script.names if wanted else ():
        names = wanted & {one.name, f"{one.name}_"}
        if names and one.name_span is not None and one.name_span.start < before and one.node.kind == "scalar":
            found |= dict.fromkeys(names, value_field(script, one.node))
    return found


def _called(script: Script, call: Call) -> Iterator[Step]:
    """The steps of one call, most often none."""
    first = call.arg("args", 0) or call.arg("command", 0)
    on = call.on.name if call.on is not None else ""
    if call.name in _COMMANDS and first is not None:
        yield from _in_folder(script, call, _process(script, call, first))
    elif (call.name in _TEXTS or _types(call)) and first is not None:
        yield Step("text", (value_field(script, first.node),), sure=call.sure)
    elif call.name == "os.chdir" and first is not None:
        yield Step("folder", (value_field(script, first.node),), sure=call.sure)
    elif call.name == "__setitem__" and on == "os.environ":
        yield _variable(script, call, call.args[0].node, call.args[1].node)
    elif call.name == "os.environ.update":
        pairs = first.node.pairs if first is not None else ()
        yield from (_variable(script, call, pair.key_node, pair.value) for pair in pairs)
        yield from (_named(script, call, one) for one in call.args if one.name and one.name_span)


def _types(call: Call) -> bool:
    """Whether it is `get_ipython().system(...)`, which exported notebooks have for `!`."""
    made = call.on.made if call.on is not None else None
    return call.name == "system" and made is not None and made.name.rpartition(".")[2] == "get_ipython"


def _variable(script: Script, call: Call, name: Node, value: Node) -> Step:
    return Step("variable", (value_field(script, name), value_field(script, value)), sure=call.sure)


def _named(script: Script, call: Call, one: Argument) -> Step:
    span = one.name_span
    start, end = (span.start, span.end) if span is not None else (0, 0)
    name = Field((Part(one.name, start, end),), start, end)
    return Step("variable", (name, value_field(script, one.node)), sure=call.sure)


def _process(script: Script, call: Call, first: Argument) -> Step | None:
    """A list is the command word by word; a text is one for a shell, or one that `shlex.split` takes apart."""
    node = first.node
    if node.kind == "sequence":
        return Step("words", tuple(value_field(script, item) for item in node.items), sure=call.sure)
    made = first.thing.made if first.thing is not None else None
    if made is not None and made.name == "shlex.split" and made.args:
        return Step("text", (value_field(script, made.args[0].node),), sure=call.sure)
    shell = call.arg("shell")
    if shell is not None and shell.node.native is True and not isinstance(node.native, Unknown):
        return Step("text", (value_field(script, node),), sure=call.sure)
    return None


def _in_folder(script: Script, call: Call, step: Step | None) -> Iterator[Step]:
    folder = call.arg("cwd")
    if step is not None:
        given = folder is not None and folder.node.tag != "null"
        yield step._replace(folder=value_field(script, folder.node)) if given and folder is not None else step
