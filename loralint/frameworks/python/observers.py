"""What is observed of every training start of a program, whatever loads its model."""

from __future__ import annotations

from loralint.frameworks.python.formats import observe_formats
from loralint.frameworks.python.loading import observe_loading
from loralint.frameworks.python.precisions import observe_precisions
from loralint.frameworks.python.schedules import observe_schedules
from loralint.frameworks.python.tuples import observe_tuples
from loralint.frameworks.python.widths import observe_widths
from loralint.frameworks.python.words import observe_words
from loralint.frameworks.python.workers import observe_workers
from loralint.frameworks.readers.trl_refusals import refused_by_trl

OBSERVED = (
    observe_words,
    refused_by_trl,
    observe_schedules,
    observe_precisions,
    observe_tuples,
    observe_widths,
    observe_loading,
    observe_formats,
    observe_workers,
)
