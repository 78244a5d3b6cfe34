"""The files of the repository that a Python program imports, found as Python looks for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from loralint.source.discover import within
from loralint.source.inner import every

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loralint.frameworks.launched import Launch
    from loralint.frameworks.python import Start
    from loralint.run.project import Lookup, Project
    from loralint.source.document import Document
    from loralint.source.script import Script

# Below a folder that a package is installed from, its modules most often lie in one of this name.
_SOURCES = "src"


def module_of(project: Project, name: str, level: int, near: str) -> Document | None:
    """The module that an import means, which nobody claims yet; None where it is none of the repository, or may be one
    of several. name: its dotted name; level: the dots before it; near: for these, the file that has the import, else
    the script, whose folder Python asks first. Folders above count where nothing beside the script has the name.
    """
    folders = project.folders(near)
    parts = name.split(".") if name else []
    if level:
        return _read(project, _file(project, folders[level - 1], parts), near) if level <= len(folders) else None
    found = _file(project, folders[0], parts)
    if found is None and not _shadowed(project, folders[0], parts[0]):
        above = {file for folder in _above(folders) if (file := _file(project, folder, parts))}
        found = above.pop() if len(above) == 1 else None
    return _read(project, found, near)


def is_known(launch: Launch) -> bool:
    """Whether a launch is one of a known trainer, whose own program says less than its flags."""
    from loralint.frameworks.launch import guessed, reader_of

    return reader_of(launch) is not None and not guessed(launch)


def launched_module(launch: Launch, document: Document, files: Lookup) -> Document | None:
    """The file that `python -m pkg.train` runs, where it is one of the repository and none of a known trainer."""
    if launch.program != "python" or not launch.module or is_known(launch):
        return None
    path = launch.module.replace(".", "/")
    found = files.find(f"{path}.py", document.file) or files.find(f"{path}/__main__.py", document.file)
    if found is None:
        found = files.module(launch.module, 0, document.file)
        if found is not None and os.path.basename(found.file) == "__init__.py":
            found = files.module(f"{launch.module}.__main__", 0, document.file)
    return found


def _above(folders: list[str]) -> Iterator[str]:
    for folder in folders:
        yield from () if folder is folders[0] else (folder,)
        yield os.path.join(folder, _SOURCES)


def _shadowed(project: Project, folder: str, name: str) -> bool:
    """Whether a folder has a module or package of this name, after which Python looks no further."""
    path = os.path.join(folder, name, "__init__.py")
    return f"{name}.py" in project.names(folder) or (name in project.names(folder) and os.path.isfile(path))


def _file(project: Project, folder: str, parts: list[str]) -> str | None:
    """The file of a module below a folder."""
    if parts and not project.names(folder) & {parts[0], f"{parts[0]}.py"}:
        return None
    path = os.path.join(folder, *parts)
    files = [os.path.join(path, "__init__.py"), *([f"{path}.py"] if parts else [])]
    return next((file for file in files if os.path.isfile(file)), None)


def _read(project: Project, file: str | None, near: str) -> Document | None:
    if file is None or not within(file, project.top(near)):
        return None
    return project.peek(file, project.name(file, near))


def used_modules(script: Script, start: Start) -> tuple[Document, ...]:
    """The modules of a program that a start has a value, a call or an argument of."""
    nodes = [*every(start.document.roots), *(one.node for one in script.arguments)]
    nodes += [pair.key_node for node in nodes for pair in node.pairs]
    told = (*(one.value for one in start.events), *(one.value for one in start.observations))
    files = {getattr(node.start_mark, "file", "") for node in nodes} | {one.span.file for one in told if one.span}
    return tuple(one for one in script.modules if one.file in files)
