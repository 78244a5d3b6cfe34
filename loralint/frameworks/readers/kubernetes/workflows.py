"""Parameters of Argo's workflows: what `{{inputs.parameters.x}}` and `{{workflow.parameters.x}}` become.

As in argoproj/argo-workflows@9dafa80 workflow/common/util.go: an input is its `default`, else its `value`, unless a
caller gives an argument; the entry point is called with the workflow's own arguments, and so is whatever a template of
another object (`templateRef`) reads of them. These are what the file says, which `argo submit -p` may overrule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from loralint.frameworks.readers.kubernetes.objects import WORKFLOWS, objects
from loralint.frameworks.readers.kubernetes.tree import At, entries, inside, items, named, text, word
from loralint.frameworks.readers.kubernetes.variables import field_of
from loralint.source.document import Document
from loralint.source.shell.words import Field

# Ways to call one template that are told apart; a sweep tells with its first runs what it can.
_MOST = 16
Binding = tuple[tuple[str, Field], ...]


_TEMPLATES = frozenset({"WorkflowTemplate", "ClusterWorkflowTemplate"})


class _Flow(NamedTuple):
    """A workflow. templates: by name; callers: name of a template, behind that of the object that holds it if it is
    another -> who calls it where; known: what was found out of the calls of a template.
    """

    document: Document
    at: At
    templates: dict[str, At]
    callers: dict[tuple[str, str], list[tuple[str, At]]]
    known: dict[str, list[dict[str, Field]]]


def bindings(document: Document, at: At) -> tuple[Binding, ...]:
    """What the parameters are of a container, or of a manifest inside a workflow: one for each way that it is called.

    A single empty one where it stands in no workflow.
    """
    if "{{" not in document.text:
        return ((),)
    for flow in _flows(document):
        for name, template in flow.templates.items():
            if template.node.start <= at.node.start < template.node.end:
                return tuple(tuple(one.items()) for one in _calls(flow, name))
    return ((),)


@lru_cache(maxsize=4)
def _flows(document: Document) -> tuple[_Flow, ...]:
    return tuple(_flow(document, one) for one in objects(document) if word(one, "kind") in WORKFLOWS)


def _flow(document: Document, at: At) -> _Flow:
    templates = {word(one, "name"): one for one in items(named(_spec(at), "templates"))}
    callers: dict[tuple[str, str], list[tuple[str, At]]] = {}
    for name, template in templates.items():
        for call in _steps(template):
            other = named(call, "templateRef")
            wanted = word(call if other is None else other, "template")
            callers.setdefault((word(other, "name") if other is not None else "", wanted), []).append((name, call))
    return _Flow(document, at, templates, callers, {})


def lends(document: Document) -> frozenset[str]:
    """The names of the objects of a file whose templates others may call."""
    if "WorkflowTemplate" not in document.text:
        return frozenset()
    return frozenset(_name(one.at) for one in _flows(document) if word(one.at, "kind") in _TEMPLATES)


def refers(document: Document) -> frozenset[str]:
    """The names of the objects whose templates the workflows of a file call, or run as a whole."""
    if "emplateRef" not in document.text:
        return frozenset()
    flows = _flows(document)
    called = {name for flow in flows for name, _ in flow.callers} | {_refers(flow.at) for flow in flows}
    return frozenset(called - {""})


def _name(flow: At) -> str:
    meta = named(flow, "metadata")
    return word(meta, "name") or word(meta, "generateName")


def names(document: Document) -> frozenset[str]:
    """What the workflows of a file are called."""
    return frozenset(_name(one.at) for one in _flows(document)) if "rgoproj" in document.text else frozenset()


def arguments(document: Document) -> frozenset[str]:
    """The names of the parameters that the workflows of a file take."""
    several = (items(inside(_spec(one.at), "arguments.parameters")) for one in _flows(document))
    return frozenset(word(one, "name") for each in several for one in each)


def _spec(flow: At) -> At | None:
    return inside(flow, "spec.workflowSpec") or named(flow, "spec")


def _calls(flow: _Flow, name: str) -> list[dict[str, Field]]:
    """The parameters of a template for every call of it, those of the workflow among them."""
    if name in flow.known:
        return flow.known[name]
    flow.known[name] = []  # ends a template that calls itself
    wanted = items(inside(flow.templates.get(name), "inputs.parameters"))
    found = [{**_defaults(flow, wanted, general), **one} for general, one in _given(flow, name)]
    if word(_spec(flow.at), "entrypoint") == name or not found:
        names = {_key("inputs", word(one, "name")) for one in wanted}
        for general in reversed(_arguments(flow)):
            given = {key.replace("workflow.", "inputs.", 1): field for key, field in general.items()}
            called = {key: field for key, field in given.items() if key in names}
            found.insert(0, {**_defaults(flow, wanted, general), **called})
    flow.known[name] = list({tuple(one.items()): one for one in found}.values())[:_MOST]
    return flow.known[name]


def _defaults(flow: _Flow, wanted: list[At], general: dict[str, Field]) -> dict[str, Field]:
    return {**general, **_values(flow.document, wanted, "inputs", general)}


def _key(scope: str, name: str) -> str:
    return f"{{{{{scope}.parameters.{name}}}}}"


def _arguments(flow: _Flow) -> list[dict[str, Field]]:
    """The workflow's own arguments, with those over them of each workflow that refers to it."""
    own = _name(flow.at)
    others = [one.at for one in _flows(flow.document) if own and _refers(one.at) == own and one.at != flow.at]
    several = [items(inside(_spec(one), "arguments.parameters")) for one in (flow.at, *others)]
    made = [_values(flow.document, one, "workflow", {}) for one in several]
    return [{**made[0], **one} for one in made[1:][:_MOST]] or made


