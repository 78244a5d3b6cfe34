"""What a workflow runs of the template that it refers to: the rest is for others, and no fault of this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loralint.webhook.objects import Object, mapping

_DEEP = 20


def reached(template: Object, entry: str = "", leave: str = "") -> Object:
    """A WorkflowTemplate with those of its templates that it begins with, ends with, or that are called from there.

    entry, leave: the entry point and the exit handler of the workflow, which count over its own. The whole where it
    cannot be told.
    """
    spec = mapping(template.get("spec"))
    several = spec.get("templates")
    named = {one["name"]: one for one in several if _is_named(one)} if isinstance(several, list) else {}
    left = [entry or spec.get("entrypoint"), *_called(spec.get("hooks"), _DEEP)]
    left += [leave or spec["onExit"]] if leave or spec.get("onExit") else []
    found: set[str] = set()
    while left:
        name = left.pop()
        if not isinstance(name, str) or name not in named:
            return template
        if name not in found:
            found.add(name)
            left += _called(named[name], _DEEP)
    return {**template, "spec": {**spec, "templates": [one for name, one in named.items() if name in found]}}


def _is_named(one: object) -> bool:
    return isinstance(one, Mapping) and isinstance(one.get("name"), str)


def _called(node: object, depth: int) -> Iterator[str]:
    """The names of templates that steps, tasks and hooks call, wherever they stand."""
    if depth and isinstance(node, Mapping):
        for key, value in node.items():
            if key == "template" and isinstance(value, str):
                yield value
            elif key != "templateRef":
                yield from _called(value, depth - 1)
    elif depth and isinstance(node, list):
        for one in node:
            yield from _called(one, depth - 1)
