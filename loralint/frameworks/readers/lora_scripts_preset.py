"""Presets of lora-scripts (fdefba97 read): `[data]` holds what they change in the form that makes sd-scripts' config.

The form has keys of its own, taken off before sd-scripts reads the rest: of unknown keys only likely slips are
told.
Sources: config/presets, mikazuki/app/api.py, mikazuki/schema.
"""

from __future__ import annotations

from loralint.frameworks.readers.sd_scripts import READER as SD_SCRIPTS
from loralint.frameworks.table import ANY

READER = SD_SCRIPTS._replace(
    section="data",
    flat=False,
    own=frozenset({ANY}),
    partial=lambda _: "the form that the preset is laid over may say it",
)
