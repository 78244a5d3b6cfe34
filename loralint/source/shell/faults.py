"""What a shell takes otherwise than it looks: lost backslashes, blanks behind them, comments between, stray values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loralint.source.command import Command, Word
    from loralint.source.shell.lexer import Lexer

Fault = tuple[str, str, int, int]
_FLAG = re.compile(r"(?:--?[A-Za-z]|[+~]*[A-Za-z_]\w*\.[\w.]+=)")
_TYPOGRAPHIC = re.compile("[\u2010-\u2015\u2212]+-?[A-Za-z]|[\u201c\u201d\u2018\u2019]|.*[\u201c\u201d]$", re.DOTALL)
# commas of a Chinese or Japanese keyboard between numbers and names in ASCII
_WIDE = re.compile("[\\x21-\\x7e]*[\\w:](?:[\uff0c\u3001][\\x21-\\x7e]+)+", re.ASCII)
# a value in double quotes whose last backslash was to end a path of Windows: the text goes on to the next quote
_TAKEN = re.compile(r'(?:--?[\w-]+=)?"(?:[^"\\]|\\[^"])*\\"[ \t]+--?[A-Za-z]')
_NAME = re.compile(r"[A-Za-z_]\w*")
_EMPTY = re.compile(r"--[\w.-]+=")
_LONG = re.compile(r"--[A-Za-z][\w.-]*")
# a Python file is a command of its own as a rule, but not after a backslash that was to go on with it
_SCRIPT, _CUT = re.compile(r"[\w./-]+\.py"), re.compile(r"\\[ \t]+\r?$")
_MOST = 20  # joined words of one text that are told


def faults(text: str, start: int, lexer: Lexer, commands: list[Command]) -> Iterator[Fault]:
    """All faults of a text that stands at an offset, given its commands and what was met on the way to them."""
    yield from _lost(text, start, commands)
    for joint, end, word in lexer.joints[:_MOST]:
        shown = "".join(text[word - start : end - start + 30].split("\\\n")).split()
        message = f"no blank stands before the backslash, so the lines run together to `{shown[0][-60:]}`"
        yield ("continuation", message, joint, end)
    taken = [fault for command in commands for fault in _taken(command, text, start)][:1]
    yield from taken
    seen: set[int] = set()
    for command in commands:
        if command.start not in seen:
            seen.add(command.start)
            yield from _words(command, text, start)
            yield from _blank(command, text, start)
            yield from _spaced(command)
            yield from _parted(command)
            yield from _wide(command)
            yield from _held(command, text, start)
    for what, at in lexer.unclosed[:1] if not taken else ():
        yield ("unterminated", f"{what} that starts here is never closed", at, at + 1)


def carriage(text: str, start: int, commands: list[Command]) -> Iterator[Fault]:
    """The first backslash before a line end of Windows: bash on Linux takes it for the carriage return alone."""
    joints = (text.find("\\\r\n", one.start - start, one.end - start) for one in commands)
    at = next((joint for joint in joints if joint >= 0), -1)
    if at >= 0:
        message = "the lines end as on Windows (CRLF), and for bash on Linux the command ends at its first backslash"
        yield ("carriage", message, start + at, start + at + 2)


def _lost(text: str, start: int, commands: list[Command]) -> Iterator[Fault]:
    """Lines of flags that are commands of their own; those that follow each other are one fault."""
    told = -1
    for first, stop, word in sorted(set(_places(commands))):
        line = text.rfind("\n", 0, max(0, first - start))
        if (_FLAG.match(word) or _SCRIPT.fullmatch(word)) and line >= 0 and not text[line : first - start].strip():
            before = text[text.rfind("\n", 0, line) + 1 : line]
            why = _why(before) if _FLAG.match(word) or _CUT.search(before) else ""
            if why and not (told >= 0 and not text[told - start : first - start].strip()):
                yield ("continuation", f"{why}, so `{word[:60]}` is a command of its own", first, first + len(word))
            told = stop


def _places(commands: list[Command]) -> Iterator[tuple[int, int, str]]:
    return ((one.start, one.end, one.words[0].raw) for one in commands if one.words[0].start == one.start)


def _why(line: str) -> str:
    """What cut a line off from the one before, which is given; "" where that is empty."""
    last = line.rstrip("\r")
    if not last.strip() or "..." in last:  # where something is left out, nothing is lost
        return ""
    if last.strip().startswith("#"):
        return "the comment line before ends the command"
    if re.search(r"\\[ \t]+$", last):
        return "a blank stands behind the backslash of the line before"
    return "the line before has no backslash at its end"


def _words(command: Command, text: str, start: int) -> Iterator[Fault]:
    for index, word in enumerate(command.words[1:], 1):
        following = command.words[index + 1] if index + 1 < len(command.words) else None
        own = command.start <= word.start <= command.end
        empty = own and not word.quoted and _EMPTY.fullmatch(word.raw) is not None
        if empty and following is not None and _value(following):
            between = text[word.end - start : following.start - start]
            if not {"<", ">"} & set(between):  # `--flag=<value>` of a text that nobody has filled in
                shown = following.raw[:40]
                yield (
                    "empty-value",
                    f"`{word.raw}` gets no value, and `{shown}` stands alone",
                    word.start,
                    following.end,
                )
        if own and not word.quoted and _TYPOGRAPHIC.match(word.raw):
            shown = word.raw[:40]
            yield ("typographic", f"`{shown}` has a dash or quote of a word processor", word.start, word.end)


def _wide(command: Command) -> Iterator[Fault]:
    """Lists whose commas are of a Chinese keyboard, which no program splits at, among the words and the variables."""
    for word in (*command.words[1:], *(one.word for one in command.env)):
        if not word.quoted and _WIDE.fullmatch(word.raw) is not None:
            message = f"`{word.raw[:40]}` has a comma of a Chinese keyboard, which is an ordinary letter to a program"
            yield ("wide", message, word.start, word.end)
            return


def _held(command: Command, text: str, start: int) -> Iterator[Fault]:
    """A backslash in the text of a variable, which joins no lines once the text is split into words."""
    for word in command.words[1:]:
        if word.raw == "\\" and not word.quoted and "$" in text[word.start - start : word.end - start]:
            message = "a backslash in the text of a variable joins no lines, and is an argument of its own"
            yield ("held", message, word.start, word.end)
            return


def _taken(command: Command, text: str, start: int) -> Iterator[Fault]:
    """A path of Windows whose last backslash makes a letter of the quote that was to close it."""
    for word in command.words[1:]:
        match = _TAKEN.match(text, word.start - start, word.end - start) if word.quoted else None
        if match is not None:
            end = start + match[0].rindex('"') + 1 + match.start()
            shown = text[word.start - start : end - start][-40:]
            message = f"its last backslash makes a letter of the closing quote, so `{shown}` takes in what follows"
            yield ("quote", message, word.start, end)
            return


def _blank(command: Command, text: str, start: int) -> Iterator[Fault]:
    """Backslashes inside a line, left when the lines of a command were joined: each makes a word of one blank."""
    for word, following in pairwise(command.words):
        escaped = command.start <= word.start and text[word.start - start : word.end - start] in ("\\ ", "\\\t")
        if escaped and _FLAG.match(following.raw):
            message = "a backslash inside a line makes an argument of the blank behind it"
            yield ("continuation", message, word.start, word.start + 1)
            return


def _spaced(command: Command) -> Iterator[Fault]:
    """`NAME = value`, which runs a command NAME and sets nothing."""
    name, *rest = command.words
    if len(rest) == 2 and rest[0].raw == "=" and _NAME.fullmatch(name.raw) and name.start == command.start:
        message = f"with blanks round its `=`, `{name.raw[:40]}` is run as a command and set to nothing"
        yield ("assignment", message, name.start, rest[1].end)


def _parted(command: Command) -> Iterator[Fault]:
    """`--flag = value`, which are three words, and to most parsers a flag whose value is `=` and one word too many."""
    for flag, sign, given in zip(command.words, command.words[1:], command.words[2:], strict=False):
        own = command.start <= flag.start <= given.end <= command.end
        if own and sign.raw == "=" and not sign.quoted and _LONG.fullmatch(flag.raw):
            message = f"with blanks round it `=` is the value of `{flag.raw[:40]}`, and `{given.raw[:40]}` stands alone"
            yield ("empty-value", message, flag.start, given.end)


def _value(word: Word) -> bool:
    return bool(word.raw.strip()) and not word.raw.startswith("-") and "=" not in word.raw
