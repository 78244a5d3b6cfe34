"""Statements of bash. What a shell would refuse is passed over, so that the rest of a broken script is still read."""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.source.shell.lexer import Lexer
from loralint.source.shell.simple import Commands
from loralint.source.shell.syntax import Syntax

_FUNCTION = re.compile(
    r"(?:function[ \t]+([^\s(){}<>;&|'\"$`]{1,100})(?:[ \t]*\([ \t]*\))?|([^\s(){}<>;&|'\"$`=]{1,100})[ \t]*\([ \t]*\))"
)
_WORD_ENDS = r"(?=[ \t\r\n;&|()<>]|$)"
_RESERVED = re.compile(
    rf"(if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|\{{|\}}|\[\[|!|time){_WORD_ENDS}"
)
_CLOSING = frozenset({"then", "elif", "else", "fi", "do", "done", "esac", "}"})


def parse(text: str, start: int) -> tuple[Syntax, Lexer]:
    """The whole text as one tree, and the reader with what it met. Raises Fault for one that is nested too deep."""
    parser = Parser(text, start)
    children: list[Syntax] = []
    while parser.at < len(text):
        children += parser.statements(frozenset())
        parser.at += 1  # a bracket or word that closes nothing
    parser.at = len(text)
    parser.documents()
    return parser.node("program", 0, children), parser


