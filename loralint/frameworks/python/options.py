"""The flags that a program's own argparse parser takes, where all of them can be seen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.key_list import key_list
from loralint.frameworks.python.keywords import every_keyword
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import last
from loralint.model import Span
from loralint.source.script import Call, Script

# Methods of a parser after which it takes more than its own flags.
_LENIENT = frozenset({"parse_known_args", "parse_known_intermixed_args", "add_subparsers"})
# Calls on something else that may give it flags, or let it pass what it does not know.
_ELSEWHERE = _LENIENT | {"add_argument"}
# Arguments of a parser that change what its flags are.
_CHANGES = frozenset({"parents", "prefix_chars", "fromfile_prefix_chars"})
# Parsers that make flags of dataclasses, and methods of theirs that refuse what is none.
_FILLING = frozenset({"HfArgumentParser", "TrlParser", "H4ArgumentParser"})
_FILE = re.compile(r"\.parse_(?:json_file|yaml_file|dict)\(")  # methods that read no command line
_STRICT = ("parse_args_into_dataclasses(", "parse_args_and_config(")
_OVER_FILE = ("parse_args_and_config(", "parse_yaml_and_args(")  # those that put the command line over a file
_NAMED = re.compile(
    r"\.parse_(?:json|yaml)_file\(\s*(?:\w+\s*=\s*)?(?:os\.path\.abspath\(\s*)?[\"']([^\"'\n]{1,200})[\"']\s*\)"
)
_LIBRARIES = ("transformers.", "trl.", "peft.")
_SWITCHES = frozenset(
    {"store_true", "store_false", "store_const", "append_const", "count", "help", "version", "BooleanOptionalAction"}
)
_OF_A_FILE = frozenset({"trl.ScriptArguments", "trl.ModelConfig"})
# What changes a parser's flags out of sight: a class of its own, other names of a field, words taken from the line.
_HIDDEN = re.compile(
    r"(?m)^[ \t]*class[ \t]+\w+\([^)]{0,200}(?:ArgumentParser|TrlParser)\b|\baliases\b|\bargs_file"
    r"|\bargv[ \t]*(?:=[^=]|\[[^\]\n]*\][ \t]*=[^=]|\.(?:remove|pop|append|extend|insert|clear)\b)|\bdel[ \t]+sys\.argv"
)
# Without any of these it has none of that; an expression that starts with a plain word is sought ten times as fast.
_HIDING = ("aliases", "args_file", "argv")
_CLASS = re.compile(r"class[ \t]+\w+\([^)]{0,200}(?:ArgumentParser|TrlParser)")
# What fills them otherwise: a file that the command line does not name, a dictionary, a text.
_FROM_ELSEWHERE = re.compile(
    r"\bparse_(?:(?:json|yaml)_file|dict)\((?![^)]{0,200}\bargv\b)"
    r"|\bparse_args\w*\([ \t]*(?!return_|look_for|success|fail)[^) \t\n]"
)
_GROUPS = frozenset({"add_argument_group", "add_mutually_exclusive_group"})


def taken(script: Script) -> frozenset[str]:
    """Every flag as it is written, such as `--lr`; empty where the program may take others too.

    argparse stops at any flag that it does not know, and takes the start of a known one for it.
    """
    filling = [call for call in script.calls if last(call) in _FILLING]
    filling = [] if _of_files(script.text) else filling
    parsers = [call for call in script.calls if last(call) == "ArgumentParser"]
    if script.unread or len([*filling, *parsers]) != 1 or _hides(script.text):
        return frozenset()
    return _filled(filling[0], script) if filling else _declared(parsers[0], script)


def _hides(text: str) -> bool:
    """Whether a program changes out of sight what flags its parsers take."""
    return (says(_HIDING, text) or says(_CLASS, text)) and says(_HIDDEN, text)


def _of_files(text: str) -> bool:
    """Whether parsers of dataclasses read files or dictionaries alone, and no word of the command line."""
    return _FILE.search(text) is not None and not any(word in text for word in _STRICT)


def reads(script: Script) -> str:
    """How parsers of dataclasses take a file of settings: "under" the flags, or "alone", whatever the line has besides;
    "" where they are not seen to take one.
    """
    text, made = script.text, {last(call) for call in script.calls}
    if made.isdisjoint(_FILLING):
        return ""
    if _of_files(text) and "ArgumentParser" not in made:
        return "alone"
    taken = _FILE.search(text) or "H4ArgumentParser" in made or any(word in text for word in _OVER_FILE)
    return "under" if taken else ""


def read_file(script: Script) -> str:
    """The name of the file that a parser takes whatever the command line says; empty for none, or any other."""
    found = {match[1] for match in _NAMED.finditer(script.text)}
    return found.pop() if len(found) == 1 else ""


def parsers(script: Script) -> frozenset[Span]:
    """Where parsers are made that fill dataclasses with the flags of the command line, and with nothing else of it."""
    found = frozenset(call.span for call in script.calls if last(call) in _FILLING)
    text = script.text
    return frozenset() if found and (_hides(text) or _FROM_ELSEWHERE.search(text)) else found


def filled(script: Script) -> str:
    """The framework whose own dataclass for the adapter becomes flags, which then mean what they mean in its files."""
    several = [base for call in script.calls if last(call) in _FILLING for base in call.fields]
    return "trl" if any(base.startswith("trl.") and base.endswith(".ModelConfig") for base in several) else ""


def switches(script: Script) -> frozenset[str]:
    """The flags that take no value, as they are written; none where a word by itself is an argument of its own."""
    calls = [call for call in script.calls if last(call) == "add_argument"]
    names = {name: _action(call) in _SWITCHES for call in calls for name in _names(call)}
    alone = any(not name.startswith("-") for name in names)
    return frozenset() if alone else frozenset(name for name, switch in names.items() if switch)


def _action(call: Call) -> str:
    given = call.arg("action")
    return given.node.raw.rpartition(".")[2] if given is not None else ""


def _declared(parser: Call, script: Script) -> frozenset[str]:
    """The flags that argparse's own parser is given, whose groups count as it does."""
    if not _plain(parser):
        return frozenset()
    own = {parser.result.number}
    flags: set[str] = {"-h", "--help"}
    parses = False
    for call in script.calls:
        if call.on is None or call.on.number not in own:
            if last(call) in _ELSEWHERE or any(one.thing and one.thing.number in own for one in call.args):
                return frozenset()
        elif last(call) in _GROUPS:
            own.add(call.result.number)
        elif last(call) == "add_argument":
            names = list(_names(call))
            if not names:
                return frozenset()
            flags.update(names)
        elif last(call) in _LENIENT:
            return frozenset()
        parses = parses or (last(call) == "parse_args" and not call.args)
    return frozenset(flags) if parses else frozenset()


