"""What an argument becomes: quotes, escapes, variables, arrays and small arithmetic, with the place of every part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from loralint.model import Unknown
from loralint.source.command import Part, Word
from loralint.source.document import Lines, Mark, Node

if TYPE_CHECKING:
    from loralint.source.shell.scope import Scope
    from loralint.source.shell.syntax import Syntax

# In a text that was brought into bash's form: stands for nothing, so that every place stays.
FILLER = "\ue000"
# In such a text: a backslash that escapes nothing.
BACKSLASH = "\ue001"
_ESCAPES = re.compile(rf"\\(\r?\n)|\\(.)|{FILLER}", re.DOTALL)
# What a backslash can escape in a here-document.
DOCUMENT_ESCAPES = re.compile(r"\\(\r?\n)|\\([$`\\])")
_QUOTED_ESCAPES = re.compile(rf'\\(\r?\n)|\\([$`"\\])|{FILLER}')
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
# Characters of a word, words of an array: beyond them a value is doubled again and again by somebody hostile.
_LONGEST, _MOST = 32 * 1024, 2000


class Field(NamedTuple):
    """A word before it is handed out: its parts, where it stands as written, and whether some of it is quoted."""

    parts: tuple[Part, ...]
    start: int
    end: int
    quoted: bool = False

    @property
    def text(self) -> str:
        """What it gives, with `${NAME}` for what is unknown."""
        return "".join(part.text for part in self.parts)

    @property
    def why(self) -> str:
        """Why it is not known, or ""."""
        return next((part.why for part in self.parts if part.why), "")


class _Split(NamedTuple):
    """A part that blanks take apart, since no quotes are round it."""

    part: Part


_QUOTED = frozenset({"string", "raw_string", "ansi_c_string"})
EXPANSIONS = frozenset({"simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"})
_Atom = Part | _Split | tuple[Field, ...]


def expand(syntax: Syntax, scope: Scope) -> list[Field]:
    """The words that one argument becomes: none for an unquoted empty variable, several for an array."""
    start, end = syntax.start, syntax.end
    quoted = _has_quotes(syntax)
    atoms = list(_atoms(syntax, scope, quoted=False))
    if len(atoms) == 1 and not isinstance(atoms[0], (Part, _Split)):
        return list(atoms[0])  # an array and nothing else: its words keep their own places
    words: list[list[Part]] = [[]] if quoted else []
    fresh = not quoted
    for piece in _pieces(atoms):
        if piece is None:
            fresh = True
        elif fresh:
            words.append([piece])
            fresh = False
        else:
            words[-1].append(piece)
    return [Field(tuple(parts), start, end, quoted) for parts in words[:_MOST]]


def _pieces(atoms: Iterable[_Atom]) -> Iterator[Part | None]:
    """The parts in order, with None where a word ends."""
    for atom in atoms:
        if isinstance(atom, Part):
            yield atom
        elif isinstance(atom, _Split):
            yield from _blanks(atom.part)
        else:
            for index, one in enumerate(atom):
                if index:
                    yield None
                yield from one.parts


def joined(syntax: Syntax, scope: Scope) -> Field:
    """The one text of an assigned value, which blanks do not take apart."""
    parts: list[Part] = []
    for atom in _atoms(syntax, scope, quoted=True):
        several = [one.parts for one in atom] if not isinstance(atom, (Part, _Split)) else [[_part(atom)]]
        for index, more in enumerate(several):
            if index:
                parts.append(Part(" ", syntax.start, syntax.start))
            parts.extend(more)
    start, end = syntax.start, syntax.end
    return bounded(Field(tuple(parts), start, end, _has_quotes(syntax)))


def bounded(field: Field) -> Field:
    """The same, or unknown where it has grown beyond what anybody writes."""
    if len(field.parts) > _MOST or sum(len(part.text) for part in field.parts) > _LONGEST:
        return Field((Part("${...}", field.start, field.end, "the value grows too long"),), field.start, field.end)
    return field


def as_word(field: Field, lines: Lines) -> Word:
    """The word with its node: at the value of a variable where it is nothing but that."""
    parts = tuple(part for part in field.parts if part.text) or field.parts
    start, end = (parts[0].start, parts[-1].end) if len(parts) == 1 else (field.start, field.end)
    if len(parts) == 1 and field.start <= start and end <= field.end:
        start, end = field.start, field.end
    return _word(parts, start, end, field, lines)


def tail(word: Word, count: int, lines: Lines) -> Word:
    """The word without its first characters, as the value in `--flag=value`: at its own place."""
    kept: list[Part] = []
    begins, left = word.start, count
    for part in word.parts:
        size = len(part.text)
        if left >= size and size:
            left -= size
            begins = part.end if word.start <= part.end <= word.end else begins
        elif left and size:
            exact = part.end - part.start == size
            kept.append(part._replace(text=part.text[left:], start=part.start + left if exact else part.start))
            begins = kept[-1].start if word.start <= part.start <= word.end else begins
            left = 0
        elif size:
            kept.append(part)
    field = Field(tuple(kept), min(begins, word.end), word.end, word.quoted)
    if len(kept) == 1 and kept[0].end - kept[0].start == len(kept[0].text):
        return _word(field.parts, kept[0].start, kept[0].end, field, lines)
    return as_word(field, lines)


def _word(parts: tuple[Part, ...], start: int, end: int, field: Field, lines: Lines) -> Word:
    raw, why = "".join(part.text for part in parts), field.why
    text = Unknown(why) if why else raw
    node = Node("scalar", "str", Mark(start, lines), Mark(end, lines), raw, native=text)
    return Word(text, node, field.quoted, parts, field.start, field.end)


def _part(atom: Part | _Split) -> Part:
    return atom.part if isinstance(atom, _Split) else atom


def _has_quotes(syntax: Syntax) -> bool:
    return syntax.kind in _QUOTED or any(child.kind in _QUOTED for child in syntax.children)


def _blanks(part: Part) -> Iterator[Part | None]:
    """The pieces of a part between blanks, with None for the blanks."""
    if part.why:
        yield part
        return
    exact = part.end - part.start == len(part.text)
    for match in list(re.finditer(r"\s+|\S+", part.text))[: 2 * _MOST]:
        if match[0].isspace():
            yield None
        elif exact:
            yield Part(match[0], part.start + match.start(), part.start + match.end())
        else:
            yield Part(match[0], part.start, part.end)


def _atoms(syntax: Syntax, scope: Scope, *, quoted: bool) -> Iterator[_Atom]:
    kind = syntax.kind
    if kind == "concatenation":
        for child in syntax.children:
            yield from _atoms(child, scope, quoted=quoted)
    elif kind == "string":
        yield from _string(syntax, scope)
    elif kind == "raw_string":
        end = syntax.end - 1 if len(syntax.text) > 1 and syntax.text.endswith("'") else syntax.end
        yield Part(_shown(syntax.text[1 : 1 + end - syntax.start - 1]), syntax.start + 1, end)
    elif kind == "ansi_c_string":
        inside = syntax.text[2:].removesuffix("'")
        yield Part(re.sub(r"\\(.)", lambda one: _ANSI.get(one[1], one[0]), inside), syntax.start, syntax.end)
    elif kind in EXPANSIONS:
        from loralint.source.shell.expansions import value

        for one in value(syntax, scope, quoted=quoted):
            yield one if quoted else _Split(one) if isinstance(one, Part) else _apart(one)
    elif kind == "process_substitution":
        yield Part("<(...)", syntax.start, syntax.end, "`<(...)` is what another command prints")
    else:
        yield from plain(syntax.text, syntax.start, _ESCAPES)


def _apart(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """The words of an array without quotes round it, which blanks take apart once more."""
    made: list[Field] = []
    for field in fields:
        words: list[list[Part]] = []
        fresh = True
        for piece in (piece for part in field.parts for piece in _blanks(part)):
            if piece is not None and not fresh:
                words[-1].append(piece)
            elif piece is not None:
                words.append([piece])
            fresh = piece is None
        made += [field] if len(words) == 1 else [Field(tuple(one), one[0].start, one[-1].end) for one in words]
    return tuple(made)


def _string(syntax: Syntax, scope: Scope) -> Iterator[_Atom]:
    """Between double quotes: text, and what is filled in."""
    (inside,) = syntax.parts["inside"]
    at = inside.start
    for child in syntax.children:
        yield from plain(_between(syntax, at, child.start), at, _QUOTED_ESCAPES)
        yield from _atoms(child, scope, quoted=True)
        at = child.end
    yield from plain(_between(syntax, at, inside.end), at, _QUOTED_ESCAPES)


def _between(syntax: Syntax, start: int, end: int) -> str:
    return syntax.text[start - syntax.start : end - syntax.start]


def plain(text: str, start: int, escapes: re.Pattern[str]) -> Iterator[Part]:
    """Text as it stands at an offset, cut where an escape shifts the places."""
    at = 0
    for match in escapes.finditer(text) if "\\" in text or FILLER in text else ():
        if match.start() > at:
            yield Part(_shown(text[at : match.start()]), start + at, start + match.start())
        if match[2]:
            yield Part(match[2], start + match.start() + 1, start + match.end())
        at = match.end()
    if at < len(text):
        yield Part(_shown(text[at:]), start + at, start + len(text))


def _shown(text: str) -> str:
    return text.replace(BACKSLASH, "\\")
