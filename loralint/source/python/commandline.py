"""What a program takes from its command line: argparse, dataclasses that become options, functions that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.model import Unknown
from loralint.source.document import Node
from loralint.source.python import builtin, fold, literals
from loralint.source.python.argv import is_own
from loralint.source.python.classes import instantiate
from loralint.source.python.emit import Given, Invocation, emit, given_back
from loralint.source.python.follow import follow
from loralint.source.python.held import (
    OPEN,
    Attributes,
    Class,
    Function,
    Instance,
    Object,
    Scalar,
    Sequence,
    fields,
    find,
    imported_bases,
    name_of,
    root,
)
from loralint.source.python.objects import option
from loralint.source.python.options import REQUIRED, add_argument, declare, parsed, set_defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from loralint.source.python.held import Held
    from loralint.source.python.program import Program, Spot
    from loralint.source.python.state import State
    from loralint.source.script import Thing


def _parse_args(state: State, thing: Thing, call: Invocation, name: str = "parse_args") -> Held | None:
    if thing.number in state.parsers:
        return _into_classes(state, thing, call)
    found = parsed(state, call)
    emit(state, name, thing, call, found.thing)
    return found


def _parse_known(state: State, thing: Thing, call: Invocation) -> Held | None:
    found = _parse_args(state, thing, call, "parse_known_args")
    if found is None:
        return None
    rest = literals.sequence(state, call.node, None)
    return literals.sequence(state, call.node, (found, rest))


# dataclasses


def _parser(state: State, name: str, call: Invocation) -> Held | None:
    """`HfArgumentParser((ModelArguments, TrainingArguments))`: it gives these objects whichever way it parses later."""
    first = call.arg("dataclass_types", 0)
    items = first.store["items"] if isinstance(first, Sequence) else (first,) if first is not None else ()
    seen = tuple(base for cls in items for base in imported_bases(cls)) if items else ("",)
    made = given_back(state, emit(state, name, None, call._replace(fields=seen)), call.node)
    state.parsers[made.thing.number] = tuple(_filled(state, cls, call) for cls in items or ())
    return made


def _into_classes(state: State, thing: Thing, call: Invocation) -> Held | None:
    made = state.parsers.get(thing.number)
    if made is None:
        return None
    if is_own(state, call):
        for one in made:
            if isinstance(one, Instance):
                state.write(one.store, OPEN, held=True)
    rest = fold.value(call.arg("return_remaining_strings")) is True
    return literals.sequence(state, call.node, (*made, literals.sequence(state, call.node, None)) if rest else made)


def _into_one(state: State, thing: Thing, call: Invocation) -> Held | None:
    """`H4ArgumentParser(...).parse()` gives one object, or several."""
    found = _into_classes(state, thing, call)
    items = found.store["items"] if isinstance(found, Sequence) else None
    return items[0] if items is not None and len(items) == 1 else found


def _filled(state: State, cls: Held, call: Invocation) -> Held:
    """An object whose attributes are options of the command line."""
    bare = Invocation(call.node, (), open=True)
    if isinstance(cls, Class):
        for name in fields(cls):
            default = find(cls, name)
            known = default is not None and not (isinstance(default, Scalar) and default.node.tag == "unknown")
            declare(state, name, default if known else None, default.node if default else cls.node)
        options = tuple(_option(state, name, find(cls, name), cls) for name in fields(cls))
        made = instantiate(state, cls, bare._replace(given=options))
        return made._replace(parsed=True) if isinstance(made, Instance) else made
    node = state.node(call.node, "object", Unknown("what the command line gives"))
    return Instance(node, None, Attributes(), emit(state, name_of(cls), None, bare).result, parsed=True)


def _option(state: State, name: str, default: Held | None, cls: Class) -> Given:
    place = default.node if default is not None else cls.node
    marks = place.start_mark, place.end_mark
    reason = option(name, state.arguments[name].node)
    key = Node("scalar", "str", *marks, name, False, name)
    return Given(name, Scalar(Node("scalar", "argument", *marks, f"args.{name}", True, reason)), None, key)


def _field(state: State, name: str, call: Invocation) -> Held | None:
    """`field(default=8)`: the default itself."""
    if name not in _FIELDS:
        return None
    default = call.arg("default", 0 if name in _PLACED else -1)
    factory = call.arg("default_factory")
    if isinstance(factory, Function):
        return follow(state, factory, Invocation(call.node, ()))
    if name_of(factory) in {"list", "dict"}:
        return builtin.KNOWN[name_of(factory)](state, Invocation(call.node, ()))
    if default is None or (isinstance(default, Scalar) and default.node.raw == "..."):
        return Scalar(state.unknown(call.node, REQUIRED))
    return default


_PLACED = frozenset({"pydantic.Field", "typer.Option", "typer.Argument"})
_FIELDS = _PLACED | {"dataclasses.field", "attr.ib", "attrs.field", "field", "transformers.HfArg"}


# functions and classes that a library makes a command of


def _command(state: State, name: str, call: Invocation) -> Held | None:
    """`fire.Fire(train)`, `typer.run(main)`, `tyro.cli(Config)`."""
    target = call.arg("component", 0)
    if isinstance(target, Class) and name in {"tyro.cli", "pyrallis.parse", "draccus.parse", "simple_parsing.parse"}:
        return _filled(state, target, call)
    if not isinstance(target, Function):
        return None
    return enter(state, target, call.node)


def enter(state: State, function: Function, node: Spot) -> Held:
    """Follow a function whose parameters are options of the command line."""
    arguments = function.code.args
    options = _click_defaults(function)
    program: Program = root(function.scope).program
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        place = Node("scalar", "str", *program.marks(*program.range(one)), one.arg, False, one.arg)
        declare(state, one.arg, function.defaults.get(one.arg, options.get(one.arg)), place)
    return follow(state, function, Invocation(node, ()), "arguments")


def _click_defaults(function: Function) -> dict[str, Held]:
    """The defaults of `@click.option("--lora-r", "rank", default=8)`, by the parameters that they fill."""
    made = [one.thing.made for one in function.decorators if isinstance(one, Object) and one.thing.made is not None]
    found: dict[str, Held] = {}
    for call in made:
        default = call.arg("default") if call.name == "click.option" else None
        words = [one.node.native for one in call.args if not one.name and isinstance(one.node.native, str)]
        if default is not None and default.node.kind == "scalar" and words:
            plain = [one for one in words if not one.startswith("-")]
            long = next((one for one in words if one.startswith("--")), words[0])
            found[(plain or [long.lstrip("-").partition("/")[0]])[0].replace("-", "_")] = Scalar(default.node)
    return found


def _launch(state: State, name: str, call: Invocation) -> Held | None:
    """`notebook_launcher(train, args=(...))`: calls the function it is given."""
    target = call.arg("function", 0) or call.arg("fn")
    if not isinstance(target, Function):
        return None
    args = call.arg("args", 1)
    items = args.store["items"] if isinstance(args, Sequence) else None
    given = tuple(call.given[0]._replace(name="", held=one, node=None) for one in items or ())
    emit(state, name, None, call)
    return follow(state, target, Invocation(call.node, given, open=items is None and args is not None))


LIBRARY: dict[str, Callable[[State, str, Invocation], Held | None]] = {
    "HfArgumentParser": _parser,
    "TrlParser": _parser,
    "H4ArgumentParser": _parser,
    "field": _field,
    "Field": _field,
    "Option": _field,
    "Argument": _field,
    "ib": _field,
    "Fire": _command,
    "CLI": _command,
    "cli": _command,
    "run": _command,
    "parse": _command,
    "notebook_launcher": _launch,
    "debug_launcher": _launch,
}
METHODS: dict[str, Callable[[State, Thing, Invocation], Held | None]] = {
    "add_argument": add_argument,
    "set_defaults": set_defaults,
    "parse_args": _parse_args,
    "parse_known_args": _parse_known,
    "parse_args_into_dataclasses": _into_classes,
    "parse_args_and_config": _into_classes,
    "parse_json_file": _into_classes,
    "parse_yaml_file": _into_classes,
    "parse_dict": _into_classes,
    "parse": _into_one,
}
