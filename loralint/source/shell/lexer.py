"""Words of bash: quotes, escapes, and what `$` starts. One pass from left to right, so the time is linear."""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.source.document import Fault
from loralint.source.shell.syntax import Syntax

# Constructs inside each other. Each costs about eight calls of ours.
LEVELS = 50
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]", re.ASCII)
_HEAD = re.compile(r"([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]\n]{0,200}\])?", re.ASCII)
_OPERATOR = re.compile(r":?[-=?+]|##?|%%?|//?|\^\^?|,,?|:|@")
# What ends a word that is not quoted, and what is more than text inside one.
_ENDS = frozenset(" \t\n\r;&|<>()")
_PLAIN = re.compile(r"[^ \t\n\r;&|<>()'\"`$\\]+")
_IN_QUOTES = re.compile(r'[^"`$\\]+')
_JOINT = re.compile(r"\\\r?\n")


class Lexer:
    """The place in a text and what was met on the way. unclosed: (what, offset) of what nothing closes. joints: where
    a backslash joins two lines within one word, with the word's start.
    """

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.base = start
        self.at = 0
        self.depth = 0
        self.unclosed: list[tuple[str, int]] = []
        self.joints: list[tuple[int, int, int]] = []
        self.inside: Callable[[], list[Syntax]] = list  # how statements inside `$(...)` are read

    def here(self) -> int:
        """The offset in the file."""
        return self.base + self.at

    def peek(self, count: int = 1) -> str:
        """The next characters."""
        return self.text[self.at : self.at + count]

    def node(self, kind: str, first: int, children: list[Syntax] | None = None) -> Syntax:
        """A part of the text from `first` to here."""
        return Syntax(kind, self.base + first, self.here(), children, self.text[first : self.at])

    def deeper(self) -> None:
        """Enter a construct. Raises Fault when too many lie in each other."""
        self.depth += 1
        if self.depth > LEVELS:
            raise Fault("too-deep", f"nested more than {LEVELS} levels deep", self.here())

    def word(self) -> Syntax | None:
        """One word, or None where none starts."""
        first, parts = self.at, []
        while (part := self._part(first)) is not None:
            parts.append(part)
        if self.at == first:
            return None
        return parts[0] if len(parts) == 1 else self.node("concatenation", first, parts)

    def _part(self, word: int) -> Syntax | None:
        first, sign = self.at, self.peek()
        if sign == "'":
            return self._raw(1)
        if sign == '"':
            return self.string(1)
        if sign == "`":
            return self._backquoted()
        if sign == "$" and (found := self.dollar()) is not None:
            return found
        if not sign or (sign in _ENDS and not (sign == "(" and first > word and self.text[first - 1] in "?*+@!")):
            return None
        self._text(word)
        return self.node("word", first) if self.at > first else None

    def _text(self, word: int) -> None:
        """Go over text and escapes; a `$` that starts nothing is text, and so is a pattern such as `@(a|b)`."""
        while self.at < len(self.text):
            sign = self.peek()
            plain = _PLAIN.match(self.text, self.at)
            if plain is not None:
                self.at = plain.end()
            elif joint := _JOINT.match(self.text, self.at):
                if self.text[joint.end() : joint.end() + 1] in {"", *_ENDS, "#"}:
                    if self.at > word:
                        return
                elif self.at > word:
                    self.joints.append((self.here(), self.base + joint.end(), self.base + word))
                self.at = joint.end()
            elif sign == "\\":
                self.at = min(self.at + 2, len(self.text))
            elif sign == "$" and not self._starts():
                self.at += 1
            elif sign == "(" and self.at > word and self.text[self.at - 1] in "?*+@!":
                closing = self.text.find(")", self.at)
                self.at = closing + 1 if closing >= 0 else len(self.text)
            else:
                return

    def _starts(self) -> bool:
        after = self.text[self.at + 1 : self.at + 2]
        return bool(after) and (after in "{('\"" or _NAME.match(after) is not None)

    def _raw(self, opening: int) -> Syntax:
        first = self.at
        closing = self.text.find("'", first + opening)
        if closing < 0:
            self.unclosed.append(("the quote `'`", self.here()))
        self.at = closing + 1 if closing >= 0 else len(self.text)
        return self.node("raw_string", first)

    def _ansi(self) -> Syntax:
        first = self.at
        match = re.compile(r"\$'(?:[^'\\]|\\.)*'", re.DOTALL).match(self.text, first)
        if match is None:
            self.unclosed.append(("the quote `'`", self.here()))
        self.at = match.end() if match is not None else len(self.text)
        return self.node("ansi_c_string", first)

    def string(self, opening: int) -> Syntax:
        """Text in double quotes; its children are only what is more than text."""
        first, children = self.at, []
        self.at += opening
        while self.at < len(self.text) and self.peek() != '"':
            child = self.dollar() if self.peek() == "$" else self._backquoted() if self.peek() == "`" else None
            if child is not None:
                children.append(child)
            elif plain := _IN_QUOTES.match(self.text, self.at):
                self.at = plain.end()
            else:
                self.at = min(self.at + (2 if self.peek() == "\\" else 1), len(self.text))
        closed = self.peek() == '"'
        self.at += closed
        if not closed:
            self.unclosed.append(('the quote `"`', self.base + first + opening - 1))
        node = self.node("string", first, children)
        node.parts["inside"] = [Syntax("inside", node.start + opening, node.end - closed)]
        return node

    def _backquoted(self) -> Syntax:
        first = self.at
        match = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL).match(self.text, first)
        if match is None:
            self.unclosed.append(("the backquote", self.here()))
            self.at = len(self.text)
            return self.node("command_substitution", first)
        whole, self.text = self.text, self.text[: match.end() - 1]
        self.at += 1
        self.deeper()
        children = self.inside()
        self.depth -= 1
        self.text, self.at = whole, match.end()
        return self.node("command_substitution", first, children)

    def dollar(self) -> Syntax | None:
        """What `$` starts here; None where it is only a character."""
        first, after = self.at, self.text[self.at + 1 : self.at + 2]
        if after == "{":
            return self._braced()
        if after == "(":
            return self._arithmetic() if self.peek(3) == "$((" else self._substitution(2, "command_substitution")
        if after == "'":
            return self._ansi()
        if after == '"':
            return self.string(2)
        match = _NAME.match(self.text, first + 1)
        if match is None:
            return None
        self.at = match.end()
        return self.node("simple_expansion", first)

    def _substitution(self, opening: int, kind: str) -> Syntax:
        first = self.at
        self.at += opening
        self.deeper()
        children = self.inside()
        self.depth -= 1
        if self.peek() == ")":
            self.at += 1
        else:
            self.unclosed.append(("the bracket `(`", self.base + first))
        return self.node(kind, first, children)

    def process(self) -> Syntax:
        """`<(...)` and `>(...)`."""
        return self._substitution(2, "process_substitution")

    def _arithmetic(self) -> Syntax:
        """`$((...))`, whose text is worked out by others; `$((a); b)` is a substitution."""
        first, depth = self.at, 0
        for match in re.compile(r"[()]").finditer(self.text, first + 1):
            depth += 1 if match[0] == "(" else -1
            if not depth:
                self.at = match.end()
                return self.node("arithmetic_expansion", first)
        self.at = len(self.text)
        self.unclosed.append(("the bracket `((`", self.base + first))
        return self.node("arithmetic_expansion", first)

    def _braced(self) -> Syntax:
        """`${NAME}`, `${NAME[@]}`, `${NAME:-word}`; of other forms only the end is looked for."""
        first = self.at
        self.at += 2
        head = _HEAD.match(self.text, self.at)
        roles: dict[str, list[Syntax]] = {}
        if head is not None:
            roles["name"] = [Syntax("name", self.here(), self.base + head.end(1), text=head[1])]
            roles["index"] = [Syntax("index", 0, 0, text=head[2][1:-1])] if head[2] else []
            self.at = head.end()
            operator = _OPERATOR.match(self.text, self.at)
            if operator is not None:
                roles["operator"] = [Syntax("operator", self.here(), self.base + operator.end(), text=operator[0])]
                self.at = operator.end()
        self.deeper()
        roles["rest"] = self._rest()
        self.depth -= 1
        node = self.node("expansion", first)
        node.parts = roles
        return node

    def _rest(self) -> list[Syntax]:
        """Everything up to the closing brace."""
        found: list[Syntax] = []
        while self.at < len(self.text) and self.peek() != "}":
            part = self._part(self.at)
            if part is None:
                first = self.at
                self.at += 1
                part = self.node("word", first)
            elif part.kind == "word" and "}" in part.text:
                self.at = part.start - self.base + part.text.index("}")
                part = Syntax("word", part.start, self.here(), text=part.text[: part.text.index("}")])
                if not part.text:
                    break
            found.append(part)
        if self.peek() == "}":
            self.at += 1
        return found
