"""The file of SimpleTuner's `data_backend_config` (4.8.0 read): a list of data sets, caches and where they lie.

What a data set leaves out is that of the config. Sizes are pixels or megapixels, by `resolution_type`; switches are
taken as they stand, so that a text switches on whatever it says.
Sources: simpletuner/helpers/data_backend/{factory,config/base,config/image,config/validators}.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loralint.frameworks.convert import never
from loralint.frameworks.misreading import DENIALS
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import KNOWN_TASK
from loralint.frameworks.table import Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_SWITCHES = ("crop", "disabled", "probe", "preserve_data_backend_cache")
_TYPES = ("pixel", "area", "pixel_area")
_CROPS = {
    "crop_aspect": ("square", "preserve", "random", "closest"),
    "crop_style": ("random", "corner", "center", "centre", "face"),
}
_CHOSEN = ("random", "closest")
_LIMITED = ("maximum_image_size", "target_downsample_size")
_FEWEST_PIXELS = 16  # no picture is that small; megapixels are
_LEAST_LIMIT = 512  # SimpleTuner's own bound for limits in pixels
_MOST_MEGAPIXELS = 20  # SimpleTuner's own bound for limits in megapixels


def combine(document: Document, values: Values) -> Values:
    """Folders with pictures, and the largest size where all are in pixels."""
    del values
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    folders = [
        place(document, pair, f"[{index}].instance_data_dir")
        for index, item in enumerate(_backends(document))
        if (pair := item.pair("instance_data_dir")) is not None
    ]
    if folders:
        names = [folder.value for folder in folders]
        fields["data.datasets"] = (folders[0]._replace(value=names, items=tuple(folders), field="data.datasets"),)
    return fields


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe sizes in the wrong unit, limits that do not go together, and texts that switch on what they deny."""
    found: list[Observation] = []
    for index, item in enumerate(_backends(document)):
        found += _of_backend(document, item, f"[{index}].")
    return found


def _backends(document: Document) -> Sequence[Node]:
    """The list, which stands under an empty key."""
    listed = document.root.get("") if document.root is not None else None
    return listed.items if listed is not None else ()


def _of_backend(document: Document, item: Node, dotted: str) -> Iterator[Observation]:
    kind = _read(item, "resolution_type")
    yield from _unit(document, item, dotted, kind)
    if isinstance(kind, str) and kind not in _TYPES and "|" not in kind:  # a template names all of them
        message = "SimpleTuner knows `pixel`, `area` and `pixel_area`"
        yield _at(document, item, dotted, "resolution_type", "crash", message)
    if _read(item, "maximum_image_size") and not _read(item, "target_downsample_size"):
        message = "SimpleTuner wants `target_downsample_size` with it"
        yield _at(document, item, dotted, "maximum_image_size", "crash", message)
    yield from _cropped(document, item, dotted)
    for key in _SWITCHES:
        word = _read(item, key)
        if isinstance(word, str) and word.lower() in DENIALS:
            message = f"`{word}` in quotes is a text, and every text counts as true"
            yield _at(document, item, dotted, key, "changed", message, "false")


def _cropped(document: Document, item: Node, dotted: str) -> Iterator[Observation]:
    """Shapes and ways to crop that nobody knows, and shapes to choose from that nobody names."""
    for key, known in _CROPS.items():
        word = _read(item, key)
        if isinstance(word, str) and word not in known and "|" not in word:
            message = f"SimpleTuner knows {', '.join(f'`{one}`' for one in known)}"
            yield _at(document, item, dotted, key, "crash", message)
    listed = item.get("crop_aspect_buckets")
    if _read(item, "crop_aspect") in _CHOSEN and (listed is None or not listed.items):
        message = "SimpleTuner wants `crop_aspect_buckets` with it, the shapes to choose from"
        yield _at(document, item, dotted, "crop_aspect", "crash", message)


def _unit(document: Document, item: Node, dotted: str, kind: object) -> Iterator[Observation]:
    """Pixels where megapixels are counted, and the other way round."""
    size = _number(item, "resolution")
    if kind in ("pixel", "pixel_area") and 0 < size <= _FEWEST_PIXELS:
        message = f"`resolution_type: {kind}` counts pixels, and no picture is {size:g} pixels wide"
        yield _at(document, item, dotted, "resolution", "changed", message)
    elif kind == "area" and size > _MOST_MEGAPIXELS:
        message = f"`resolution_type: area` counts megapixels, and {size:g} of them fit no model"
        yield _at(document, item, dotted, "resolution", "changed", message)
    for key in _LIMITED:
        limit = _number(item, key)
        if (kind == "pixel" and 0 < limit < _LEAST_LIMIT) or (kind == "area" and limit >= _MOST_MEGAPIXELS):
            unit, other = ("pixels", "megapixels") if kind == "pixel" else ("megapixels", "pixels")
            message = f"`resolution_type: {kind}` counts {unit}, and {limit:g} looks like {other}"
            yield _at(document, item, dotted, key, "crash", message)


def _read(item: Node, key: str) -> object:
    node = item.get(key)
    return value(node, "json") if node is not None and node.kind == "scalar" else None


def _number(item: Node, key: str) -> float:
    made = _read(item, key)
    return made if isinstance(made, (int, float)) and not isinstance(made, bool) else 0


def _at(document: Document, item: Node, dotted: str, key: str, effect: str, message: str, to: str = "") -> Observation:
    pair = item.pair(key)
    assert pair is not None
    kind = "rejected" if effect == "crash" else "coerced"
    there = place(document, pair, dotted + key)
    return Observation(kind, there, effect, message, to, "value" if to else "", "simpletuner")


READER = Reader(
    name="simpletuner",
    title="SimpleTuner",
    dialect="json",
    table=(Entry("train.task", "", write=never), Entry("data.datasets", "[0].instance_data_dir", write=never)),
    keys="",
    coerces=False,
    packages=("simpletuner",),
    observe=(observe_faults,),
    combine=combine,
    listed=True,
    partial=lambda _: "the config that names this file may say it",
)
