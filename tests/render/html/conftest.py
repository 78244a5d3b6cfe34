"""Pages of reports on real files, as a reader of HTML sees them."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import loralint
from loralint.engine.settings import Settings
from loralint.model import Report
from loralint.render import render

BAD = """base_model: meta-llama/Llama-3.1-8B
adapter: lora
lora_r: 16
lora_alhpa: 512
lora_alpha: 32
lora_target_modules: [q_proj, k_proj, v_proj]
micro_batch_size: 2
gradient_accumulation_steps: 8
max_steps: 1000
warmup_steps: 100
lr_scheduler: cosine
learning_rate: 0.0002
optimizer: adamw_torch
sequence_len: 1024
sample_packing: false
gradient_checkpointing: true
bf16: true
special_tokens:
  pad_token: "<|end_of_text|>"
"""
BLOCK = BAD.replace("lora_alpha: 32\n", "")
GOOD = BAD.replace("lora_alhpa: 512\n", "")
VOID = frozenset({"meta", "input", "rect", "circle", "path", "polyline", "br", "link", "img"})


class Page(HTMLParser):
    """Tags with their attributes in order, the text, and the text below each id."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.source = source
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[tuple[str, str]] = []
        self.raw: dict[str, str] = {"style": "", "script": ""}
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id") or ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1][0] == tag, f"{tag} closes {self.open[-1]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][0] in self.raw:
            self.raw[self.open[-1][0]] += data
        else:
            self.text += data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        """The attributes of all elements of a tag; `class_="x"` for one of their classes."""
        name = wanted.pop("class_", "")
        return [
            attrs
            for one, attrs in self.tags
            if one == tag
            and (not name or name in (attrs.get("class") or "").split())
            and all(attrs.get(key) == value for key, value in wanted.items())
        ]


def page_of(report: Report) -> Page:
    return Page(render("html", report, color=False))


@pytest.fixture
def page(tmp_path: Path, monkeypatch):
    """page({name: text}, ...) -> the Page of a report on these files; a text alone is config.yaml."""
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)

    def build(texts: dict[str, str] | str, **given: Any) -> Page:
        texts = {"config.yaml": texts} if isinstance(texts, str) else texts
        for name, text in texts.items():
            Path(name).write_text(text, encoding="utf-8")
        return page_of(loralint.check(list(texts), settings=Settings(), figures=True, **given))

    return build
