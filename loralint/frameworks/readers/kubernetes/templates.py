"""Manifests that something else has to finish first: templates of Helm and Jinja, patches of Kustomize."""

from __future__ import annotations

import re

from loralint.frameworks.detect import is_template_text
from loralint.frameworks.signatures import JOB_KINDS
from loralint.source.document import Document

_KIND = re.compile(r"^[ \t]*(?:-[ \t]+)?kind:[ \t]*[\"']?(\w+)", re.MULTILINE)
_TRAINS = re.compile(
    r"train|lora|torchrun|deepspeed|accelerate|axolotl|llama-?factory|fine-?tun|\bsft\b|\btrl\b|gpu|gaudi|habana",
    re.IGNORECASE,
)
_HEAD = 256 * 1024


def template(document: Document) -> str:
    """Why a manifest that seems to train is not checked; empty for one that is whole, or that trains nothing."""
    text = document.text[:_HEAD]
    kinds = set(_KIND.findall(text))
    if not kinds & (JOB_KINDS | {"ConfigMap"}) or not _TRAINS.search(text):
        return ""
    if is_template_text(document.text) or ("{{" in text and document.problems):
        return "template: render it (`helm template`, `envsubst`) and check what comes out"
    from loralint.frameworks.readers.kubernetes.training import patches

    if patches(document):
        return "template: a patch, of which `kustomize build` makes a whole manifest to check"
    return ""
