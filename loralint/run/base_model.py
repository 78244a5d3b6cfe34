"""Where the base model's own config.json lies: as the caller says, in a folder that the run names, or in a cache."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator

from loralint.model import Note, Value
from loralint.run.config import Config
from loralint.run.options import Options


def model_config(config: Config, options: Options, beside: str | None) -> Value | None:
    """The path of the config.json, and who says so; None where nobody does. beside: the one in the project's folder.

    What the caller gives for this base model counts before what is given for all, that before a folder of the project,
    and a cache comes last, as a trainer takes a folder before it looks for an id.
    """
    base = config.get("model.base")
    name = base.value if isinstance(base.value, str) else ""
    for given in (name, ""):
        if given in options.model_configs:
            return _said(options.model_configs[given], "--model-config")
    if beside is not None and _is_model(beside):
        return Value(beside, "companion", base.key, field="run.model_config", reads=(base,))
    if name and options.model_cache:
        from loralint.knowledge.local_config import cached

        found = cached(name, options.model_cache)
        return _said(found, "--model-cache") if found is not None else None
    return None


def _is_model(path: str) -> bool:
    """Whether a config.json is a model's; other programs have files of this name too."""
    from loralint.knowledge.local_config import read
    from loralint.knowledge.structure import Unsolved

    try:
        return bool(read(path))
    except Unsolved:
        return False


def _said(path: str, option: str) -> Value:
    return Value(path, "option", option, source=option, field="run.model_config")


def given_configs(given: Iterable[str], folder: str = "") -> dict[str, str]:
    """("base=path", "path") -> base model, "" for every one -> its config.json. Paths count from `folder`.

    Raises ValueError where a path leads to no config of a model.
    """
    from loralint.knowledge.local_config import located, read
    from loralint.knowledge.structure import Unsolved

    found = {}
    for one in given:
        base, equals, path = ("", "", one) if os.path.exists(os.path.join(folder, one)) else one.rpartition("=")
        if equals and not base:
            raise ValueError(f"model config `{one}` is not BASE=PATH")
        try:
            found[base] = located(os.path.join(folder, path))
            read(found[base])
        except Unsolved as unsolved:
            raise ValueError(f"model config {unsolved}") from None
    return found


def unused(meant: Iterable[str], bases: Collection[str]) -> Iterator[Note]:
    """A note for each base model that the caller gave a config.json for and that is none of the runs'."""
    from loralint.source.shown import shown

    theirs = f"here it is {shown(tuple(bases))}" if bases else "which one it is here is not known"
    why = f"is read for no run: none has this base model; {theirs}"
    yield from (Note("info", f"--model-config {shown(base)}=... {why}") for base in meant if base not in bases)


def given_cache(given: str, folder: str = "") -> str:
    """The folder of a cache; `auto` is that of this machine. Raises ValueError where there is no such folder."""
    if given == "auto":
        from loralint.knowledge.local_config import usual_cache

        return usual_cache()
    path = os.path.join(folder, given) if given else ""
    if path and not os.path.isdir(path):
        raise ValueError(f"model cache: there is no folder {path}")
    return path
