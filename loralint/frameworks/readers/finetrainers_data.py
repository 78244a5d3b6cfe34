"""The file of finetrainers' `dataset_config` (f476c371 read): JSON with a list of datasets, and nothing of the run."""

from __future__ import annotations

from loralint.frameworks.convert import never
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import KNOWN_TASK
from loralint.frameworks.table import Entry, Reader, Values
from loralint.model import Value
from loralint.source.document import Document


def combine(document: Document, values: Values) -> Values:
    """Where the data lie, one place for each dataset."""
    del values
    listed = document.root.get("datasets") if document.root is not None else None
    roots = [
        place(document, pair, f"datasets[{index}].data_root")
        for index, item in enumerate(listed.items if listed is not None else ())
        if (pair := item.pair("data_root")) is not None
    ]
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    if roots:
        names = [root.value for root in roots]
        fields["data.datasets"] = (roots[0]._replace(value=names, items=tuple(roots), field="data.datasets"),)
    return fields


READER = Reader(
    name="finetrainers",
    title="finetrainers",
    dialect="json",
    table=(
        Entry("train.task", "", write=never),
        Entry("data.datasets", "datasets[0].data_root", lambda name: [name], never),
    ),
    keys="",
    coerces=False,
    packages=("finetrainers",),
    combine=combine,
    partial=lambda _: "the command that trains may say it",
)