def _filled(parser: Call, script: Script) -> frozenset[str]:
    """The flags of a parser of dataclasses: the fields of the program's own, and the keywords of the libraries'."""
    text = script.text
    if not parser.fields or not any(word in text for word in _STRICT) or "return_remaining" in text:
        return frozenset()
    names = {one.name for one in script.arguments}
    for base in set(parser.fields) - {"object"}:
        known = _fields(base)
        if known is None:
            return frozenset()
        names |= known
    if last(parser) != "HfArgumentParser":
        names |= {"config", "gradient_checkpointing_use_reentrant"}
    flags = {f"--{form}" for name in names for one in (name, f"no_{name}") for form in (one, one.replace("_", "-"))}
    return frozenset({"-h", "--help", *flags})


def _fields(base: str) -> frozenset[str] | None:
    """What a dataclass of the libraries has in some release; of those that no list has by itself, what a file of TRL
    may say to any of them.
    """
    if base in _OF_A_FILE:
        lists = key_list("trl")
        return frozenset(lists["keys"][""]).union(lists["moved"])
    return every_keyword(base.rpartition(".")[2]) if base.startswith(_LIBRARIES) else None


def _plain(parser: Call) -> bool:
    return parser.name == "argparse.ArgumentParser" and not parser.open and not _CHANGES & {x.name for x in parser.args}


def _names(call: Call) -> Iterator[str]:
    """The spellings of an option; none where they cannot be seen, or where it is not certainly declared."""
    given = [one.node for one in call.args if not one.name]
    if call.open or not call.sure or any(one.tag != "str" for one in given):
        return
    switch = _action(call) == "BooleanOptionalAction"
    for node in given:
        yield node.raw
        if switch and node.raw.startswith("--"):
            yield f"--no-{node.raw[2:]}"
