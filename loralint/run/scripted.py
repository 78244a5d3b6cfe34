"""A config that a script reads: by whose table, which of its keys are the script's own, and what the script adds."""

from __future__ import annotations

from collections.abc import Sequence

from loralint.frameworks.detect import reader as reader_named
from loralint.frameworks.table import Reader
from loralint.run.arguments import doubted
from loralint.run.build import Part, Start
from loralint.run.divided import decided, divided
from loralint.source.document import Document

# Names that any script around Transformers may have, so that a file of them says nothing of who reads it.
_COMMON = frozenset({"trl", "alignment-handbook", "peft", "generic", "transformers", "fms-hf-tuning"})
# Those whose files have defaults for the model and its adapter in classes that a script does not show.
_OWN_CLASSES = frozenset({"alignment-handbook", "fms-hf-tuning"})

_OF_DATASETS = frozenset({"sd_scripts_dataset", "musubi_dataset"})


def together(config: Start, scripts: Sequence[Start]) -> Start:
    """The run of a config that is handed to a script. scripts: what the script starts; several of these are branches
    of which nobody knows which one is taken, so that only the config counts.
    """
    if config.reader.name not in _COMMON:
        return config
    if not scripts:  # it trains in a way of its own, if at all
        return _read_as(config, config.reader._replace(keys="", guessed=True))
    script, reader = scripts[0], _reader(config, scripts)
    part, pins = script.parts[0], {**script.pins, **config.pins}
    reader = reader._replace(own=part.own, kin=tuple(dict.fromkeys((*reader.kin, *script.reader.kin))))
    known = part.filled == reader.name or reader.name in _OWN_CLASSES
    found = _read_as(config, reader)
    if len(scripts) > 1:
        return found._replace(reader=divided(reader, None, known=known), pins=pins)
    whole = divided(reader, part, known=known)
    if reader.name == "generic" != script.reader.name:  # its keys are guessed, and the script says how it trains
        whole = script.reader._replace(guessed=True)
    document = config.parts[0].document
    without = decided(part, document)
    parts = [*(one._replace(without=without) for one in found.parts), *_handed(script, document).parts]
    return found._replace(parts=tuple(parts), reader=whole, pins=pins)


def _reader(config: Start, scripts: Sequence[Start]) -> Reader:
    """By whose table the config is read: that of what the script trains with, where its keys are no guess."""
    name, usual = scripts[0].reader.name, config.reader.name
    alike = all(start.reader.name == name for start in scripts) and name in _COMMON - {"peft"}
    reads = scripts[0].parts[0].reads
    if name == "peft" and not reads:  # a loop of its own, which may call its keys as it likes
        return config.reader._replace(keys="")
    nested = usual == "generic" and not reads
    return reader_named(name) if alike and not nested and usual != "alignment-handbook" else config.reader


def unrecognised(document: Document, script: Start) -> Start:
    """The run of a script that is handed a file whose keys say nothing of a training: they may be arguments of its."""
    if not script.parts[0].reads or document.root is None:
        return _handed(script, document)
    module = script.reader.name if script.reader.name in ("trl", "transformers") else "generic"
    reader = reader_named(module)
    return together(Start((Part("config", document, reader, document),), reader, script.reason), [script])


def _handed(start: Start, config: Document) -> Start:
    """A script's start with the config as what its parser fills its arguments from, where that is seen."""
    script, *others = start.parts
    if config.root is None:
        script = doubted(script, "the config that the script is given cannot be read")
    elif script.reads:
        script = script._replace(handed=(config,))
    else:
        keys = {pair.key for pair in config.root.pairs}
        script = doubted(script, "the config that the script is given may say otherwise", keys)
    return start._replace(parts=(script, *others))


def unseen_file(start: Start, why: str) -> Start:
    """The start of a script whose parser takes a file that nobody sees. why: why the launch may name one, if it may."""
    return start._replace(parts=tuple(_without_file(part, why) for part in start.parts))


def _without_file(part: Part, why: str) -> Part:
    if not part.reads or part.handed or not (why or part.reads == "alone"):
        return part
    return doubted(part, why or "the file that the script takes its arguments from is not seen")


def _read_as(config: Start, reader: Reader) -> Start:
    parts = tuple(part._replace(reader=reader) if part.reader is config.reader else part for part in config.parts)
    return config._replace(parts=parts, reader=reader)


def as_settings(part: Part) -> Part:
    """The part; a file of kohya's datasets that is handed over as one of settings, with what is to be told of that."""
    if part.kind != "config" or part.reader.keys not in _OF_DATASETS:
        return part
    from loralint.frameworks.readers.sd_scripts_dataset import unread

    return part._replace(observations=(*part.observations, *unread(part.document)))
