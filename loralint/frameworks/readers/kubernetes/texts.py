"""Numbers and booleans where the API server takes texts only, as kubectl and the server read YAML.

Theirs is not PyYAML's: `2e-4`, `08` and `y` are no texts for them, `12:30` is one. Measured here: kubectl 1.36.3 and
kube-apiserver 1.36.2, 69 scalars as the value of a variable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator

from loralint.frameworks.readers.kubernetes.missing import named_maps
from loralint.frameworks.readers.kubernetes.objects import objects
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.frameworks.readers.kubernetes.processes import variables
from loralint.frameworks.readers.kubernetes.tree import At, entries, items, named, open_text, value, word
from loralint.model import Observation
from loralint.source.document import UNSET, Document, Node

_TYPES = {"int": "a number", "float": "a number", "bool": "a boolean"}
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false")
_BOOLS = frozenset(form for word in _WORDS for form in (word, word.title(), word.upper()))
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_OTHER = re.compile(
    r"[-+]?0(?:[xX][0-9a-fA-F]{1,15}|[oO][0-7]{1,21}|[bB][01]{1,63})|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def texts(document: Document, container: At) -> Iterator[Observation]:
    """Variables and words of the command line that are no texts."""
    values = list(variables(container).values())
    values += [one for name in ("command", "args") for one in items(named(container, name))]
    yield from _no_texts(document, values)


def labels(document: Document, job: Job) -> Iterator[Observation]:
    """Labels, annotations and node selectors that are none."""
    for group in job.pods:
        meta = named(group.template, "metadata")
        maps = (named(group.pod, "nodeSelector"), named(meta, "annotations"), named(meta, "labels"))
        yield from _no_texts(document, [one for several in maps for one in entries(several)])


def map_texts(document: Document, found: Iterable[Job]) -> Iterator[Observation]:
    """Values of the ConfigMaps in the file, of those that its jobs use."""
    used = {word(one, "name") for job in found for one in named_maps(job)}
    for one in objects(document) if used else ():
        if word(one, "kind") == "ConfigMap" and word(named(one, "metadata"), "name") in used:
            yield from _no_texts(document, entries(named(one, "data")))


def _no_texts(document: Document, values: list[At]) -> Iterator[Observation]:
    for one in values:
        kind = _type(one.node) if one.node.kind == "scalar" else ""
        if kind and not open_text(one.node.raw):
            quoted = f'"{one.node.raw}"'
            data = {"type": kind, "quoted": quoted}
            yield Observation("job-no-text", value(document, one), "crash", "", quoted, "value", data=data)


def _type(node: Node) -> str:
    """What a scalar is for the server, where it is no text."""
    if node.native is not UNSET or not node.plain:
        return _TYPES.get(node.tag, "")
    if node.raw in _BOOLS:
        return "a boolean"
    digits = node.raw.replace("_", "") if node.raw[:1] in "+-.0123456789" else ""
    is_decimal = _DECIMAL.fullmatch(digits) and not math.isinf(float(digits))
    return "a number" if is_decimal or _OTHER.fullmatch(digits) else ""
