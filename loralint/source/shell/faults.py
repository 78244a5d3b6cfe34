"""What a shell takes otherwise than it looks: lost backslashes, blanks behind them, comments between, stray values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

    from loralint.source.command import Command, Word
    from loralint.source.shell.grammar import Tree

_MARKS = {'"': 'the quote `"`', "'": "the quote `'`", "<<": "the here-document", "`": "the backquote"}
_CLOSING = frozenset({'"', "'", "`", "heredoc_end"})

Fault = tuple[str, str, int, int]
_FLAG = re.compile(r"(?:--?[A-Za-z]|[+~]*[A-Za-z_]\w*\.[\w.]+=)")
_TYPOGRAPHIC = re.compile("[\u2010-\u2015\u2212]+-?[A-Za-z]|[\u201c\u201d\u2018\u2019]|.*[\u201c\u201d]$", re.DOTALL)
_EMPTY = re.compile(r"--[\w.-]+=")
_BLANKS = re.compile(r"\\[ \t]+\r?\n")


def faults(tree: Tree, commands: list[Command]) -> Iterator[Fault]:
    """All faults of a text, given its commands."""
    yield from _lost(tree, commands)
    seen: set[int] = set()
    for command in commands:
        if command.start not in seen:
            seen.add(command.start)
            yield from _words(command)
    yield from _unterminated(tree)


def _lost(tree: Tree, commands: list[Command]) -> Iterator[Fault]:
    """Lines of flags that are commands of their own; those that follow each other are one fault."""
    end, told = -1, -1
    for command in sorted(set(_places(commands))):
        start, stop, text = command
        if _FLAG.match(text) and _starts_line(tree, start):
            why = _why(tree, start)
            if why and not (told >= 0 and not tree.text(told, start).strip()):
                yield ("continuation", f"{why}, so `{text[:60]}` is a command of its own", start, start + len(text))
            told = stop
        end = max(end, stop)


def _places(commands: list[Command]) -> Iterator[tuple[int, int, str]]:
    return ((one.start, one.end, one.words[0].raw) for one in commands if one.words[0].start == one.start)


def _starts_line(tree: Tree, at: int) -> bool:
    before = tree.text(tree.start, at)
    return not before[before.rfind("\n") + 1 :].strip() and "\n" in before


def _why(tree: Tree, at: int) -> str:
    """What cut the line off from the one before; "" where an empty line or nothing stands there."""
    lines = tree.text(tree.start, at).split("\n")[:-1]
    last = lines[-1].rstrip("\r") if lines else ""
    if not last.strip():
        return ""
    if last.strip().startswith("#"):
        return "the comment line before ends the command"
    if re.search(r"\\[ \t]+$", last):
        return "a blank stands behind the backslash of the line before"
    return "the line before has no backslash at its end"


def _words(command: Command) -> Iterator[Fault]:
    for index, word in enumerate(command.words[1:], 1):
        following = command.words[index + 1] if index + 1 < len(command.words) else None
        own = command.start <= word.start <= command.end
        if own and _EMPTY.fullmatch(word.raw) and following is not None and _value(following):
            stray = following.raw[:40]
            yield ("empty-value", f"`{word.raw}` gets no value, and `{stray}` stands alone", word.start, following.end)
        if own and not word.quoted and _TYPOGRAPHIC.match(word.raw):
            shown = word.raw[:40]
            yield ("typographic", f"`{shown}` has a dash or quote of a word processor", word.start, word.end)


def _value(word: Word) -> bool:
    return bool(word.raw.strip()) and not word.raw.startswith("-") and "=" not in word.raw


def _unterminated(tree: Tree) -> Iterator[Fault]:
    """A quote or a here-document that nothing closes: the tree has an error there, or a closing mark of no length."""
    stack = [tree.root]
    while stack:
        node = stack.pop()
        opening = _opening(tree, node)
        what = next((name for mark, name in _MARKS.items() if opening is not None and opening[1].startswith(mark)), "")
        if opening is not None and what:
            yield ("unterminated", f"{what} that starts here is never closed", opening[0], opening[0] + 1)
            return
        stack.extend(child for child in reversed(node.children) if child.has_error or child.is_error)


def _opening(tree: Tree, node: Syntax) -> tuple[int, str] | None:
    """Where something starts that is not closed, and its first characters."""
    if node.is_error:
        first = next((child for child in node.children if child.type in _MARKS), node)
        return tree.at(first.start_byte), tree.of(first)[:2]
    if any(child.is_missing and child.type in _CLOSING for child in node.children):
        return tree.at(node.start_byte), tree.of(node)[:2]
    return None
