"""The files that a project's settings name as rules and golden entries of its own."""

from __future__ import annotations

import glob
import os

from loralint.authoring.load import AuthoringError
from loralint.engine.own import use
from loralint.engine.settings import Settings
from loralint.source.discover import within

# What a team writes by hand is far below these.
_FILES = 500
_BYTES = 512 * 1024


def use_files(settings: Settings) -> None:
    """Have them count. Raises ValueError, with file and line, for what cannot be used."""
    try:
        from loralint.authoring.own import parts
    except ImportError as error:
        raise ValueError(
            f"{settings.file}: rules of the project's own need {error.name}: pip install '.[authoring]' in a checkout"
        ) from None
    try:
        use(parts(texts(settings, "rules"), texts(settings, "golden")))
    except AuthoringError as error:
        raise ValueError(str(error)) from None


def texts(settings: Settings, kind: str) -> tuple[tuple[str, str], ...]:
    """(name, text) of the files that the patterns under `rules` or `golden` name. Raises AuthoringError."""
    patterns: tuple[str, ...] = getattr(settings, kind)
    found = dict.fromkeys(name for pattern in patterns for name in _named(settings, kind, pattern))
    if len(found) > _FILES:
        raise AuthoringError(f"{settings.file}: `{kind}` names {len(found)} files; at most {_FILES} are read")
    return tuple((_shown(settings, name), _text(os.path.join(settings.own_root, name))) for name in found)


def _named(settings: Settings, kind: str, pattern: str) -> list[str]:
    where = f"{settings.file}: `{kind}`"
    if os.path.isabs(pattern) or ".." in pattern.replace("\\", "/").split("/") or pattern.count("**") > 1:
        raise AuthoringError(f"{where}: {pattern!r} is no pattern below the folder of the settings (** once at most)")
    found = sorted(glob.glob(pattern, root_dir=settings.own_root, recursive=True))
    files = [name for name in found if os.path.isfile(os.path.join(settings.own_root, name))]
    if not files:
        raise AuthoringError(f"{where}: no file is called {pattern!r}")
    for name in files:
        if not within(os.path.join(settings.own_root, name), settings.own_root):
            raise AuthoringError(f"{where}: {name} is a symbolic link that leads out of the project")
    return files


def _shown(settings: Settings, name: str) -> str:
    """The file as the user would name it from where he stands."""
    path = os.path.join(settings.own_root, name)
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _text(path: str) -> str:
    with open(path, "rb") as file:
        data = file.read(_BYTES + 1)
    if len(data) > _BYTES:
        raise AuthoringError(f"{path}: larger than {_BYTES // 1024} KiB, which no rule file is")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AuthoringError(f"{path}: not UTF-8") from None
