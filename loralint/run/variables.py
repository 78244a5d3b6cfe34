"""SimpleTuner's `config.env`: a config by itself, or the variables of the config that lies beside it."""

from __future__ import annotations

import os

from loralint.frameworks.companions.dotenv import read_dotenv
from loralint.frameworks.companions.environment import READER as ENVIRONMENT
from loralint.frameworks.readers.simpletuner_env import FLAGS, READER, backend, extra, is_config, pins
from loralint.run.build import Part, Start
from loralint.run.project import Project
from loralint.source.document import Document

NAME = "config.env"
# What SimpleTuner looks for in a folder before it looks for variables.
_BEFORE = ("config.json", "config.toml")


def variables_start(document: Document) -> Start | None:
    """The run of a file of variables; None where they are no config, or only go with one."""
    made = read_dotenv(document)
    if not is_config(made) or backend(made) not in ("", "env") or (not backend(made) and _has_config(document)):
        return None
    flags = [Part("flags", one, FLAGS, document) for one in reversed(extra(made))]
    return Start((*flags, Part("config", made, READER, document)), READER, "`MODEL_TYPE` and its kin", pins(made))


def with_variables(start: Start, document: Document, project: Project) -> Start:
    """The start of a config with the variables that SimpleTuner loads from the folder first."""
    found = project.find(NAME, document.file) if os.path.basename(document.file) in _BEFORE else None
    if found is None:
        return start
    if variables_start(found) is not None:  # it asks to be read in place of this config, and stays a run of its own
        project.claimed.discard(os.path.realpath(found.file))
    return start._replace(parts=(*start.parts, Part("env", read_dotenv(found), ENVIRONMENT, found)))


def _has_config(document: Document) -> bool:
    folder = os.path.dirname(os.path.realpath(document.file))
    return any(os.path.isfile(os.path.join(folder, name)) for name in _BEFORE)
