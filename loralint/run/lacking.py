"""Files of ConfigMaps that a container's command names, or its config, and that the container does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from loralint.frameworks.launch import references
from loralint.frameworks.launched import Launch
from loralint.frameworks.readers.kubernetes.command import Executed
from loralint.frameworks.readers.kubernetes.missing import missing_file
from loralint.frameworks.readers.kubernetes.pods import Job
from loralint.model import Observation, Value
from loralint.run.build import Start
from loralint.run.mounts import Mounts
from loralint.run.project import Project
from loralint.source.command import Word

if TYPE_CHECKING:
    from loralint.run.manifests import Container


def lacking(container: Container, project: Project) -> Iterator[Observation]:
    """What the command of a container names and does not find: scripts that it calls, configs of its launches."""
    for one in container.executed:
        if one.lacks is not None:
            absent, word = one.lacks
            yield missing_file(container.job, absent, word.raw, _place(one, word))
        for launch in one.launches:
            mounts = Mounts(project, container.at, container.place, one, launch.folder)
            for kind, word in references(launch):
                if kind in ("config", "script") and isinstance(word.text, str):
                    found = mounts.look(word.text, container.place.document.file)
                    if found.absent is not None:
                        yield missing_file(container.job, found.absent, word.text, _place(one, word))


def beyond(start: Start, launch: Launch, mounts: Mounts, job: Job) -> Start:
    """The start with the files that its config names and does not find, such as DeepSpeed's."""
    named = {word.text for _, word in references(launch) if isinstance(word.text, str)}
    found = tuple(missing_file(job, one, path, None) for path, one in mounts.absent.items() if path not in named)
    if not found or not start.parts:
        return start
    first, *others = start.parts
    return start._replace(parts=(first._replace(observations=(*first.observations, *found)), *others))


def _place(one: Executed, word: Word) -> Value:
    return Value(word.raw, "flag", word.raw, text=word.raw, span=one.document.span(word.node))
