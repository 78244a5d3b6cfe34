"""A framework's known-key list, with the one that it builds on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from loralint.knowledge.data import part
from loralint.source.document import Node, Pair


@cache
def key_list(name: str) -> Any:
    """Give the list of that name; what it knows at the top is not moved, whatever the list it extends says.

    `diffusers:train_text_to_image_lora` is the part of a list that is one script's.
    """
    name, _, script = name.partition(":")
    own = _of_script(part(f"keys-{name}"), script) if script else part(f"keys-{name}")
    if own.get("dashes"):
        return _dashed(own)
    if "extends" not in own:
        return own
    base = key_list(own["extends"])
    top = own["keys"][""]
    moved = {key: entry for key, entry in base.get("moved", {}).items() if key not in top}
    return {
        **base,
        **own,
        "keys": {**base["keys"], **own["keys"], "": [*base["keys"][""], *top]},
        "moved": {**moved, **own.get("moved", {})},
    }


def _of_script(own: Any, script: str) -> Any:
    """What most of the scripts have, without what this one lacks, and its own."""
    row = own["scripts"][script]
    most = [key for key in own["keys"][""] if key not in row.get("lacks", ())]
    required = row.get("required", own.get("required", ()))
    return {**own, "keys": {**own["keys"], "": [*most, *row["flags"]]}, "required": required}


def _dashed(own: Any) -> Any:
    """Every key at the root also as the flag that it stands for: `lora_rank` and `--lora_rank`."""
    moved, choices = own.get("moved", {}), own.get("choices", {})
    return {
        **own,
        "keys": {**own["keys"], "": [form for key in own["keys"][""] for form in (key, f"--{key}")]},
        "moved": {form: entry for key, entry in moved.items() for form in (key, f"--{key}")},
        "choices": {form: entry for key, entry in choices.items() for form in (key, f"--{key}")},
    }


@cache
def top_keys(name: str) -> frozenset[str]:
    """The keys that the list knows at the root."""
    return frozenset(key_list(name)["keys"][""])


def abbreviated(lists: Any, key: str) -> bool:
    """Whether argparse takes the key for the one flag that starts so."""
    return bool(lists.get("dashes")) and sum(one.startswith(key) for one in lists["keys"][""]) == 1


def for_another(root: Node, lists: Any) -> bool:
    """Whether the file is for another of the framework's parsers, which has keys and words of its own."""
    return any(root.pair(key) for key in lists.get("elsewhere", ()))


def ruling(lists: Any, version_is: Callable[[str], bool]) -> Any:
    """The list as it holds for the run's release."""
    lenient = "lenient" in lists and version_is(lists["lenient"])
    early = {where: "lost" for where, spec in lists.get("lax", {}).items() if version_is(spec)}
    unknown = "lost" if lenient else lists["unknown"]
    return {**lists, "unknown": unknown, "inside": {**lists.get("inside", {}), **early}} if lenient or early else lists


@cache
def settled(name: str) -> frozenset[str]:
    """The keys at the root that are known and nothing else: a scalar there needs no second look."""
    return top_keys(name) - frozenset(key_list(name).get("moved", {}))


@cache
def types_of(name: str) -> dict[str, str]:
    """Key at the root -> the type that the schema states for it, in the words of `kinds`."""
    return {key: spec for spec, keys in key_list(name).get("types", {}).items() for key in keys}


def walk(
    node: Node, keys: Mapping[str, list[str]], plain: frozenset[str] = frozenset(), prefix: str = ""
) -> Iterator[tuple[str, Pair]]:
    """Every pair of the root and of the mappings whose keys are listed, but for scalars under a `plain` key."""
    for pair in node.pairs:
        if pair.merged or (pair.key in plain and pair.value.kind == "scalar"):
            continue
        dotted = prefix + pair.key
        yield dotted, pair
        if pair.value.kind == "mapping" and bare(dotted) in keys:
            yield from walk(pair.value, keys, prefix=dotted + ".")
        elif pair.value.kind == "sequence" and bare(dotted) + "[]" in keys:
            for index, item in enumerate(pair.value.items):
                if item.kind == "mapping":
                    yield from walk(item, keys, prefix=f"{dotted}[{index}].")


def is_known(dotted: str, key: str, top: frozenset[str], keys: Mapping[str, list[str]]) -> bool:
    """Whether the list has a key where it stands; what begins so is a note of the user's own."""
    inside = parent_of(dotted, key)
    return key in (keys[inside] if inside else top) or key.startswith(("_", "x-", "."))


def parent_of(dotted: str, key: str) -> str:
    """The mapping that a key stands in, as key lists name it."""
    return bare(dotted)[: -len(key)].rstrip(".")


def bare(dotted: str) -> str:
    """`datasets[0].type` -> `datasets[].type`."""
    if "[" not in dotted:
        return dotted
    return re.sub(r"\[\d+\]", "[]", dotted)


class Plugins:
    """What `plugins` of a file brings. keys: known because of it. foreign: it lists one that we know nothing of."""

    __slots__ = ("_listed", "foreign", "keys")

    def __init__(self, root: Node, listed: Mapping[str, list[str]]) -> None:
        node = root.get("plugins")
        self._listed = listed
        self.keys: frozenset[str] = frozenset()
        self.foreign = False
        if node is not None:
            self._read(node, listed)

    def _read(self, node: Node, listed: Mapping[str, list[str]]) -> None:
        named = [item.raw.lower() for item in node.items if item.kind == "scalar"]
        # a plugin is found by its module: `a.b.Plugin`, `a.b.plugin.Plugin` and `a.b:Plugin` are spellings in use
        modules = {path: path.rpartition(".")[0] for path in listed}
        here = [path for path, module in modules.items() if any(name.startswith(module) for name in named)]
        self.keys = frozenset(key for path in here for key in listed[path])
        self.foreign = any(not name.startswith(tuple(modules.values())) for name in named)

    def of(self, key: str) -> str:
        """The known plugin that would read this key, or nothing."""
        return next((path for path, keys in self._listed.items() if key in keys), "")
