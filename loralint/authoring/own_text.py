"""A project's own files as text -> models, within budgets, every fault said with its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from loralint.authoring.load import AuthoringError, parse

Model = TypeVar("Model", bound=BaseModel)
_DEPTH = 40
_NODES = 20_000
_TOLD = 20  # faults; the rest follow from the first or are met after them


def models(path: str, text: str, model: type[Model]) -> list[Model]:
    """The one or the list of that a file holds. Raises AuthoringError as `path:line: what is wrong`."""
    root = _root(path, text)
    data = parse(text, path)
    listed = data if isinstance(data, list) else [data]
    at: list[tuple[object, ...]] = [(index,) if isinstance(data, list) else () for index in range(len(listed))]
    return [_model(path, root, one, where, model) for one, where in zip(listed, at, strict=True)]


def _model(path: str, root: yaml.Node, data: object, where: tuple[object, ...], model: type[Model]) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        told = sorted((_line(root, (*where, *one["loc"])), f"{_place(one['loc'])}{_said(one)}") for one in found)
        raise AuthoringError("\n".join(f"{path}:{line}: {said}" for line, said in told[:_TOLD])) from None


def _said(fault: ErrorDetails) -> str:
    return "there is no such key" if fault["type"] == "extra_forbidden" else fault["msg"].removeprefix("Value error, ")


def _place(loc: Sequence[object]) -> str:
    return f"{'.'.join(str(step) for step in loc if step != '[key]')}: " if loc else ""


def _root(path: str, text: str) -> yaml.Node:
    """The file's tree, for lines. Aliases are refused: a few lines of them can stand for more than any memory holds."""
    depth = nodes = 0
    try:
        for event in yaml.parse(text, yaml.CSafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise AuthoringError(f"{path}:{_at(event)}: write it out: aliases are not taken here")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            nodes += isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent))
            if depth > _DEPTH or nodes > _NODES:
                raise AuthoringError(f"{path}:{_at(event)}: too deep or too large for a rule file")
        root = yaml.compose(text, yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise AuthoringError(f"{path}:{_fault_line(error)}: {_problem(error)}") from None
    if root is None:
        raise AuthoringError(f"{path}:1: the file is empty")
    return root


def _at(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _problem(error: yaml.YAMLError) -> str:
    said = (getattr(error, "context", None), getattr(error, "problem", None))
    return ", ".join(filter(None, said)) or "no YAML"


def _fault_line(error: yaml.YAMLError) -> int:
    mark = getattr(error, "problem_mark", None)
    return mark.line + 1 if mark is not None else 1


def _line(root: yaml.Node, loc: Sequence[object]) -> int:
    """The line of the deepest part of a place that the file has."""
    node, line = root, root.start_mark.line
    for step in loc:
        below: Any = None
        if isinstance(node, yaml.MappingNode):
            below = next(((key, value) for key, value in node.value if key.value == str(step)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            below = (node.value[step], node.value[step])
        if below is None:
            continue
        line, node = below[0].start_mark.line, below[1]
    return line + 1
