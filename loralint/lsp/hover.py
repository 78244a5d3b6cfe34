"""What an editor shows beside a place: its findings with the pages of their rules, and what its key really is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from loralint.knowledge.data import part
from loralint.knowledge.rules import compiled, find
from loralint.lsp.judging import job_of
from loralint.lsp.places import Sight
from loralint.model import Finding, Note, Setting, Span, Value
from loralint.render.page import Block, as_markdown, as_text, code_span
from loralint.render.rule_page import frameworks_of, rule_page
from loralint.render.style import Style
from loralint.run.spelling import keys_of
from loralint.source.shown import path, shown

_WIDTH = 100
_PAGES = 2  # whole pages of rules at one place
_NEAR = 200  # characters before a value in which its key is looked for
_KEY = re.compile(r"""(?:--|["'])?(?P<name>[A-Za-z_][\w-]*)["']?[ \t]*(?:[:=]\s*|\s+)["']?\Z""")


def hover(sight: Sight, position: types.Position, *, markdown: bool) -> types.Hover | None:
    """What is to be said of a place, None for nothing."""
    if job_of(sight.judged) is None:
        return None
    offset = sight.places.of(sight.file).offset(position)
    here = [one for one in sight.judged.findings if _covers(one.span, sight, offset)]
    blocks = [*_settings(sight, offset), *_findings(here)]
    if not blocks:
        return None
    text = as_markdown(blocks, level=3) if markdown else as_text(blocks, Style(on=False), _WIDTH)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, text))


def _covers(span: Span | None, sight: Sight, offset: int, before: int = 0) -> bool:
    return span is not None and span.file == sight.file and span.start - before <= offset <= span.end


def _settings(sight: Sight, offset: int) -> Iterator[Block]:
    """What the key at a place is for every run that reads it, and what could not be checked of it."""
    said: dict[str, None] = {}
    for run in sight.judged.report.runs:
        for one in run.settings:
            if _at(one.value, sight, offset) or any(_at(other, sight, offset) for other in one.value.shadowed):
                said[_row(one, sight)] = None
                said.update(dict.fromkeys(_unchecked(run.notes, one.value)))
    yield from (Block("text", text) for text in said)


def _at(value: Value, sight: Sight, offset: int) -> bool:
    """Whether a place is in a value, or in the key before it."""
    return _covers(value.span, sight, offset, _key_length(value, sight))


def _key_length(value: Value, sight: Sight) -> int:
    """How far before its value a key starts, in any format; 0 where it does not stand there."""
    if value.span is None or value.span.file != sight.file:
        return 0
    found = _KEY.search(sight.judged.text(value.span.file)[max(value.span.start - _NEAR, 0) : value.span.start])
    name = value.key.rpartition(".")[2].lstrip("-").replace("-", "_")
    return len(found[0]) if found and found["name"].replace("-", "_") == name else 0


def _row(row: Setting, sight: Sight) -> str:
    value = row.value
    unit = f" {row.unit}" if row.unit else ""
    hidden = "; ".join(f"{code_span(shown(one.value, limit=60))} {_origin(one, sight)}" for one in value.shadowed)
    effective = f"{code_span(row.parameter)} is {code_span(shown(value.value))}{unit}, {_origin(value, sight)}"
    return effective + (f"; it hides {hidden}" if hidden else "")


def _origin(value: Value, sight: Sight) -> str:
    """Where a value comes from, in words."""
    if value.span is None:
        return f"{value.origin} of {value.source}" if value.source else value.origin
    where = "" if value.span.file == sight.file else f" of {code_span(path(value.span.file))}"
    return f"{value.origin} in line {value.span.line}{where}"


def _unchecked(notes: tuple[Note, ...], value: Value) -> Iterator[str]:
    yield from (f"Not checked: {one.message}" for one in notes if one.key and one.key == value.key)


def _findings(here: list[Finding]) -> Iterator[Block]:
    for number, one in enumerate(here):
        yield Block("strong", f"{one.rule} {one.name}, tier {one.tier}")
        yield Block("text", f"{one.message}\n\n{one.help}")
        if number < _PAGES and one.rule not in {other.rule for other in here[:number]}:
            yield from _page(one.rule)


def _page(code: str) -> Iterator[Block]:
    """The page of a rule, as `loralint explain` prints it."""
    cold: Any = part("rules_cold")
    golden: Any = part("golden")
    rule = find(code)
    if rule is not None:
        yield from rule_page(compiled(rule), cold[code], keys_of(frameworks_of(cold[code])[0]), golden)
