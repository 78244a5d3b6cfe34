"""A bash text to its commands: statements in order, branches followed on copies of what is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.source.command import Assignment, Command, Files, Part, Shell, Word
from loralint.source.document import Fault
from loralint.source.shell.commands import simple
from loralint.source.shell.conditions import holds
from loralint.source.shell.grammar import LENGTH, Tree
from loralint.source.shell.made import Texts
from loralint.source.shell.scope import Scope
from loralint.source.shell.words import Field, as_word, expand, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node as Syntax

    from loralint.source.document import Document

# Statements that are followed in all: functions that call each other and loops in loops multiply them.
_STEPS = 20_000
# A loop over so few known words is followed word by word.
_UNROLLED = 12
_CALLS = 12  # functions within functions
_DECLARATIONS = frozenset({"export", "declare", "typeset", "local", "readonly"})
# What is nothing to do by itself.
_IDLE = frozenset({"comment", "test_command", "heredoc_body", "word", "string", "number", "variable_name"})
_ASSIGNMENTS = frozenset({"variable_assignment", "variable_assignments"})


class Reading:
    """What is found in a text and the texts inside it. prefix: words that every command inside starts with."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.lines = document.lines
        self.commands: list[Command] = []
        self.files: list[Files] = []
        self.faults: list[tuple[str, str, int, int]] = []
        self.texts = Texts()
        self.prefix: tuple[Field, ...] = ()
        self.steps = 0
        self.inside = 0
        self.ended = False

    def step(self) -> None:
        """Count a statement. Raises Fault for a text that would be followed for ever."""
        self.steps += 1
        if self.steps > _STEPS:
            raise Fault("too-large", "too many steps to follow: not a launch script", 0)

    def add(self, words: Sequence[Field], scope: Scope, own: dict[str, Field], at: tuple[int, int],
            documents: tuple[tuple[str, int], ...] = ()) -> None:  # fmt: skip
        """Keep a command, with the variables that it gets."""
        held = {name: scope.names[name][0] for name in scope.exported if scope.names.get(name)}
        held = {name: one for name, one in held.items() if name not in own} | own
        self.steps += len(held)
        env = tuple(Assignment(name, self.word(one)) for name, one in held.items())
        given = tuple(self.word(one) for one in (*self.prefix, *words))
        self.commands.append(Command(given, env, scope.folder, documents, scope.sure, *self.texts.place(*at)))

    def word(self, field: Field) -> Word:
        """The field as a word of the document."""
        return as_word(self.texts.settle(field), self.lines)


def read(document: Document, text: str, start: int, scope: Scope | None = None) -> Shell:
    """Read a bash text that stands at an offset of the document. Raises Fault for one beyond the budgets."""
    from loralint.source.shell.faults import faults

    reading = Reading(document)
    tree = Tree(text, start)
    run(reading, tree, tree.root, scope or Scope())
    found = (*reading.faults, *faults(tree, reading.commands))
    return Shell(tuple(reading.commands), tuple(reading.files), found)


def inner(reading: Reading, text: str, start: int, scope: Scope) -> None:
    """Run a text inside a text: of `bash -c`, `eval`, a here-document. Raises Fault when these grow beyond all use."""
    reading.inside += len(text)
    if reading.inside > 2 * LENGTH:
        raise Fault("too-large", "too many texts inside the text: not a launch script", 0)
    scope.depth += 1
    if scope.depth <= _CALLS:
        tree = Tree(text, start)
        run(reading, tree, tree.root, scope)
    scope.depth -= 1


