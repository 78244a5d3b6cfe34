"""From a program's text to a Script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loralint.source.document import Fault, Lines, Node
from loralint.source.inner import InnerDocument
from loralint.source.places import Places
from loralint.source.python import calls, definitions, literals, loops, operators, statements
from loralint.source.python.commandline import enter
from loralint.source.python.emit import Invocation
from loralint.source.python.follow import follow
from loralint.source.python.held import Object, Scalar, root, thing_of
from loralint.source.python.magics import untangle
from loralint.source.python.names import EXPRESSIONS as NAMES
from loralint.source.python.program import Program, checked, odd_lines
from loralint.source.python.state import Exhausted, State
from loralint.source.python.walk import run, told
from loralint.source.script import Argument, Script

if TYPE_CHECKING:
    import ast

    from loralint.source.document import Document
    from loralint.source.overrides import Line
    from loralint.source.python import Files, Modules
    from loralint.source.python.held import Function

EXPRESSIONS: dict[type, Any] = {**literals.EXPRESSIONS, **operators.EXPRESSIONS, **NAMES, **calls.EXPRESSIONS}
EXPRESSIONS.update(definitions.EXPRESSIONS)
STATEMENTS = {**statements.STATEMENTS, **loops.STATEMENTS, **definitions.STATEMENTS}
# Texts that are no Python 3 are no fault of a run: nobody knows what they are for.
_NO_FAULTS = frozenset({"python2", "template", "newer"})
# Libraries that make a command of a function by decorating it.
_COMMANDS = frozenset({"click", "typer"})
TOO_LONG = "the rest of the script, which is too long to follow"


def read_text(
    doc: Document, files: Files | None = None, modules: Modules | None = None, line: Line | None = None
) -> Script:
    """Read a document of format "python", or one that stands in another file."""
    if isinstance(doc, InnerDocument):
        starts = Lines(doc.own).starts
        program = Program(doc, doc.own, starts, doc.places, odd_lines(doc.own, starts), files, modules, line)
    else:
        starts, places = doc.lines.starts, Places(doc.file, doc.lines)
        program = Program(doc, doc.text, starts, places, odd_lines(doc.text, starts), files, modules, line)
    try:
        return follow_program(program, checked(program))
    except Fault as fault:
        exported = _exported(program) if fault.kind == "syntax" else None
        if exported is not None:
            return exported
        if fault.kind in _NO_FAULTS:
            return Script(doc, (), unread=(fault.message,), places=program.places)
        doc.fault(fault.kind, fault.message, program.places.span(fault.at, fault.at).start)
        return Script(doc, (), places=program.places)


def _exported(program: Program) -> Script | None:
    """Read a notebook that was saved as a script with its `!` and `%` lines, None if it is none."""
    found = untangle(program.text)
    try:
        tree = checked(program._replace(text=found.python)) if found.shell else None
    except Fault:
        return None
    return follow_program(program._replace(text=found.python), tree)._replace(shell=found.shell) if tree else None


def follow_program(program: Program, tree: ast.Module) -> Script:
    """Follow a program from its first statement; then look at the functions that nobody called, unsure."""
    state = State(program, EXPRESSIONS, STATEMENTS)
    start = program.marks(0, 0)
    state.home["__name__"] = Scalar(Node("scalar", "str", *start, "__main__", False, "__main__"))
    unheard: list[tuple[int, int]] = []
    try:
        run(state, tree.body)
        names = _names(state)
        unheard = _uncalled(state)
    except (Exhausted, RecursionError):
        if state.modules:  # what is known of the program itself is worth more
            return follow_program(program._replace(modules=None), tree)
        state.note(TOO_LONG)
        names = ()
    return Script(
        program.document,
        tuple(state.calls),
        uncalled=tuple(call for begin, end in unheard for call in state.calls[begin:end]),
        arguments=tuple(state.arguments.values()),
        names=names,
        faults=tuple(state.faults),
        unread=tuple(state.unread),
        places=program.places,
        loaded=tuple(state.loaded.values()),
        composed=state.composed,
        modules=(documents := state.documents()),
        text="\n".join((program.document.text, *(one.text for one in documents))),
    )


def _names(state: State) -> tuple[Argument, ...]:
    """What the module's own names hold now."""
    found = []
    for name, place in state.name_spans.items():
        held = state.home.get(name)
        if held is not None and held.node.tag != "import":
            found.append(Argument(name, told(state, held), state.program.places.span(*place), thing_of(held)))
    return tuple(found)


def _uncalled(state: State) -> list[tuple[int, int]]:
    """Follow what nobody called: commands as the program's start, other functions as what may run; give where the calls
    of these begin and end. Those of its modules are none of them: most serve other programs.
    """
    state.scope = state.home
    found = []
    while waiting := [one for one in state.defined.values() if _waits(state, one)]:
        for function in waiting:
            if id(function.code) in state.followed:
                continue
            if any(_makes_command(one) for one in function.decorators):
                enter(state, function, function.code)
                continue
            begin = len(state.calls)
            state.unsure += 1
            follow(state, function, Invocation(function.code, ()), "anybody")
            state.unsure -= 1
            found.append((begin, len(state.calls)))
    return found


def _waits(state: State, function: Function) -> bool:
    return id(function.code) not in state.followed and root(function.scope) is state.home


def _makes_command(decorator: object) -> bool:
    """Whether a decorator is `@click.command()`, or `@app.command()` of an object that Typer made."""
    if not isinstance(decorator, Object):
        return False
    made = decorator.thing.made
    name = decorator.thing.name or (made.name if made else "")
    library = name.partition(".")[0]
    on = made.on.made.name.partition(".")[0] if made and made.on and made.on.made else ""
    return name.rpartition(".")[2] == "command" and (library in _COMMANDS or on in _COMMANDS)
