"""Values of a Helm chart: settings of templates, which look like a config and are read by no trainer."""

from __future__ import annotations

import os

from loralint.frameworks.readers.kubernetes import READER
from loralint.model import Note
from loralint.run.build import Part, Start
from loralint.source.document import Document
from loralint.source.shown import shown

_ABOVE = 3
_NOTHING = READER._replace(combine=None, observe=(), table=())


def chart_values(document: Document) -> Start | None:
    """A file called like one of values as what it is, None for any other: nobody sees what templates make of it."""
    folder = os.path.dirname(os.path.realpath(document.file))
    for _ in range(_ABOVE):
        if os.path.isfile(os.path.join(folder, "Chart.yaml")):
            chart = shown(os.path.basename(folder))
            said = f"template: values of the Helm chart `{chart}`; check what `helm template` prints with them"
            part = Part("manifest", document, _NOTHING, document)
            return Start(
                (part,), _NOTHING, "a Helm chart's values", notes=(Note("not-checked", said),), open="template"
            )
        folder = os.path.dirname(folder)
    return None
