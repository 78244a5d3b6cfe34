"""docs/vocabulary.md: everything that a rule or a golden entry may name, from the registries themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

from loralint.authoring.conditions import TYPES
from loralint.authoring.markdown import code, table
from loralint.canonical.events import EVENT_DATA
from loralint.canonical.fields import FIELDS
from loralint.checks import TEMPLATES
from loralint.checks.conditions import OPERATORS
from loralint.facts import FACTS, PLACES
from loralint.render.page import escaped

OPERATOR_TEXTS = {
    "eq": "is equal; words compare without case, `true` is not 1. `field: value` is short for it",
    "ne": "is not equal",
    "in": "is one of a list. `field: [a, b]` is short for it",
    "not_in": "is none of a list",
    "has": "is a list that holds this",
    "lt": "is below; a text or a boolean is no number, and then nothing holds",
    "le": "is at most",
    "gt": "is above",
    "ge": "is at least",
    "between": "lies in `[low, high]`, both ends included",
    "multiple_of": "is a whole multiple, also of shares such as 0.02",
    "matches": "a regular expression is found in the text, in any case of letters",
    "type": f"is of this type: {', '.join(TYPES)}",
    "set": "`true`: somebody wrote it; `false`: nobody did",
    "default": "`true`: it is the framework's default",
    "absent": "`true`: it has no value, or null",
    "known": "`true`: there is a value that can be judged",
}
PLACEHOLDERS = {
    "{value}": "what stands at the place of the finding",
    "{key}": "its key, as written or as a user of this framework would write it",
    "{suggest}": "the value to write, by the check",
    "{framework}": "the framework's name",
    "{key:optim.lr}": "the key of a canonical field in the user's framework",
    "{or:adapter.alpha}": '" or " and that key, nothing where the framework has none',
    "{get:lora.E}": "the present value of a field or fact",
    "{write:adapter.method=lora}": "the setting as this user would write it, such as `use_peft: true`; of several, "
    "with commas between, those that the framework can write",
    "{bound}": "any name of the check's own data; the templates below list theirs. In `levels` it is `hit.bound`",
}
# what observations on rows of data hold, whose kinds start with `data-`; counts and shares are of one file
ROW_DATA = (
    "file", "many", "count", "looked", "share", "where", "field", "detail", "length", "fate", "long_fate", "evaluation",
    "lost", "certain", "stops", "wanted", "missing", "seen", "by", "word", "longest", "usual", "then",
)  # fmt: skip
JOB_DATA = (
    "resource", "request", "limit", "unless", "policy", "role", "wanted", "processes", "gpus", "pods", "total",
    "world", "usable", "first", "last", "listed", "gpu", "variable", "claim", "mode", "folder", "volume", "size",
    "type", "quoted", "space", "map", "near", "sure", "state", "path", "because", "instead", "by",
    "host", "meant", "subdomain", "model", "words", "amount", "counted", "workers", "each", "places", "how", "to",
)  # fmt: skip
# of scripts and of launch lines
SCRIPT_DATA = (
    "function", "metric", "given", "one", "command", "system", "more", "real", "class", "method", "argument", "rows",
    "slice", "trainer", "wrapper", "collator", "package",
)  # fmt: skip
PROBE_DATA = ("model", "own", "certain", "place", "cause", "change", "safe")
LOG_DATA = ("lasting", "trained", "step", "curve")
# what each template's hits hold besides the place and the suggestion
DATA = {
    "condition": (),
    "range": ("bound", "side", "min", "max"),
    "compare": ("left", "right"),
    "differ": ("left", "right", "other", "written"),
    "one_of": ("values", "near"),
    "golden": ("bound", "side", "then", "entry", "range", "usual"),
    "observation": (
        *("effect", "outcome", "what", "advice", "replacement", "rewrite", "kind", "name"),
        *ROW_DATA,
        *JOB_DATA,
        *SCRIPT_DATA,
        *PROBE_DATA,
        *LOG_DATA,
    ),
    "without_effect": ("keys", "count"),
    "conflict": ("first", "second"),
    "items": ("item", "every"),
    "entries": ("item", "entry"),
    "overlap": ("item",),
    "shadowed": ("first", "second", "of"),
    "targets_in_model": ("names", "modules", "all", "spare", "exact", "family", "outcome"),
    "unadaptable": ("item", "class", "block"),
    "unmatched": ("item", "every", "names"),
    "layers_in_model": ("item", "every", "last"),
    "memory": ("outcome", "needed", "sure", "likely", "limit", "changes", "reached"),
    "known_optimizer": ("count", "near"),
    "cel": (),
    "event": ("what", "sure", *EVENT_DATA),
    "order": ("what", "sure", "one_config", *EVENT_DATA),
    "missing": ("what", "sure", *EVENT_DATA),
}


def vocabulary() -> Iterator[str]:
    """The page."""
    yield "# The vocabulary of rules and golden entries\n"
    yield "For those who write them: see [writing-rules.md](writing-rules.md).\n"
    yield "## Operators of conditions\n"
    yield table(
        ("operator", "holds where the value"),
        ((f"`{name}`", escaped(OPERATOR_TEXTS[name])) for name in sorted(OPERATORS)),
    )
    yield "## Placeholders of messages\n"
    yield table(("placeholder", "becomes"), ((f"`{name}`", escaped(text)) for name, text in PLACEHOLDERS.items()))
    yield "## Check templates\n"
    for name in sorted(TEMPLATES):
        about, how = _template(name)
        yield f"### {name}\n"
        yield f"{escaped(about)}\n"
        yield f"{escaped(how).replace('with:', '`with`:')}\n"
        if DATA.get(name):
            apart = (*ROW_DATA, *JOB_DATA, *PROBE_DATA, *LOG_DATA) if name == "observation" else ()
            own = [one for one in DATA[name] if one not in apart]
            yield f"Data: {code(own)}.\n"
        if name == "observation":
            yield f"Of rows, in kinds that start with `data-`, also: {code(ROW_DATA)}.\n"
            yield f"Of manifests, in kinds that start with `job-`, also: {code(JOB_DATA)}.\n"
            yield f"Of micro-training, in kinds that start with `probe-`, also: {code(PROBE_DATA)}.\n"
            yield f"Of logs, in kinds that start with `log-`, also: {code(LOG_DATA)}.\n"
    yield "## Facts\n"
    yield "Computed from the fields. What a fact needs and nobody says makes it unknown, and the rule is not checked.\n"
    yield table(("fact", "meaning"), ((f"`{name}`", escaped(_fact(name))) for name in sorted(FACTS)))
    yield "## Fields\n"
    rows = ((f"`{name}`", field.type, escaped(field.doc), field.unit) for name, field in FIELDS.items())
    yield table(("field", "type", "meaning", "unit"), rows)


def _template(name: str) -> tuple[str, str]:
    """What it finds, and how it is called."""
    module, _, function = TEMPLATES[name].partition(":")
    found = import_module(module)
    return _flat(inspect.getdoc(found)), _flat(inspect.getdoc(getattr(found, function)))


def _fact(name: str) -> str:
    module, _, function = PLACES[name].partition(":")
    return _flat(inspect.getdoc(getattr(import_module(f"loralint.facts.{module}"), function)))


def _flat(text: str | None) -> str:
    assert text, "every template and fact says in its docstring what it is"
    return " ".join(text.split())
