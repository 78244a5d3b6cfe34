"""Simple commands of bash: assignments, words, redirections, and the here-documents that follow their line."""

from __future__ import annotations

import re

from loralint.source.shell.lexer import Lexer
from loralint.source.shell.syntax import Syntax

_GAP = re.compile(r"(?:[ \t]|\\\r?\n)+")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n=]{0,100}\])?(\+?=)", re.ASCII)
REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-|<<|<>|>>|>\||>&|<&|<(?!\()|>(?!\())|&>>?")
DECLARATIONS = frozenset({"export", "declare", "typeset", "local", "readonly"})


class Commands(Lexer):
    """The state of one reading: besides the place, here-documents whose text is still to come."""

    def __init__(self, text: str, start: int) -> None:
        super().__init__(text, start)
        self.pending: list[Syntax] = []

    def gap(self) -> None:
        """Pass over blanks and joined lines."""
        if match := _GAP.match(self.text, self.at):
            self.at = match.end()

    def separators(self) -> None:
        """Pass over what stands between statements: line ends, comments, `;` and `&`."""
        while self.at < len(self.text):
            self.gap()
            sign = self.peek()
            if sign == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            elif sign == "\n":
                self.at += 1
                self.documents()
            elif sign in {"\r", "&"} or (sign == ";" and self.peek(2) != ";;"):
                self.at += 1
            else:
                return

    def lines(self) -> None:
        """Pass over line ends and comments after a sign that needs a further command."""
        while True:
            self.gap()
            if self.peek() == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            if self.peek() not in {"\n", "\r"} or self.at >= len(self.text):
                return
            self.at += 1
            self.documents()

    def redirected(self, first: int, body: Syntax, redirects: list[Syntax]) -> Syntax:
        """A command with its redirections."""
        node = self.node("redirected_statement", first, [body, *redirects])
        node.parts = {"body": [body], "redirects": redirects}
        return node

    def redirects(self) -> list[Syntax]:
        """The redirections that stand here."""
        found = []
        self.gap()
        while match := REDIRECT.match(self.text, self.at):
            found.append(self.redirect(match))
            self.gap()
        return found

    def redirect(self, match: re.Match[str]) -> Syntax:
        """One redirection; of a here-document the text follows at the next line end."""
        first, self.at = self.at, match.end()
        sign = match[1] or match[0]
        self.gap()
        place = self.word()
        if sign in {"<<", "<<-"} and place is not None:
            node = self.node("heredoc", first)
            quoted = bool(set(place.text) & set("'\"\\"))
            mark = re.sub(r"['\"\\]", "", place.text)
            node.parts = {"mark": [Syntax("quoted" if quoted else "mark", place.start, place.end, text=mark)]}
            node.parts["dash"] = [place] if sign == "<<-" else []
            self.pending.append(node)
            return node
        node = self.node("redirect", first)
        node.parts = {"to": [place] if place is not None else []}
        node.text = sign
        return node

    def documents(self) -> None:
        """Read the texts of the here-documents of the line that ended."""
        waiting, self.pending = self.pending, []
        for node in waiting:
            mark, first = node.parts["mark"][0], self.at
            tabs = r"\t*" if node.parts["dash"] else ""
            closing = re.compile(rf"^{tabs}{re.escape(mark.text)}\r?$", re.MULTILINE).search(self.text, first)
            if closing is None:
                self.unclosed.append((f"the here-document `{mark.text[:40]}`", node.start))
            end = closing.start() if closing is not None else len(self.text)
            body = Syntax("document", self.base + first, self.base + end, text=self.text[first:end])
            if mark.kind != "quoted":
                body.children = self._expansions(first, end)
            node.parts["document"] = [body]
            line = self.text.find("\n", closing.end() - 1) if closing is not None else -1
            self.at = line + 1 if line >= 0 else len(self.text) if closing is None else closing.end()

    def _expansions(self, first: int, end: int) -> list[Syntax]:
        """What is filled in between two places of a here-document."""
        whole, self.text, self.at = self.text, self.text[:end], first
        unclosed, found = len(self.unclosed), []
        while self.at < end:
            sign = re.compile(r"[$\\]").search(self.text, self.at)
            if sign is None:
                break
            self.at = sign.start()
            child = self.dollar() if sign[0] == "$" and self.peek(2) not in {"$'", '$"'} else None
            if child is not None:
                found.append(child)
            else:
                self.at += 2 if sign[0] == "\\" else 1
        del self.unclosed[unclosed:]
        self.text = whole
        return found

    def simple(self) -> Syntax:
        """Assignments, words and redirections up to the end of the command."""
        first, children, redirects, last = self.at, [], [], self.at
        named, declares = False, False
        while True:
            self.gap()
            sign = self.peek()
            if not sign or sign in "\n;|)#" or (sign == "&" and not REDIRECT.match(self.text, self.at)):
                break
            if sign == "\r" and self.peek(2) in {"\r\n", "\r"}:
                break
            redirect = REDIRECT.match(self.text, self.at)
            if redirect is not None:
                redirects.append(self.redirect(redirect))
            elif self.peek(2) in {"<(", ">("}:
                children.append(self.process())
            elif (assignment := self._assignment() if not named or declares else None) is not None:
                children.append(assignment)
            else:
                word = self.word()
                if word is None:
                    break
                declares = declares or (not named and word.text in DECLARATIONS)
                named = True
                children.append(word)
            last = self.at
        at, self.at = self.at, last
        node = self.node("declaration" if declares else "command" if named else "assignments", first, children)
        made = self.redirected(first, node, redirects) if redirects else node
        self.at = at
        return made

    def _assignment(self) -> Syntax | None:
        match = _ASSIGNMENT.match(self.text, self.at)
        if match is None:
            return None
        first, self.at = self.at, match.end()
        value = self._array() if self.peek() == "(" else self.word() if not _GAP.match(self.text, self.at) else None
        node = self.node("assignment", first)
        node.parts = {"name": [Syntax("name", 0, 0, text=match[1])], "value": [value] if value is not None else []}
        node.parts["sign"] = [Syntax(match[3], 0, 0, text=match[2] or "")]
        return node

    def _array(self) -> Syntax:
        first, children = self.at, []
        self.at += 1
        while self.at < len(self.text) and self.peek() != ")":
            self.lines()
            word = self.word()
            if word is not None:
                children.append(word)
            elif self.peek() != ")":
                self.at += 1
        self.at = min(self.at + 1, len(self.text))
        return self.node("array", first, children)
