"""musubi-tuner's file of `dataset_config` (30c658c4 read): datasets of pictures or of videos, without subsets."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.readers.sd_scripts_dataset import READER as SD_SCRIPTS
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document
from loralint.source.scalars import plain

_STRIDE = 4  # of frames that the VAE of every model takes together; one stands alone before them


def observe_frames(document: Document, _: Look) -> list[Observation]:
    """Observe numbers of frames that are no multiple of four and one more, which the trainer rounds down."""
    return list(_rounded(document))


def _rounded(document: Document) -> Iterator[Observation]:
    datasets = document.root.get("datasets") if document.root is not None else None
    for index, dataset in enumerate(datasets.items if datasets is not None else ()):
        pair = dataset.pair("target_frames") if dataset.kind == "mapping" else None
        counts = plain(pair.value, document.format) if pair is not None else None
        if pair is None or not isinstance(counts, list) or not all(isinstance(one, int) and one > 0 for one in counts):
            continue
        real = [(one - 1) // _STRIDE * _STRIDE + 1 for one in counts]
        if real != counts:
            data = {"real": ", ".join(map(str, real)), "given": ", ".join(map(str, counts))}
            where = place(document, pair, f"datasets[{index}].target_frames")
            yield Observation("frames-rounded", where, "changed", "", package="musubi-tuner", data=data)


READER = SD_SCRIPTS._replace(
    name="musubi-tuner",
    title="musubi-tuner",
    keys="musubi_dataset",
    packages=("musubi-tuner",),
    observe=(*SD_SCRIPTS.observe, observe_frames),
)
