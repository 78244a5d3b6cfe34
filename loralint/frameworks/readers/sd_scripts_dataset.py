"""The file of `dataset_config`: lists of datasets and, for sd-scripts, of subsets; TOML or JSON.

Of a setting the subset's counts, else its dataset's, else that of `general`, else the flag's. A field here stands for
all subsets: what switches something on stands for it as soon as one subset does, a size for the largest one, and what
differs where only one answer makes sense is unknown. An unknown key or a value of a wrong type stops either trainer.
Sources: sd-scripts 0.10.1 library/config_util.py; musubi-tuner 30c658c4 dataset/config_utils.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from loralint.frameworks.convert import never, not_null
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import KNOWN_TASK, edge, longest
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import plain


class _Block(NamedTuple):
    """A table of the file. dotted: where it stands, with its dot."""

    dotted: str
    node: Node


# what says of a folder of pictures how its captions are found
_OF_FOLDERS = frozenset({"caption_extension", "class_tokens", "cache_info", "is_reg"})
_LISTED = Value(True, "derived", field="data.listed")
_Chain = tuple[_Block, ...]  # what is asked for a setting, the nearest first


def _size(made: object) -> object:
    """Read 1024 and [832, 1216], a width and a height."""
    if isinstance(made, list):
        made = ",".join(str(one) for one in made) if len(made) == 2 else None
    return edge(made)


def _longest(made: object) -> object:
    sides = made if isinstance(made, list) else [made]
    return longest(max(sides)) if sides and all(isinstance(one, int) for one in sides) else SKIP


def _is_on(made: object) -> bool:
    return made not in (None, False, 0)


def _blocks(node: Node | None, dotted: str) -> Iterator[_Block]:
    for index, item in enumerate(node.items if node is not None else ()):
        if item.kind == "mapping":
            yield _Block(f"{dotted}[{index}].", item)


def _chains(root: Node) -> list[list[_Chain]]:
    """For each dataset the chains of its subsets, or its own where it has none."""
    general = root.get("general")
    last = (_Block("general.", general),) if general is not None and general.kind == "mapping" else ()
    found = []
    for dataset in _blocks(root.get("datasets"), "datasets"):
        subsets = list(_blocks(dataset.node.get("subsets"), f"{dataset.dotted}subsets"))
        found.append([(subset, dataset, *last) for subset in subsets] or [(dataset, *last)])
    return found


def _said(document: Document, chain: _Chain, key: str, read: Callable[[object], object]) -> Value | None:
    """What holds for one subset, with its place; None where the file leaves it to the flags."""
    for block in chain:
        pair: Pair | None = block.node.pair(key)
        if pair is not None:
            made = read(plain(pair.value, document.format))
            return None if made is SKIP else place(document, pair, block.dotted + key)._replace(value=made)
    return None


def _any(values: list[Value | None]) -> Value | None:
    """On where one is, off where all are."""
    on = next((value for value in values if value is not None and _is_on(value.value)), None)
    return on or (values[0] if values and None not in values else None)


def _largest(values: list[Value | None]) -> Value | None:
    given = [value for value in values if value is not None and isinstance(value.value, (int, float))]
    return max(given, key=lambda value: float(str(value.value)), default=None)


def _same(values: list[Value | None]) -> Value | None:
    first = next((value for value in values if value is not None), None)
    if first is None or all(value is not None and value.value == first.value for value in values):
        return first
    return first._replace(value=Unknown("the datasets differ in it"))


_JOINED: dict[str, tuple[str, Callable[[object], object], Callable[[list[Value | None]], Value | None]]] = {
    "batch.micro": ("batch_size", not_null, _same),
    "data.resolution": ("resolution", _size, _largest),
    "data.longest_side": ("resolution", _longest, _largest),
    "data.bucket_min": ("min_bucket_reso", not_null, _same),
    "data.bucket_max": ("max_bucket_reso", not_null, _same),
    "data.buckets": ("enable_bucket", not_null, _any),
    "data.bucket_step": ("bucket_reso_steps", not_null, _same),
    "data.shuffle_caption": ("shuffle_caption", not_null, _any),
    "data.caption_dropout": ("caption_dropout_rate", not_null, _any),
    "data.tag_dropout": ("caption_tag_dropout_rate", not_null, _any),
    "data.token_warmup": ("token_warmup_step", not_null, _any),
    "data.caption_extension": ("caption_extension", not_null, _same),
    "data.color_augmentation": ("color_aug", not_null, _any),
    "data.random_crop": ("random_crop", not_null, _any),
}


def combine(document: Document, values: Values) -> Values:
    """Every field over all subsets."""
    del values
    assert document.root is not None
    chains = [chain for dataset in _chains(document.root) for chain in dataset]
    fields: dict[str, tuple[Value, ...]] = {**KNOWN_TASK, "data.listed": (_LISTED,)}
    for field, (key, read, join) in _JOINED.items():
        joined = join([_said(document, chain, key, read) for chain in chains])
        if joined is not None:
            fields[field] = (joined._replace(field=field),)
    return fields


def unread(document: Document) -> list[Observation]:
    """Observe datasets in a file that a trainer reads its settings from, which passes over them."""
    pair = document.root.pair("datasets") if document.root is not None else None
    if pair is None or pair.value.kind != "sequence":
        return []
    message = (
        "the trainer takes settings from the file of --config_file, and datasets from that of --dataset_config alone"
    )
    told = {"advice": "keep them in a file of their own, and name that with --dataset_config"}
    return [Observation("ignored", place(document, pair, "datasets"), "lost", message, data=told)]


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe folders that are missing, two ways to say the captions, and two datasets with one cache."""
    root = document.root
    if root is None:
        return []
    return [*_without_pictures(document, root), *_by_metadata(document, root), *_shared_caches(document, root)]


