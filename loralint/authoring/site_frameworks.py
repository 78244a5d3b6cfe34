"""A page for each trainer: its keys with what they mean and default to, by release, and the rules that name it."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.authoring.markdown import code, table
from loralint.canonical.fields import FIELDS
from loralint.frameworks.convert import never
from loralint.frameworks.detect import NAMES, reader
from loralint.frameworks.table import SKIP, Entry, Reader
from loralint.knowledge.rules import Rule, all_rules
from loralint.knowledge.versions import newest
from loralint.render.page import escaped
from loralint.source.shown import shown


def framework_pages() -> dict[str, str]:
    """Path -> text."""
    readers = {name: reader(module) for name, module in NAMES.items()}
    pages = {f"frameworks/{name}.md": "\n".join(_page(name, one)) for name, one in readers.items()}
    rows = [
        (f"[{name}]({name}.md)", escaped(one.title), newest(one.packages[0]) or "") for name, one in readers.items()
    ]
    head = (
        "# Trainers\n\nEach with its keys, defaults and rules. All fields side by side: [coverage](../coverage.md).\n\n"
    )
    return {**pages, "frameworks/index.md": head + table(("name", "trainer", "newest known release"), rows)}


def _page(name: str, one: Reader) -> Iterator[str]:
    yield f"# {escaped(one.title)}\n"
    release = newest(one.packages[0])
    known = f" The newest release that is known: {release}." if release else ""
    yield f"`loralint check FILE --framework {name}`; a file is recognised by its keys.{known}\n"
    rules = all_rules()
    own = [rule for rule in rules if rule.frameworks and name in rule.frameworks]
    general = sum(rule.frameworks is None for rule in rules)
    yield "## Rules\n"
    yield f"{general} rules hold for every trainer ([all](../rules/index.md)), and {len(own)} name this one:\n"
    yield table(("rule", "tier"), [(_link(rule), " ".join(rule.gives)) for rule in own]) if own else ""
    yield "## Keys\n"
    yield "What loralint reads of them; a key has its default where nothing is written.\n"
    yield table(("key", "what it is", "default", "releases"), list(_rows(one)))


def _link(rule: Rule) -> str:
    return f"[{rule.id} {rule.name}](../rules/{rule.id}.md)"


def _rows(one: Reader) -> Iterator[tuple[str, str, str, str]]:
    for entry in sorted((row for row in one.table if row.key and row.read is not never), key=lambda row: row.key):
        field = FIELDS.get(entry.field)
        about = escaped(f"{entry.field}: {field.doc}" if field else entry.field)
        yield code([entry.key]), about, _default(entry), escaped(entry.when)


def _default(entry: Entry) -> str:
    if entry.default is SKIP:
        return ""
    return "depends on other keys" if callable(entry.default) else escaped(shown(entry.default))
