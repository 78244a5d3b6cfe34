"""Small faults of a ConfigMap's configs mended on the way in, as a JSON patch of the keys that hold them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import NamedTuple

from loralint.engine.lint import Job
from loralint.engine.mend import Mended, mend
from loralint.run.mapped import ENDS
from loralint.run.project import Project
from loralint.run.starts import is_manifest
from loralint.webhook.objects import NOWHERE, document_of


class Patched(NamedTuple):
    """texts: key -> its text after all safe fixes of tier B, of those that change. rules: whose fixes were made."""

    texts: Mapping[str, str]
    rules: tuple[str, ...]


def patched(data: Mapping[str, str], job: Job) -> Patched:
    """What the fixes make of a map's texts. Comments and order stay, since the text itself is edited."""
    texts, rules = {}, []
    for key, text in data.items():
        made = _mended(text, NOWHERE + key, job) if key.endswith(ENDS) else None
        if made is not None and made.changes:
            mark = text[: len(text) - len(text.lstrip("\ufeff"))]
            texts[key] = mark + made.texts[NOWHERE + key]
            rules += [one.rule for one in made.changes]
    return Patched(texts, tuple(dict.fromkeys(rules)))


def _mended(text: str, file: str, job: Job) -> Mended | None:
    """A config with its fixes; manifests that lie in a map are none."""
    document = document_of(text, file)
    if is_manifest(document):
        return None
    return mend([document], job, lambda: Project(NOWHERE), barred=lambda _: "", only=lambda one: one.tier == "B")


def operations(texts: Mapping[str, str]) -> str:
    """The patch in base64. No `test` of the old text: nobody else can have changed it, and the API server compares JSON
    by its letters, so that `<` or `é`, which it writes in another way than we do, would fail the whole request.
    """
    steps = []
    for key, text in texts.items():
        path = "/data/" + key.replace("~", "~0").replace("/", "~1")
        steps.append({"op": "replace", "path": path, "value": text})
    return base64.b64encode(json.dumps(steps).encode()).decode()