def _refused(document: Document, node: Node, dotted: str, message: str, package: str) -> Observation:
    span = document.span(node.pairs[0].key_node) if node.pairs else document.span(node)
    return Observation("rejected", Value(None, key=dotted, span=span), "crash", message, package=package)


def _without_pictures(document: Document, root: Node) -> Iterator[Observation]:
    for dataset in _blocks(root.get("datasets"), "datasets"):
        for subset in _blocks(dataset.node.get("subsets"), f"{dataset.dotted}subsets"):
            if subset.node.pairs and not (subset.node.pair("image_dir") or subset.node.pair("metadata_file")):
                message = "sd-scripts wants `image_dir` or `metadata_file` in every subset"
                yield _refused(document, subset.node, subset.dotted.rstrip("."), message, "sd-scripts")


def _by_metadata(document: Document, root: Node) -> Iterator[Observation]:
    """A file of metadata holds the captions: no dataset goes half by it, and no key says where else they are."""
    for dataset in _blocks(root.get("datasets"), "datasets"):
        subsets = list(_blocks(dataset.node.get("subsets"), f"{dataset.dotted}subsets"))
        listed = [subset for subset in subsets if subset.node.pair("metadata_file") is not None]
        if listed and len(listed) < len(subsets):
            message = "sd-scripts takes subsets with `metadata_file` and subsets without only in datasets of their own"
            yield _refused(document, listed[0].node, listed[0].dotted.rstrip("."), message, "sd-scripts")
        elif listed:
            for block in (dataset, *subsets):
                pair = next((one for one in block.node.pairs if one.key in _OF_FOLDERS), None)
                if pair is not None:
                    message = "sd-scripts refuses it beside `metadata_file`, which holds the captions"
                    where = place(document, pair, block.dotted + pair.key)
                    yield Observation("rejected", where, "crash", message, rewrite="remove", package="sd-scripts")


def _shared_caches(document: Document, root: Node) -> Iterator[Observation]:
    """musubi-tuner stores what it computes by dataset; the folder of the pictures where none is named."""
    seen: set[str] = set()
    for dataset in _blocks(root.get("datasets"), "datasets"):
        if dataset.node.pair("subsets") is not None:
            return
        keys = ("cache_directory", "image_directory", "video_directory")
        pair = next((found for key in keys if (found := dataset.node.pair(key)) is not None), None)
        if pair is not None and pair.value.raw and pair.value.raw in seen:
            message = "musubi-tuner wants a `cache_directory` of its own for each dataset, and this folder has one"
            yield Observation(
                "rejected", place(document, pair, dataset.dotted + pair.key), "crash", message, package="musubi-tuner"
            )
        seen.add(pair.value.raw if pair is not None else "")


TABLE = (
    Entry("train.task", "", write=never),
    Entry("data.listed", "", write=never),
    *(Entry(field, f"general.{key}", lambda _: SKIP) for field, (key, _, _) in _JOINED.items()),
)

READER = Reader(
    name="sd-scripts",
    title="sd-scripts",
    dialect="toml",
    table=TABLE,
    keys="sd_scripts_dataset",
    coerces=False,
    packages=("sd-scripts",),
    observe=(observe_faults,),
    combine=combine,
    partial=lambda _: "the command that trains may say it",
)
