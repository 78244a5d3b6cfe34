"""The documentation site, from the same data as the tool: `python -m loralint.authoring site --out DIR`.

It writes what MkDocs takes: DIR/mkdocs.yml and DIR/docs. `mkdocs build --strict -f DIR/mkdocs.yml` makes the pages and
fails at a link that leads nowhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from loralint.authoring.docs import TOPIC_TITLES
from loralint.authoring.markdown import table
from loralint.authoring.site_frameworks import framework_pages
from loralint.knowledge.data import shipped
from loralint.knowledge.rules import all_rules, compiled
from loralint.render.golden_page import golden_page
from loralint.render.page import as_markdown, code_span, escaped
from loralint.render.rule_page import frameworks_of, plain, rule_page, tiers_of
from loralint.run.spelling import keys_of

_HEAD = """\
# loralint

Finds what will kill, waste or spoil a LoRA fine-tune before it starts.

```console
pip install loralint
loralint check config.yaml --gpu T4
```

- Something broke? [By symptom](symptoms.md), or paste the error into the search box above.
- [Every rule](rules/index.md), with its reasons, sources and the examples that test it.
- [The golden list](golden/index.md): values that are known to train well.
- [Your trainer](frameworks/index.md): its keys, defaults and rules.
- [Exit codes, formats, score](output.md), [settings and ignores](settings.md), [the gate](gate.md).
- [A cluster that asks](kubernetes.md) before it stores a job, and [what it is answered](webhook.md).
- Coming from [axolotl validate](coming-from/axolotl-validate.md), [peft-doctor](coming-from/peft-doctor.md),
  [check-jsonschema](coming-from/check-jsonschema.md) or [kube-linter](coming-from/kube-linter.md);
  [beside other linters](compared.md).
"""
# Guides that the pages made here take the place of.
_REPLACED = frozenset({"rules.md", "golden.md"})


def write_site(root: Path, out: Path) -> int:
    """Write the site's sources; the number of pages. root: the checkout, whose docs/ are the guides."""
    pages = {**_guides(root / "docs"), **_rules(), **_golden(), **framework_pages(), "symptoms.md": _symptoms()}
    pages["index.md"] = _HEAD
    for name, text in pages.items():
        path = out / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (out / "mkdocs.yml").write_text(json.dumps(_configuration(pages), indent=1) + "\n", "utf-8")
    return len(pages)


def _configuration(pages: Mapping[str, str]) -> dict[str, Any]:
    """JSON is YAML, and nothing here is more than data."""
    guides = sorted(name for name in pages if "/" not in name and name not in ("index.md", "symptoms.md"))
    nav: list[Any] = [
        {"Start": "index.md"},
        {"By symptom": "symptoms.md"},
        {"Rules": _part("rules", pages)},
        {"Golden list": _part("golden", pages)},
        {"Trainers": _part("frameworks", pages)},
        {"Guides": guides},
        {"Coming from": sorted(name for name in pages if name.startswith("coming-from/"))},
    ]
    return {
        "site_name": "loralint",
        "nav": nav,
        "theme": {"name": "material", "font": False, "features": ["navigation.tabs", "navigation.prune"]},
        "plugins": ["search"],
        "markdown_extensions": ["tables", "fenced_code", "attr_list", "pymdownx.superfences"],
        "validation": {"nav": {"omitted_files": "warn"}, "links": {"not_found": "warn", "anchors": "warn"}},
    }


def _part(folder: str, pages: Mapping[str, str]) -> list[str]:
    first = f"{folder}/index.md"
    return [first, *sorted(name for name in pages if name.startswith(f"{folder}/") and name != first)]


def _guides(folder: Path) -> dict[str, str]:
    """Pages that people wrote. A link out of docs/ leads nowhere on a site, so its words stay without it."""
    paths = [path for path in sorted(folder.rglob("*.md")) if path.name not in _REPLACED]
    return {str(path.relative_to(folder)): _inside(path, folder) for path in paths}


def _inside(path: Path, folder: Path) -> str:
    text = path.read_text("utf-8")
    if path.parent == folder:  # a page in a folder of docs/ leads up, and stays inside
        text = re.sub(r"\[([^\]]*)\]\((?:\.\./[^)]*|[^):]+\.tsv)\)", r"\1", text)
    for name in _REPLACED:
        text = re.sub(rf"\]\({re.escape(name)}(#[^)]*)?\)", f"]({name.removesuffix('.md')}/index.md)", text)
    return text


def _rules() -> dict[str, str]:
    """One page a rule, as `explain` prints it, and the list of all."""
    hot, cold, golden = _hot(), shipped("rules_cold"), shipped("golden")
    keys = cache(keys_of)
    spelt = {rule["id"]: keys(frameworks_of(cold[rule["id"]])[0]) for rule in hot}
    pages = {
        f"rules/{rule['id']}.md": as_markdown(rule_page(rule, cold[rule["id"]], spelt[rule["id"]], golden))
        for rule in hot
    }
    lines = ["# Rules\n", f"{len(hot)} rules: S blocks, A wants two people, B is small, a note is no finding.\n"]
    for topic, title in TOPIC_TITLES.items():
        rows = [
            (f"[{rule['id']} {rule['name']}]({rule['id']}.md)", tiers_of(rule, golden), escaped(
                plain(rule, "message", spelt[rule["id"]], golden).partition(": ")[0]))
            for rule in hot if rule["topic"] == topic
        ]  # fmt: skip
        if rows:
            lines += [f"## {title}\n", table(("rule", "tier", "what happens"), rows)]
    return {**pages, "rules/index.md": "\n".join(lines)}


def _hot() -> list[dict[str, Any]]:
    return [compiled(rule) for rule in all_rules()]


def _golden() -> dict[str, str]:
    hot, cold = shipped("golden"), shipped("golden_cold")
    pages = {f"golden/{name}.md": as_markdown(golden_page(name, hot[name], cold[name])) for name in hot}
    rows = ((f"[{name}]({name}.md)", escaped(cold[name]["title"]), str(len(hot[name]))) for name in sorted(hot))
    head = "# The golden list\n\nWhich values train well, under which conditions, from which sources.\n\n"
    return {**pages, "golden/index.md": head + table(("parameter", "what it is", "entries"), rows)}


def _symptoms() -> str:
    """Every symptom that a rule states, by topic: what the search of the site finds."""
    return "\n".join(_symptom_lines())


def _symptom_lines() -> Iterator[str]:
    hot, cold = _hot(), shipped("rules_cold")
    yield "# By symptom\n"
    yield "What people saw, and the rule that knows of it. A whole traceback goes to `loralint explain --symptom -`.\n"
    for topic, title in TOPIC_TITLES.items():
        rows = [
            (code_span(symptom).replace("|", "\\|"), f"[{rule['id']} {rule['name']}](rules/{rule['id']}.md)")
            for rule in hot
            if rule["topic"] == topic
            for symptom in cold[rule["id"]].get("symptoms", ())
        ]
        if rows:
            yield f"## {title}\n"
            yield table(("you see", "rule"), rows)
