"""A config that a script reads: by whose table, which of its keys are the script's own, and what the script adds."""

from __future__ import annotations

from collections.abc import Sequence

from loralint.frameworks.detect import reader as reader_named
from loralint.frameworks.table import Reader
from loralint.run.build import Start

# Names that any script around Transformers may have, so that a file of them says nothing of who reads it.
_COMMON = frozenset({"trl", "alignment-handbook", "peft", "generic", "transformers", "fms-hf-tuning"})


def together(config: Start, scripts: Sequence[Start]) -> Start:
    """The run of a config that is handed to a script. scripts: what the script starts; several of these are branches
    of which nobody knows which one is taken, so that only the config counts.
    """
    if config.reader.name not in _COMMON:
        return config
    if not scripts:  # it trains in a way of its own, if at all
        return _read_as(config, config.reader._replace(keys="", guessed=True))
    script, names = scripts[0], {start.reader.name for start in scripts}
    reader = config.reader
    if len(names) == 1 and script.reader.name in _COMMON - {"peft"} and reader.name != "alignment-handbook":
        reader = reader_named(script.reader.name)
    reader = reader._replace(own=script.parts[0].own, kin=tuple(dict.fromkeys((*reader.kin, *script.reader.kin))))
    found = _read_as(config, reader)
    parts = script.parts if len(scripts) == 1 else ()
    return found._replace(parts=(*found.parts, *parts), pins={**script.pins, **found.pins})


def _read_as(config: Start, reader: Reader) -> Start:
    parts = tuple(part._replace(reader=reader) if part.reader is config.reader else part for part in config.parts)
    return config._replace(parts=parts, reader=reader)
