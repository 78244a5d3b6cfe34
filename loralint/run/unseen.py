"""Why nobody sees what a container runs: its image decides, or the script of its command lies where one cannot look."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.readers.kubernetes.command import Executed, Place, words_of
from loralint.frameworks.readers.kubernetes.tree import At
from loralint.model import Note
from loralint.run.mounts import Mounts
from loralint.run.project import Project
from loralint.source.shown import shown

_SHOWN = 80  # characters of a command that are enough to know it again


def unread(executed: tuple[Executed, ...]) -> Iterator[Note]:
    """What could not be read of a command."""
    for one in executed:
        if one.why:
            yield Note("not-checked", f"what a container runs: {one.why}")


def unseen(at: At, place: Place, executed: tuple[Executed, ...], project: Project) -> Iterator[Note]:
    """What a container runs that says nothing of its training."""
    launches = [(one, launch) for one in executed for launch in one.launches]
    for one, launch in launches:
        yield from _script(launch, Mounts(project, at, place, one, launch.folder), place.document.file)
    if launches or any(one.why for one in executed):
        return
    words = words_of(at, place)
    if not words:
        yield Note("not-checked", "what a container runs: its image decides, as the manifest has no command")
    else:
        said = " ".join(word.node.raw for word in words[:4]).split("\n")[0][:_SHOWN]
        yield Note("not-checked", f"what a container runs: `{shown(said)}` starts no trainer that is known")


def _script(launch: Launch, mounts: Mounts, near: str) -> Iterator[Note]:
    name = launch.script.text if launch.script is not None else ""
    if isinstance(name, str) and name:
        note = mounts.look(name, near).note
        yield note or Note("not-checked", f"what `{shown(name)}` does: it makes no trainer that is known")
