"""Values of a Helm chart: settings of templates, which look like a config and are read by no trainer."""

from __future__ import annotations

import os
import re

from loralint.frameworks.readers.kubernetes import READER
from loralint.model import Note
from loralint.run.build import Part, Start
from loralint.source.document import Document
from loralint.source.shown import shown

_NAMED = re.compile(r"(?:^|[-_.])values(?:[-_.]|$)", re.IGNORECASE)
# Folders of a chart in which other sets of values lie.
_FOLDERS = frozenset({"ci", "overrides", "values"})
_ABOVE = 3
_NOTHING = READER._replace(combine=None, observe=(), table=())


def chart_values(document: Document) -> Start | None:
    """A file of values as what it is, None for any other: nobody sees what the chart's templates make of it."""
    folder, name = os.path.split(os.path.realpath(document.file))
    if _NAMED.search(name) is None and os.path.basename(folder) not in _FOLDERS:
        return None
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
