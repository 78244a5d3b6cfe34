"""A line that starts a program with nothing before it: one process, on however many GPUs.

Sources: transformers 5.24.0 trainer.py, which spreads the rows of each step over several with DataParallel; accelerate
1.15.0 state.py, which counts one process without the variables of a launcher.
"""

from __future__ import annotations

from loralint.frameworks.table import Reader, Values
from loralint.model import Value
from loralint.source.document import Document


def _combine(document: Document, values: Values) -> Values:
    del values
    root = document.root
    assert root is not None
    place = Value(True, "flag", "python", span=document.span(root), field="dist.alone")
    return {"dist.alone": (place,)}


READER = Reader(
    name="alone",
    title="a program by itself",
    dialect="flags",
    table=(),
    keys="",
    coerces=True,
    packages=("accelerate",),
    combine=_combine,
)
