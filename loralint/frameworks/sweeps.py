"""Sweeps of Weights & Biases: the program that an agent starts again and again, with each parameter as a flag.

What is the same in all of its runs is known; what a sweep tries is not.
Source: docs.wandb.ai/guides/sweeps/sweep-config-keys (`program`, `command` and its macros, `parameters`).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.readers.kubernetes.tree import At, entries, items, named, text
from loralint.source.command import Part
from loralint.source.document import Document, Node
from loralint.source.filled import parts_of
from loralint.source.shell.words import Field

_USUAL = ("${env}", "${interpreter}", "${program}", "${args}")
# Macros of the parameters: what stands before each name.
_ARGUMENTS = {"${args}": "--", "${args_no_boolean_flags}": "--", "${args_no_hyphens}": ""}
_TRIED = "`{}` is what the sweep tries"


def words(document: Document, sweep: At) -> list[Field]:
    """The command of one run."""
    command = items(named(sweep, "command"))
    if not command:
        return [field for macro in _USUAL for field in _meant(document, sweep, macro, sweep.node)]
    return [field for at in command for field in _meant(document, sweep, text(at), at.node)]


def _meant(document: Document, sweep: At, word: str, node: Node) -> Iterator[Field]:
    program = named(sweep, "program")
    if word in _ARGUMENTS:
        for one in entries(named(sweep, "parameters")):
            yield from _argument(document, one, _ARGUMENTS[word], bare=word == "${args_no_boolean_flags}")
    elif word == "${interpreter}":
        yield Field((Part("python", node.start, node.start),), node.start, node.start)
    elif word == "${program}" and program is not None:
        yield _field(document, program.node)
    elif word.startswith("${"):
        if word != "${env}":
            yield Field((Part(word, node.start, node.end, f"`{word}` is filled in when the run starts"),), *_ends(node))
    elif word:
        yield _field(document, node)


def _argument(document: Document, one: At, dashes: str, *, bare: bool) -> Iterator[Field]:
    """`--name=value` at the places of both; with bare booleans `--name` or nothing."""
    if one.label is None:
        return
    name, value = one.label.raw, named(one, "value")
    key = Part(f"{dashes}{name}", *_ends(one.label))
    known = value is not None and value.node.kind == "scalar" and value.node.tag != "null"
    said = text(value).lower() if known else ""
    if bare and said in ("true", "false"):
        if said == "true":
            yield Field((key,), *_ends(one.label))
        return
    joint = Part("=", one.label.end, one.label.end)
    given = parts_of(document, value.node) if known and value is not None else [
        Part(f"${{{name}}}", *_ends(one.label), _TRIED.format(name[:60]))
    ]  # fmt: skip
    yield Field((key, joint, *given), one.label.start, max(one.label.end, given[-1].end if given else 0))


def _field(document: Document, node: Node) -> Field:
    return Field(tuple(parts_of(document, node)), *_ends(node))


def _ends(node: Node) -> tuple[int, int]:
    return node.start, node.end