class Parser(Commands):
    """The state of one reading, which knows how statements are put together."""

    def __init__(self, text: str, start: int) -> None:
        super().__init__(text, start)
        self.inside = lambda: self.statements(frozenset())

    def reserved(self) -> str:
        """The reserved word that stands here, or ""."""
        match = _RESERVED.match(self.text, self.at)
        return match[1] if match is not None else ""

    def statements(self, stops: frozenset[str]) -> list[Syntax]:
        """Statements up to a closing bracket, `;;` or one of these words."""
        found: list[Syntax] = []
        while True:
            self.separators()
            if self.at >= len(self.text) or self.peek() == ")" or self.peek(2) == ";;":
                return found
            word = self.reserved()
            if word in stops:
                return found
            if word in _CLOSING:
                if stops:
                    return found
                self.at += len(word)
                continue
            before = self.at
            found.append(self.chain())
            if self.at == before:
                self.at += 1

    def chain(self) -> Syntax:
        """`a && b || c`: children are the commands and the signs between them."""
        first, children = self.at, [self.pipeline()]
        while True:
            self.gap()
            sign = self.peek(2)
            if sign not in {"&&", "||"}:
                break
            self.at += 2
            children.append(Syntax(sign, self.here() - 2, self.here(), text=sign))
            self.lines()
            children.append(self.pipeline())
        return children[0] if len(children) == 1 else self.node("list", first, children)

    def pipeline(self) -> Syntax:
        """`! a | b |& c`."""
        first, children = self.at, []
        self.gap()
        while self.reserved() in {"!", "time"}:
            self.at += len(self.reserved())
            self.gap()
        children.append(self.command())
        while True:
            self.gap()
            if self.peek() != "|" or self.peek(2) == "||":
                break
            self.at += 2 if self.peek(2) == "|&" else 1
            self.lines()
            children.append(self.command())
        return children[0] if len(children) == 1 else self.node("pipeline", first, children)

    def command(self) -> Syntax:
        """A compound command with its redirections, a function, or a simple command."""
        self.gap()
        first, word = self.at, self.reserved()
        function = _FUNCTION.match(self.text, self.at)
        if function is not None and (function[1] or word in ("", "time")):
            return self._function(function)
        read = _COMPOUND.get(word)
        if read is None and self.peek() == "(":
            read = Parser.calculation if self.peek(2) == "((" else Parser.subshell
        if read is None:
            return self.simple()
        self.deeper()
        body = read(self)
        self.depth -= 1
        redirects = self.redirects()
        return self.redirected(first, body, redirects) if redirects else body

    def _function(self, match: re.Match[str]) -> Syntax:
        first, self.at = self.at, match.end()
        self.lines()
        self.deeper()
        body = self.command()
        self.depth -= 1
        node = self.node("function", first)
        node.parts = {"body": [body]}
        node.text = match[1] or match[2]
        return node

    def take(self, word: str) -> None:
        """Pass over a reserved word if it stands here."""
        self.separators()
        if self.reserved() == word:
            self.at += len(word)

    def branch(self) -> Syntax:
        """`if`, its `elif` and `else`, each an arm."""
        first, arms = self.at, []
        while (word := self.reserved()) in {"if", "elif", "else"}:
            start = self.at
            self.at += len(word)
            condition = self.statements(frozenset({"then"})) if word != "else" else []
            self.take("then" if word != "else" else "")
            body = self.statements(frozenset({"elif", "else", "fi"}))
            arm = self.node("arm", start, [*condition, *body])
            arm.parts = {"condition": condition, "body": body}
            arms.append(arm)
            if word == "else":
                break
        self.take("fi")
        return self.node("if", first, arms)

    def loop(self) -> Syntax:
        """`while` and `until`."""
        first = self.at
        self.at += 5
        condition = self.statements(frozenset({"do"}))
        body = self._body()
        node = self.node("while", first, [*condition, *body])
        node.parts = {"condition": condition, "body": body}
        return node

    def _body(self) -> list[Syntax]:
        self.take("do")
        body = self.statements(frozenset({"done"}))
        self.take("done")
        return body

    def words_loop(self) -> Syntax:
        """`for x in words`, `for ((...))` and `select`."""
        first = self.at
        self.at += len(self.reserved())
        self.gap()
        values: list[Syntax] = []
        if self.peek(2) == "((":
            head = self.calculation()
            names = re.findall(r"([A-Za-z_]\w*)\s*(?:[-+*/]?=(?!=)|\+\+|--)", head.text)
        else:
            variable = self.word()
            names = [variable.text] if variable is not None else []
            self.lines()
            if re.compile(rf"in{_WORD_ENDS}").match(self.text, self.at):
                self.at += 2
                self.gap()
                while (value := self.word()) is not None:
                    values.append(value)
                    self.gap()
        body = self._body()
        node = self.node("for", first, body)
        node.parts = {"values": values, "body": body, "names": [Syntax("name", 0, 0, text=name) for name in names]}
        return node

    def case(self) -> Syntax:
        """`case`: each pattern with its statements."""
        first, items = self.at, []
        self.at += 4
        self.gap()
        self.word()
        self.lines()
        self.at += 2 if self.peek(2) == "in" else 0
        while self.at < len(self.text):
            self.separators()
            if self.reserved() == "esac":
                break
            start, closing = self.at, self.text.find(")", self.at + 1)
            if closing < 0:
                self.at = len(self.text)
                break
            pattern = self.text[start:closing]
            self.at = closing + 1
            body = self.statements(frozenset({"esac"}))
            item = self.node("item", start, body)
            item.text = pattern.strip().lstrip("(")
            items.append(item)
            ended = re.compile(r";;&?|;&").match(self.text, self.at)
            self.at = ended.end() if ended is not None else self.at + (self.peek() == ")")
        self.take("esac")
        return self.node("case", first, items)

    def block(self) -> Syntax:
        """`{ ...; }`."""
        first = self.at
        self.at += 1
        children = self.statements(frozenset({"}"}))
        self.take("}")
        return self.node("block", first, children)

    def subshell(self) -> Syntax:
        """`( ... )`."""
        first = self.at
        self.at += 1
        children = self.statements(frozenset())
        self.at += self.peek() == ")"
        return self.node("subshell", first, children)

    def calculation(self) -> Syntax:
        """`(( ... ))`, of which only the end is looked for."""
        first, depth = self.at, 0
        for match in re.compile(r"[()]").finditer(self.text, first):
            depth += 1 if match[0] == "(" else -1
            if not depth:
                self.at = match.end()
                return self.node("calculation", first)
        self.at = len(self.text)
        return self.node("calculation", first)

    def test(self) -> Syntax:
        """`[[ ... ]]`: its words; signs are words here."""
        first, children = self.at, []
        self.at += 2
        while self.at < len(self.text):
            self.lines()
            if re.compile(rf"\]\]{_WORD_ENDS}").match(self.text, self.at):
                self.at += 2
                break
            word = self.word()
            if word is None:
                start = self.at
                self.at += 1
                word = self.node("word", start)
            children.append(word)
        return self.node("test", first, children)


_COMPOUND: dict[str, Callable[[Parser], Syntax]] = {
    "if": Parser.branch,
    "while": Parser.loop,
    "until": Parser.loop,
    "for": Parser.words_loop,
    "select": Parser.words_loop,
    "case": Parser.case,
    "{": Parser.block,
    "[[": Parser.test,
}