def _refers(flow: At) -> str:
    return word(inside(_spec(flow), "workflowTemplateRef"), "name")


def _values(document: Document, several: Iterable[At], scope: str, known: Mapping[str, Field]) -> dict[str, Field]:
    found = {}
    for one in several:
        given = named(one, "default") if scope == "inputs" else None
        given = given or named(one, "value")
        if given is not None and given.node.kind == "scalar":
            found[_key(scope, word(one, "name"))] = field_of(document, given.node, known)
    return found


def _given(flow: _Flow, name: str) -> Iterator[tuple[dict[str, Field], dict[str, Field]]]:
    """The arguments of every call of a template by steps and tasks, item by item where these stand there, each behind
    those of the workflow that calls.
    """
    calls = [(flow, *one) for one in flow.callers.get(("", name), [])[:_MOST] if one[0] != name]
    for other in _flows(flow.document) if word(flow.at, "kind") in _TEMPLATES else ():
        calls += [(other, *one) for one in other.callers.get((_name(flow.at), name), [])[:_MOST]]
    for other, caller, call in calls:
        for known in _calls(other, caller):
            general = {key: field for key, field in known.items() if key.startswith("{{workflow.")}
            yield from ((general, one) for one in _of_call(flow, call, known))


def _of_call(flow: _Flow, call: At, known: Mapping[str, Field]) -> Iterator[dict[str, Field]]:
    arguments = items(inside(call, "arguments.parameters"))
    for item in _items(flow.document, call):
        yield _values(flow.document, arguments, "inputs", {**known, **item})


def _steps(template: At) -> Iterator[At]:
    """The calls that a template makes: steps one after the other, tasks of a graph."""
    for group in items(named(template, "steps")):
        yield from items(group) if group.node.kind == "sequence" else [group]
    yield from items(inside(template, "dag.tasks"))


def _items(document: Document, call: At) -> Iterator[dict[str, Field]]:
    """What `{{item}}` and `{{item.key}}` are in each turn of a call; nothing of a list that another step makes."""
    listed = items(named(call, "withItems"))
    if not listed:
        yield {}
    for one in listed[:_MOST]:
        if one.node.kind == "mapping":
            scalars = [each for each in entries(one) if each.node.kind == "scalar"]
            yield {
                f"{{{{item.{each.label.raw}}}}}": field_of(document, each.node, {}) for each in scalars if each.label
            }
        else:
            yield {"{{item}}": field_of(document, one.node, {})} if text(one) else {}
