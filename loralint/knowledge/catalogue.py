"""The model catalogue: which modules a model has, by its config.json, or by a few sizes that are known of it.

One file an architecture, made by `python -m loralint.authoring.catalogue` from the classes of Transformers and
Diffusers; only the file that is asked for is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from loralint.knowledge.data import part
from loralint.knowledge.older_config import as_read
from loralint.knowledge.prefix import below, moved
from loralint.knowledge.structure import Fields, Module, Row, Unsolved, expand, whole
from loralint.knowledge.targets import PACKED, SUPPORTED

__all__ = ["Architecture", "Module", "Unsolved", "every", "from_config", "from_sizes", "names"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "_data", "catalogue")
_TOWERS = ("vision_config", "audio_config")
# what people mean where they do not say: the first that a type has
_USUAL = ("speech-seq2seq", "seq2seq", "image-text-to-text", "causal-lm", "masked-lm", "ctc")


class Architecture(NamedTuple):
    """A model class with the modules that it has for one config.

    `base` is the attribute that holds the model without its head, `head` and `embedding` are paths, `whole` the classes
    of blocks that FSDP wraps one by one, `sizes` what the config says under Transformers' usual names, where known.
    `experts` names the table by which PEFT takes names of single experts for packed weights. `shared` are the weights
    that are others' too: that of the head where `tied`, and those of further embeddings.
    """

    model_type: str
    name: str
    modules: tuple[Module, ...]
    base: str
    head: str | None
    embedding: str | None
    tied: bool
    whole: tuple[str, ...]
    sizes: dict[str, Any]
    experts: str | None = None
    shared: tuple[str, ...] = ()


def from_config(config: Mapping[str, Any], task: str | None = None, version: str = "5") -> Architecture:
    """The model that a config.json describes: the class for a task, else the one that the config names.

    version: that of Transformers. Raises Unsolved where the catalogue does not know the model or the config.
    """
    return _made(str(config.get("model_type")), config, task, version, partial=False)


def from_sizes(model_type: str, sizes: Mapping[str, Any], task: str | None = None, version: str = "5") -> Architecture:
    """The model of a type of which only some sizes are known, under Transformers' usual names (hidden_size ...).

    Shapes that need other sizes are None. Raises Unsolved where the modules themselves depend on what is not known.
    """
    record = _record(model_type, version)
    given: dict[str, Any] = {}
    for name, value in sizes.items():
        *parents, last = record["canon"].get(name, name).split(".")
        node = given
        for parent in parents:
            node = node.setdefault(parent, {})
        if value is not None:
            node[last] = value
    return _made(model_type, given, task, version, partial=True)


def names(model_type: str, task: str | None = None, version: str = "5") -> list[Row]:
    """Paths and kinds of all modules that models of a type may have, `*` for the number of a layer."""
    rows, _ = _rows(_record(model_type, version), _class(_record(model_type, version), {}, task))
    return rows


def every(model_type: str, *, bare: bool = True) -> list[Row] | None:
    """Rows of all modules of any class and version, `*` for the number of a layer. bare: of that without a head too.

    None where a part may be a model of another type, as the text model of most vision models is.
    """
    rows: list[Row] = []
    for version in ("5", "4"):
        record = _record(model_type, version)
        for name, entry in record["classes"].items():
            if entry.get("slots"):
                return None
            rows += _rows(record, name)[0] if bare or name != record["tasks"].get("base") else []
    return rows


def adaptable(model_type: str, *, bare: bool = True) -> tuple[str, ...] | None:
    """Paths of all layers that may get an adapter, as `every` tells them; names of single experts by their ends."""
    rows = every(model_type, bare=bare)
    if rows is None:
        return None
    found = dict.fromkeys(row[0] for row in rows if row[1] in SUPPORTED)
    return tuple(found | dict.fromkeys(f"experts.*.{old}" for old in PACKED.get(experts(model_type) or "", ())))


def experts(model_type: str) -> str | None:
    """The table by which PEFT takes names of single experts for the packed weights of Transformers 5, if it does."""
    found: str | None = _record(model_type, "5").get("experts")
    return found


def tasks(model_type: str) -> tuple[str, ...]:
    """What the classes of a type are for: causal-lm, seq2seq, masked-lm ..."""
    return tuple(_record(model_type, "5")["tasks"])


def normalised(model_type: str, task: str | None = None, version: str = "5") -> tuple[str, ...]:
    """Paths of layers that read what a norm gives, `*` for the number of a layer; of all others nothing is said.

    Raises Unsolved where the catalogue does not know the type.
    """
    record = _record(model_type, version)
    entry = record["classes"][_class(record, {}, task)]
    model, old, new, missing = entry.get("like", (None, "", "", ()))
    main = record["classes"][model] if model else entry
    rows = _read(main["rows"], record)
    found = [rows[place] for place in main.get("normed", ())]
    if model:
        found = [row for row in moved(found, {}, old, new)[0] if not any(below(row[0], path) for path in missing)]
    return tuple(row[0] for row in found)


def type_of(family: str) -> str | None:
    """The model type that a family of the golden list is; None where Transformers has no code for it."""
    return next((name for name in (family, family.replace("_", "-")) if known(name)), None)


def known(model_type: str) -> bool:
    """Whether the catalogue has this type."""
    return bool(_NAME.fullmatch(model_type)) and os.path.isfile(os.path.join(_FOLDER, f"{model_type}.json"))


def of_version(model_type: str, version: str) -> bool:
    """Whether it is known how this generation of Transformers builds a type; else the newer one's record is a guess.

    Where both build the same, the older one's record says only that.
    """
    return not version.startswith("4") or os.path.isfile(os.path.join(_FOLDER, "4", f"{model_type}.json"))


def _record(model_type: str, version: str) -> Any:
    if not known(model_type):
        raise Unsolved(f"models of type `{model_type}` are not in the catalogue")
    own = part(f"catalogue/4/{model_type}") if version.startswith("4") and of_version(model_type, version) else {}
    return own if "classes" in own else part(f"catalogue/{model_type}")


def _made(model_type: str, given: Mapping[str, Any], task: str | None, version: str, *, partial: bool) -> Architecture:
    record = _record(model_type, version)
    older = record is not _record(model_type, "5")
    given = as_read(model_type, given, record["fields"], older=older, partial=partial)
    name = _class(record, given, task)
    entry = record["classes"][name]
    labels = given.get("id2label") or given.get("_num_labels")
    if isinstance(labels, (Mapping, list)):
        given = {**given, "num_labels": len(labels)}
    fields = Fields(given, record["fields"], record["aliases"], partial=partial)
    _sure(record, name, fields)
    _understood(record, fields)
    rows, lists = _rows(record, name)
    slots = {path: slot for path, slot in entry.get("slots", {}).items() if _other(given, slot, model_type)}
    rows = [row for row in rows if not any(below(row[0], path) for path in slots)]
    modules = expand(rows, lists, fields)
    for path, (field, _, usual) in slots.items():
        modules += _part(path, given[field], usual, version)
    sizes = {size: value for size, field in record["canon"].items() if (value := _told(fields, field)) is not None}
    tied = bool(sizes.get("tie_word_embeddings")) and bool(entry.get("tied"))
    return Architecture(
        model_type, name, tuple(modules), entry.get("base", ""), entry.get("head"), entry.get("embedding"), tied,
        tuple(entry.get("whole", ())), sizes, record.get("experts") if version >= "5" else None,
        tuple(entry.get("tied", ())),
    )  # fmt: skip


def _told(fields: Fields, field: str) -> Any:
    try:
        return fields.get(field)
    except Unsolved:
        return None


def _class(record: Any, given: Mapping[str, Any], task: str | None) -> str:
    """The class that a run builds."""
    if task is not None:
        if task not in record["tasks"]:
            raise Unsolved(f"the catalogue has no class of this type for {task}")
        return str(record["tasks"][task])
    architectures = given.get("architectures")
    first = architectures[0] if isinstance(architectures, list) and architectures else None
    if isinstance(first, str) and first in record["classes"]:
        return first
    return str(
        next((record["tasks"][usual] for usual in _USUAL if usual in record["tasks"]), next(iter(record["classes"])))
    )


def _sure(record: Any, name: str, fields: Fields) -> None:
    """Raises Unsolved where the config sets a field that changes modules in ways the catalogue did not learn."""
    entry = record["classes"][name]
    for tower in _TOWERS:  # a tower that the class has only where its config is given, and was learned without
        if isinstance(fields.given(tower), Mapping) and not any(
            one.startswith(tower + ".") for one in record["fields"]
        ):
            raise Unsolved(f"the catalogue does not say how the modules follow from {tower}")
    unsure = list(entry.get("unsure", ()))
    main = record["classes"][entry["like"][0]] if "like" in entry else entry
    unsure += main.get("unsure", ())
    layers, counts = record["canon"].get("num_hidden_layers"), main["lists"].values()
    fixed = str(record["fields"].get(layers)) in counts  # a list as long as by default, whatever a config says
    if fixed and not any(layers in count.split(",") for count in counts):
        unsure.append(layers)
    for field in unsure:
        value = fields.given(field)
        if field == "*" or (value is not None and value != fields.default(field)):
            raise Unsolved(f"the catalogue does not say how the modules follow from {field}")


def _understood(record: Any, fields: Fields) -> None:
    """Raises Unsolved where a list of what each layer is has words that the catalogue does not have."""
    known: dict[str, list[object]] = {}
    for name, words in _kinds(record["where"]):
        known.setdefault(name, []).extend(words)
    for name, words in known.items():
        usual, given = whole(record["fields"].get(name, [])), fields.given(name)
        words.extend(value for value, _ in usual["each"]) if isinstance(usual, dict) else words.extend(usual)
        for one in given if isinstance(given, list) else ():
            if isinstance(one, str) and one not in words:
                raise Unsolved(f"the catalogue does not know the word {one[:40]!r} of {name}")


def _kinds(where: Any) -> Iterator[tuple[str, list[object]]]:
    """(field, words) of all conditions on lists that say what each layer is."""
    if isinstance(where, list):
        if len(where) == 4 and where[0] == "in":
            yield where[1], where[2]
        for part in where:
            yield from _kinds(part)


def _rows(record: Any, name: str) -> tuple[list[Row], dict[str, str]]:
    """The rows of a class as `structure` reads them, and the counts of its lists."""
    entry = record["classes"][name]
    rows = _read(entry["rows"], record)
    if "like" not in entry:
        return rows, entry["lists"]
    model, old, new, missing = entry["like"]
    main = record["classes"][model]
    shared, lists = moved(_read(main["rows"], record), main["lists"], old, new)
    return [*rows, *(row for row in shared if not any(below(row[0], path) for path in missing))], lists


def _read(written: list[Any], record: Any) -> list[Row]:
    """Rows as committed, whose paths go on from the one before and whose words and conditions stand in tables."""
    words, table = record["words"], record["where"]
    rows: list[Row] = []
    before: list[str] = []
    for same, rest, kind, *others in written:
        before = [*before[:same], *([rest] if rest or not same else [])]
        path = ".".join(before)
        before = path.split(".")
        weights = words[others[0]] if others else ""
        where = table[others[1]] if len(others) > 1 else []
        more = [[weight, table[place]] for weight, place in others[2]] if len(others) > 2 else []
        rows.append([path, words[kind], weights, where, more])
    return rows


def _other(given: Mapping[str, Any], slot: list[str], whole: str) -> bool:
    """Whether the config puts a model of another type into a slot; many call a part by the type of the whole."""
    inner = given.get(slot[0])
    return isinstance(inner, Mapping) and inner.get("model_type", slot[1]) not in (slot[1], whole)


def _part(path: str, given: Mapping[str, Any], usual: str, version: str) -> list[Module]:
    """The modules of a model that is a part of another."""
    model_type = str(given["model_type"])
    record = _record(model_type, version)
    task = "causal-lm" if usual.endswith("ForCausalLM") else "base"
    inner = _made(model_type, given, task if task in record["tasks"] else None, version, partial=False)
    return [module._replace(path=f"{path}.{module.path}".rstrip(".")) for module in inner.modules]
