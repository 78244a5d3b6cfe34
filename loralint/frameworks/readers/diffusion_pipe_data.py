"""The file of diffusion-pipe's `dataset` (8f83dbf2 read): TOML with a table for each directory of pictures or videos.

A directory's own setting counts before that at the root. Sizes are edges of squares, or pairs of width and height.
Source: utils/dataset.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.convert import never
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import KNOWN_TASK, edge
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Node

_RANGE = ("min_ar", "max_ar", "num_ar_buckets")


def _largest(sizes: object) -> object:
    """Read [512, 1024] and [[1280, 720]]."""
    if not isinstance(sizes, list):
        return SKIP
    edges = [edge(",".join(map(str, one)) if isinstance(one, list) else one) for one in sizes]
    return max((one for one in edges if isinstance(one, (int, float))), default=SKIP)


def combine(document: Document, values: Values) -> Values:
    """The folders, and the task, which no key names."""
    del values
    folders = [
        place(document, pair, f"{dotted}.path")
        for dotted, node in _directories(document)
        if (pair := node.pair("path")) is not None
    ]
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    if folders:
        names = [folder.value for folder in folders]
        fields["data.datasets"] = (folders[0]._replace(value=names, items=tuple(folders), field="data.datasets"),)
    return fields


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe directories without a path, and buckets of shapes without their range."""
    root = document.root
    found = []
    for dotted, node in _directories(document):
        if node.pair("path") is None and node.pairs:
            message = "diffusion-pipe wants a `path` in every directory"
            found.append(_refused(document, node, dotted, message))
        if root is not None and _said(node, root, "enable_ar_bucket") == "true" and not _shaped(node, root):
            message = "shapes need `ar_buckets`, or all of `min_ar`, `max_ar` and `num_ar_buckets`"
            found.append(_refused(document, node, dotted, message))
    return found


def _shaped(node: Node, root: Node) -> bool:
    sized = any(one.pair(key) for one in (node, root) for key in ("ar_buckets", "size_buckets"))
    return sized or all(root.pair(key) for key in _RANGE)


def _said(node: Node, root: Node, key: str) -> str:
    found = node.get(key) or root.get(key)
    return found.raw if found is not None else ""


def _directories(document: Document) -> Iterator[tuple[str, Node]]:
    listed = document.root.get("directory") if document.root is not None else None
    for index, item in enumerate(listed.items if listed is not None else ()):
        if item.kind == "mapping":
            yield f"directory[{index}]", item


def _refused(document: Document, node: Node, dotted: str, message: str) -> Observation:
    span = document.span(node.pairs[0].key_node)
    return Observation("rejected", Value(None, key=dotted, span=span), "crash", message, package="diffusion-pipe")


TABLE = (
    Entry("train.task", "", write=never),
    Entry("data.datasets", "directory[0].path", lambda _: SKIP, never),
    Entry("data.resolution", "directory[0].resolutions", _largest, never),
    Entry("data.resolution", "resolutions", _largest, lambda size: [size]),
)

READER = Reader(
    name="diffusion-pipe",
    title="diffusion-pipe",
    dialect="toml",
    table=TABLE,
    keys="",
    coerces=False,
    packages=("diffusion-pipe",),
    observe=(observe_faults,),
    combine=combine,
    partial=lambda _: "the config that names this file may say it",
)