def run(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """Follow one statement."""
    if reading.ended or syntax.type in _IDLE:
        return
    reading.step()
    kind = syntax.type
    follow = _KINDS.get(kind)
    if follow is not None:
        follow(reading, tree, syntax, scope)
    elif kind == "command":
        simple(reading, tree, syntax, scope, ())
    elif kind in _ASSIGNMENTS:
        _assignments(reading, tree, syntax, scope)
    else:
        for child in syntax.children:
            if child.is_named:
                run(reading, tree, child, scope)


def assign(tree: Tree, syntax: Syntax, scope: Scope) -> tuple[str, tuple[Field, ...]]:
    """What one assignment gives: the variable and its words, added to the old ones for `+=`."""
    name_node, value_node = syntax.child_by_field_name("name"), syntax.child_by_field_name("value")
    name = tree.of(name_node).partition("[")[0] if name_node is not None else ""
    made: tuple[Field, ...]
    if value_node is None:
        end = tree.at(syntax.end_byte)
        made = (Field((), end, end),)
    elif value_node.type == "array":
        made = tuple(one for child in value_node.children if child.is_named and child.type != "comment"
                     for one in expand(tree, child, scope))[:2000]  # fmt: skip
    else:
        made = (joined(tree, value_node, scope),)
    operator = next((child.type for child in syntax.children if child.type in {"=", "+="}), "=")
    old = scope.names.get(name, ())
    if operator == "+=" and value_node is not None:
        made = _added(old, made, array=value_node.type == "array")
    return name, made


def _added(old: tuple[Field, ...], made: tuple[Field, ...], *, array: bool) -> tuple[Field, ...]:
    if array or not old or not made:
        return (*old, *made)[:2000]
    from loralint.source.shell.words import bounded

    joined_ = bounded(Field((*old[0].parts, *made[0].parts), made[0].start, made[0].end, made[0].quoted))
    return (joined_, *old[1:])


def _assignments(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    several = syntax.children if syntax.type == "variable_assignments" else [syntax]
    for one in several:
        if one.type == "variable_assignment":
            name, made = assign(tree, one, scope)
            if name.isidentifier():
                scope.names[name] = made
            else:  # `--flag=value` at the start of a line is a command, whatever the grammar says
                reading.add([whole(tree, one, made)], scope, {}, (tree.at(one.start_byte), tree.at(one.end_byte)))


def whole(tree: Tree, syntax: Syntax, made: tuple[Field, ...]) -> Field:
    """An assignment as the one word that it is to a shell that cannot take it for one."""
    start, end = tree.at(syntax.start_byte), tree.at(syntax.end_byte)
    value = syntax.child_by_field_name("value")
    until = tree.at(value.start_byte) if value is not None else end
    return Field((Part(tree.text(start, until), start, until), *(made[0].parts if made else ())), start, end)


def _declaration(_reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """`export A=1 B`, `declare -x`, `local`."""
    words = [tree.of(child) for child in syntax.children if child.type == "word"]
    exports = syntax.children[0].type == "export" or any("x" in one for one in words if one.startswith("-"))
    for child in syntax.children[1:]:
        if child.type == "variable_assignment":
            name, made = assign(tree, child, scope)
            scope.names[name] = made
        elif child.type == "variable_name":
            name = tree.of(child)
        else:
            continue
        if exports:
            scope.exported[name] = None


def _list(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """`a && b || c`: what stands behind `||`, or behind a test, may not run."""
    spine = []
    node: Syntax | None = syntax
    while node is not None and node.type == "list":
        spine.append(node)
        node = node.children[0]
    if node is not None:
        run(reading, tree, node, scope)
    tested = node is not None and node.type == "test_command"
    verdict = holds(tree, node, scope) if node is not None and tested else None
    for one in reversed(spine):
        operator, right = one.children[1].type, one.children[-1]
        runs = (verdict if operator == "&&" else not verdict) if verdict is not None else None
        verdict = None if runs is not False else verdict
        if runs is None and (operator == "||" or tested):
            _branches(reading, tree, scope, [[right]], whole=False)
        elif runs is not False:
            run(reading, tree, right, scope)
        tested = tested and operator == "&&"


def _pipeline(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    for child in syntax.children:
        if child.is_named:
            run(reading, tree, child, scope.copy())


def _subshell(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    own = scope.copy()
    for child in syntax.children:
        if child.is_named:
            run(reading, tree, child, own)


def _branches(reading: Reading, tree: Tree, scope: Scope, ways: list[list[Syntax]], *, whole: bool) -> None:
    """Follow several ways, each on its own. whole: one of them is taken in any case."""
    outcomes = [] if whole else [scope.copy()]
    for way in ways:
        own = scope.copy(sure=False)
        for one in way:
            run(reading, tree, one, own)
        outcomes.append(own)
    scope.merge(outcomes)


def _if(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    """Take the branch that is known to be taken, else follow all."""
    ways: list[list[Syntax]] = []
    for condition, body in _arms(syntax):
        for one in condition:
            run(reading, tree, one, scope)
        verdict = holds(tree, condition[0], scope) if len(condition) == 1 else None if condition else True
        if verdict is True and not ways:
            for one in body:
                run(reading, tree, one, scope)
            reading.ended = False  # a check that stops a template which nobody has filled in yet
            return
        if verdict is not False:
            ways.append(body)
        if verdict is True:
            _branches(reading, tree, scope, ways, whole=True)
            return
    _branches(reading, tree, scope, ways, whole=False)


def _arms(syntax: Syntax) -> list[tuple[list[Syntax], list[Syntax]]]:
    """(condition, body) of `if`, each `elif`, and `else` with no condition."""
    condition: list[Syntax] = []
    body: list[Syntax] = []
    arms: list[tuple[list[Syntax], list[Syntax]]] = []
    then = False
    for child in syntax.children:
        if child.type in {"elif_clause", "else_clause"}:
            arms += _arms(child)
        elif child.type == "then":
            then = True
        elif child.is_named:
            (body if then or syntax.type == "else_clause" else condition).append(child)
    return [(condition, body), *arms]


def _case(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    items = [child for child in syntax.children if child.type == "case_item"]
    ways = [_body(item) for item in items]
    whole = any(tree.of(item.children[0]).strip() == "*" for item in items if item.children)
    _branches(reading, tree, scope, ways, whole=whole)


def _body(item: Syntax) -> list[Syntax]:
    named = [one for index, one in enumerate(item.children) if item.field_name_for_child(index) != "value"]
    return [one for one in named if one.is_named]


def _for(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    variable, body = syntax.child_by_field_name("variable"), syntax.child_by_field_name("body")
    if variable is None or body is None:
        return
    name = tree.of(variable)
    values = [one for child in syntax.children_by_field_name("value") for one in expand(tree, child, scope)]
    fixed = values and len(values) <= _UNROLLED and not any(one.why or "*" in one.text for one in values)
    if not fixed:
        _changing(reading, tree, body, scope, name)
        return
    for one in values:
        scope.names[name] = (one,)
        run(reading, tree, body, scope)


def _while(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    _changing(reading, tree, syntax, scope, "")


def _changing(reading: Reading, tree: Tree, body: Syntax, scope: Scope, name: str) -> None:
    """A body that runs nobody knows how often: what it sets is not known from its start on."""
    own = scope.copy(sure=False)
    for one in {name, *_set_in(tree, body)} - {""}:
        own.forget(one, f"`${one}` changes in a loop", scope.names.get(one, ()))
    for child in body.children:
        if child.is_named:
            run(reading, tree, child, own)
    for one in _set_in(tree, body):
        own.forget(one, f"`${one}` is set in a loop", own.names.get(one, ()))
    scope.merge([scope.copy(), own])


def _set_in(tree: Tree, body: Syntax) -> set[str]:
    """The variables that are set somewhere in a body."""
    found, stack = set(), [body]
    while stack:
        node = stack.pop()
        if node.type == "variable_assignment" and node.children:
            found.add(tree.of(node.children[0]).partition("[")[0])
        if node.type == "command" and node.children and tree.of(node.children[0]) in {"read", "mapfile", "shift"}:
            found.update(tree.of(child) for child in node.children[1:] if tree.of(child).isidentifier())
        stack.extend(node.children)
    return found


def _function(_reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    name, body = syntax.child_by_field_name("name"), syntax.child_by_field_name("body")
    if name is not None and body is not None:
        scope.functions[tree.of(name)] = (tree, body)


def call(reading: Reading, name: str, args: Sequence[Field], scope: Scope) -> None:
    """Follow a function of the script with its arguments; what it sets stays set."""
    tree, body = scope.functions[name]
    if scope.depth >= _CALLS:
        return
    outer, scope.args = scope.args, tuple(args)
    scope.depth += 1
    run(reading, tree, body, scope)
    scope.depth -= 1
    scope.args = outer


def _redirected(reading: Reading, tree: Tree, syntax: Syntax, scope: Scope) -> None:
    from loralint.source.shell.heredocs import redirected

    redirected(reading, tree, syntax, scope)


_KINDS = {
    "declaration_command": _declaration,
    "list": _list,
    "pipeline": _pipeline,
    "subshell": _subshell,
    "if_statement": _if,
    "case_statement": _case,
    "for_statement": _for,
    "c_style_for_statement": _while,
    "while_statement": _while,
    "function_definition": _function,
    "redirected_statement": _redirected,
}
