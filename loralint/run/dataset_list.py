"""What LLaMA-Factory's list of datasets, dataset_info.json, says of those that a run names.

Source: llamafactory 0.9.5 `data/parser.py` (get_dataset_list), `data/loader.py` (_get_merged_dataset).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loralint.frameworks.key_list import key_list
from loralint.model import Unknown, Value
from loralint.run.config import Config
from loralint.run.project import Project
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, plain

_LIST = "dataset_info.json"
_USUAL = "data"
_ELSEWHERE = ("REMOTE:", "ONLINE")


def pairs(config: Config, project: Project) -> Value | None:
    """Whether the datasets are pairs of a better and a worse answer: all, some or none; None where nobody knows.

    A list that is not at hand is taken for the trainer's own, as far as that has the name.
    """
    named = config.get("data.datasets")
    found = _list(config, project)
    ranked = _ranked(found) if found is not None else _own(config)
    several = [ranked.get(name) for name in names(named)]
    if not several or None in several:
        return None
    word = "all" if all(several) else "some" if any(several) else "none"
    origin = "companion" if found is not None else "inherited"
    return Value(word, origin, named.key, field="run.pairs", reads=(named,))


def unlisted(config: Config, project: Project) -> Value | None:
    """The datasets that the list does not have; None where there is no list, and of v1, whose datasets are files."""
    if config.reader.keys != "llamafactory":
        return None
    named, found = config.get("data.datasets"), _list(config, project)
    if found is None or found.kind != "mapping":
        return None
    lost = [name for name in names(named) if found.pair(name) is None]
    origin = "companion" if _folder(config) else "inherited"
    items = tuple(one for one in named.items if one.value in lost) or tuple(named._replace(value=one) for one in lost)
    return Value(lost, origin, named.key, items=items, field="run.unlisted", reads=(named,))


def names(named: Value) -> list[str]:
    """The names of a run; none where one of them is no name of a list."""
    given = named.value if isinstance(named.value, list) else [named.value]
    plain = [name for name in given if isinstance(name, str) and not name.startswith(_ELSEWHERE)]
    return plain if len(plain) == len(given) else []


def _folder(config: Config) -> str | Unknown | None:
    """The folder of the list, as a part of the run names it; None where none does."""
    for root in (layer.document.root for layer in config.layers):
        pair = root.pair("dataset_dir") if root is not None and root.kind == "mapping" else None
        if pair is not None and pair.value.kind == "scalar":
            return Unknown("filled in later") if is_template(pair.value.raw) else pair.value.raw
    return None


def listed(config: Config, project: Project) -> Document | None:
    """The list of a run, where it is at hand and whole."""
    folder = _folder(config)
    if isinstance(folder, Unknown):
        return None
    found = project.path(f"{folder or _USUAL}/{_LIST}", config.main.document.file)
    document = project.peek(*found) if found is not None else None
    return document if document is not None and not document.problems else None


def named_folder(config: Config) -> bool:
    """Whether the run says where its list lies; else another one may be meant than that beside it."""
    return bool(_folder(config))


def _list(config: Config, project: Project) -> Node | None:
    document = listed(config, project)
    return document.root if document is not None else None


def _ranked(listed: Node) -> Mapping[str, bool]:
    return dict(_entries(listed))


def _entries(listed: Node) -> Iterator[tuple[str, bool]]:
    for pair in listed.pairs if listed.kind == "mapping" else ():
        if pair.value.kind == "mapping":
            given = pair.value.get("ranking")
            yield pair.key, given is not None and plain(given, "json") is True


def _own(config: Config) -> Mapping[str, bool]:
    """The names that the trainer itself brings, where no other list is named."""
    if _folder(config) not in (None, _USUAL):
        return {}
    own = key_list("llamafactory")["datasets"]
    return {**dict.fromkeys(own["plain"], False), **dict.fromkeys(own["ranked"], True)}
