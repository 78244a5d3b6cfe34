"""Our own YAML, read as YAML 1.2 reads it, so that `2e-4` is a number and `no` is a word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml


class AuthoringError(Exception):
    """A fault in an authored file; the message names the file and says what to write."""


class _Loader(yaml.CSafeLoader):
    """The core schema of YAML 1.2, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} stands twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|false", "tf"),
    ("null", r"null|~|", "n~"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?((\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), [*_first, ""])


def load(path: Path) -> Any:
    """One authored file's data. Raises AuthoringError with the place of the fault."""
    return parse(path.read_text(encoding="utf-8"), str(path))


def parse(text: str, name: str) -> Any:
    """The data of an authored text. name: the file's, for the AuthoringError that says where the fault is."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a safe loader)
    except yaml.YAMLError as error:
        raise AuthoringError(f"{name}: {error}") from error
