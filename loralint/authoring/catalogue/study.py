"""One model class of Transformers, studied: what the catalogue says of it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import combinations, islice
from typing import Any

import torch

from loralint.authoring.catalogue import configs
from loralint.authoring.catalogue.changes import changes
from loralint.authoring.catalogue.learn import Structure, default_list, learn, matches
from loralint.authoring.catalogue.probes import PROBES, READ_IF_GIVEN
from loralint.authoring.catalogue.sample import Sample, plain
from loralint.authoring.catalogue.trace import Part, trace
from loralint.knowledge.structure import Fields, Unsolved

_CANON = (
    "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "head_dim", "intermediate_size",
    "vocab_size", "max_position_embeddings", "tie_word_embeddings",
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_][\w.]*")


class Subject:
    """A config class with its model class."""

    def __init__(self, config: type, model: type) -> None:
        self.config, self.model = config, model
        self.given = {**PROBES.get(config.model_type, {}), **_read_if_given(config, model)}  # type: ignore[attr-defined]

    def sample(self, change: Mapping[str, Any]) -> Sample:
        """The model with one change. Raises whatever the classes raise."""
        config = configs.made(self.config, change, self.given)
        values, tree = dict(configs.flat(config)), configs.nested(config)
        return Sample(dict(change), values, tree, Fields(tree, {}, {}), trace(lambda: self.model(config)))

    def again(self, sample: Sample) -> list[Part] | None:
        """The same with traced numbers; None where the model cannot be built from those."""
        config = configs.made(self.config, sample.changed, self.given)
        configs.trace_numbers(config)
        try:
            return trace(lambda: self.model(config), labels=True)
        except Exception as error:  # noqa: BLE001 - a model's code may raise anything
            sys.stderr.write(f"  not traced with {sample.changed}: {error!r}\n")
            return trace(lambda: self.model(configs.made(self.config, sample.changed, self.given)))


def study(subject: Subject) -> tuple[list[Sample], Structure]:
    """Build the model as it is and with each change, and learn; with fewer layers where that is enough."""
    full = subject.sample({})
    if len(full.modules) > _MANY and (fewer := _fewer(full)):
        short = Subject(subject.config, subject.model)
        for name, value in fewer.items():
            configs.put(short.given, name, value, subject.config)
        try:
            samples, structure = _study(short)
        except Exception:  # noqa: BLE001 - lists of one entry a layer, and what else there may be
            samples, structure = [], None
        if structure and not structure.unsure and matches(structure.rows, structure.lists, full):
            return samples, structure
    return _study(subject)


_MANY = 350
_FEW = 12
_EXPERTS = re.compile(r"(^|\.)(num_experts|num_local_experts|n_routed_experts|moe_num_experts)$")
_LAYERS = re.compile(r"(^|\.)(num_hidden_layers|num_layers|n_layers?|depth|(en|de)coder_layers|(text|vision)_layers)$")


def _fewer(full: Sample) -> dict[str, int]:
    """Smaller numbers of layers, and of experts where each is a module of its own."""
    many = len(full.modules) > 4 * _MANY
    pairs = ((name, value) for name, value in full.values.items() if isinstance(value, int))
    layers = {name: _FEW for name, value in pairs if _LAYERS.search(name) and value > _FEW}
    experts = (name for name, value in full.values.items() if many and _EXPERTS.search(name) and value and value > 8)
    return layers | dict.fromkeys(experts, 8)


def _study(subject: Subject) -> tuple[list[Sample], Structure]:
    samples = [subject.sample({})]
    for tries in changes(samples[0].values):
        _add(subject, samples, tries)
    for one, other in islice(combinations(_switches(samples), 2), _MOST_PAIRS):
        if one.keys() != other.keys():
            _add(subject, samples, [{**one, **other}])
    return samples, learn(samples, subject.again)


_MOST_PAIRS = 30


def _add(subject: Subject, samples: list[Sample], tries: list[dict[str, Any]]) -> None:
    """Build the first change that the classes take."""
    for change in tries:
        try:
            made = subject.sample(change)
        except Exception:  # noqa: BLE001, S112 - a config that the classes refuse teaches nothing
            continue
        if not _hollow(made) or _hollow(samples[0]):
            samples.append(made)
            return


def _hollow(sample: Sample) -> bool:
    """Whether a weight has no entries: a class that takes 0 for a size makes no model of it."""
    return any(0 in sizes for part in sample.modules for _, sizes in plain(part))


def _switches(samples: list[Sample]) -> list[dict[str, Any]]:
    """Changes of switches, not of sizes, that add or remove modules or weights, and so may depend on each other."""
    usual = _inventory(samples[0])
    return [
        sample.changed
        for sample in samples[1:]
        if all(value is None or isinstance(value, (bool, str)) for value in sample.changed.values())
        and _inventory(sample) != usual
    ]


def _inventory(sample: Sample) -> set[tuple[str, str]]:
    return {(part.path, name) for part in sample.modules for name in ("", *(name for name, _ in part.weights))}


def _read_if_given(config: type, model: type) -> dict[str, Any]:
    """Fields that the model reads with a fallback although its config class does not know them."""
    plain = config(**PROBES.get(config.model_type, {}))  # type: ignore[attr-defined]
    source = inspect.getsource(sys.modules[model.__module__])
    found = {}
    for name, fallback in READ_IF_GIVEN.items():
        if not configs.has(plain, name) and re.search(rf'getattr\(\s*(self\.)?config,\s*"{name}"', source):
            left, right, _ = fallback.split(",")
            if getattr(plain, left, None) and getattr(plain, right, None):
                found[name] = getattr(plain, left) // getattr(plain, right)
    return found


def experts(model_type: str) -> str | None:
    """By which table PEFT takes the names of single experts for packed weights, if by any."""
    try:
        from peft.utils import transformers_weight_conversion as peft
    except ImportError:  # an older Transformers, whose experts are single layers
        return None
    if peft.get_checkpoint_conversion_mapping(model_type) is None:
        return None
    table = peft._MODEL_TO_CONVERSION_PATTERN.get(model_type)  # noqa: SLF001
    return table if peft._MOE_FUSED_TARGETS.get(table) else None  # noqa: SLF001


def fields_used(structures: Iterable[Structure]) -> set[str]:
    """Every field that rows, counts and conditions name."""
    used: set[str] = set()
    for structure in structures:
        used.update(structure.unsure)
        for text in structure.lists.values():
            used.update(_WORD.findall(text))
        for row in structure.rows:
            for weight in [*row[2].split(";"), *(weight for weight, _ in (row[4] if len(row) > 4 else ()))]:
                used.update(word for size in weight.split(" ")[1:] for word in _WORD.findall(size))
            for where in [*row[3:4], *(where for _, where in (row[4] if len(row) > 4 else ()))]:
                used.update(_named(where))
    return used - {"int", "*", "-"}


def _named(where: Any) -> set[str]:
    """Fields in conditions."""
    found: set[str] = set()
    for condition in where:
        if condition[0] == "not":
            found |= _named(condition[1])
        elif condition[0] in ("at", "places"):
            continue
        elif condition[0] in ("below", "every"):
            found.update(word for text in condition[1:] if isinstance(text, str) for word in _WORD.findall(text))
        else:
            found.update(condition[1 : 3 if condition[0] == "same" else 2])
    return found


def field_table(subject: Subject, samples: list[Sample], used: set[str]) -> dict[str, Any]:
    """Defaults, second names and canonical names of the fields that count."""
    config = configs.made(subject.config, {}, subject.given)
    derived = configs.derived(config)
    if "head_dim" in subject.given and not configs.has(subject.config(**PROBES.get(config.model_type, {})), "head_dim"):
        derived["head_dim"] = READ_IF_GIVEN["head_dim"]
    derived.pop("num_labels", None)
    canon = _canon(config)
    wanted = used | set(canon.values())
    for name in list(wanted):
        wanted |= set(_WORD.findall(derived.get(name, "")))
    flat = dict(configs.flat(config)) | {"num_labels": configs.nested(config)["num_labels"]}
    defaults: dict[str, Any] = {}
    for name in sorted(wanted):
        root = re.sub(r"(\.\d+)+$", "", name)
        if configs.are_kinds(flat.get(root)) and name not in derived:
            defaults[root] = learned = default_list(root, samples) or list(flat[root])
            wanted |= _of_list(learned)
    for name in sorted(wanted - defaults.keys()):
        root = re.sub(r"(\.\d+)+$", "", name)
        if name in derived:
            defaults[name] = {"=": derived[name]}
        elif root not in defaults and isinstance(flat.get(root), (bool, int, float, str, list, tuple)):
            defaults[root] = list(flat[root]) if isinstance(flat[root], tuple) else flat[root]
    second = {own: other for own, other in configs.aliases(config).items() if own in wanted}
    return {"fields": defaults, "aliases": second, "canon": canon}


def _of_list(learned: Any) -> set[str]:
    """Fields that a list with one entry a layer follows from."""
    if isinstance(learned, list):
        return set()
    return {*_WORD.findall(learned["of"]), *(name for _, where in learned["each"] for name in _named(where))}


def _canon(config: Any) -> dict[str, str]:
    """Where the sizes that people speak of stand: in this config or in that of its text part."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    prefix = next((f"{name}." for name, value in vars(config).items() if value is text), "")
    found = {}
    for name in _CANON:
        own = prefix + getattr(text, "attribute_map", {}).get(name, name)
        if name == "tie_word_embeddings":
            own = name
        if name in vars(text) or own.rpartition(".")[2] in vars(text) or name == "tie_word_embeddings":
            found[name] = own
    return found


def about(subject: Subject) -> dict[str, Any]:
    """What a class says of itself: prefix of its base, head, input embedding, tied weights, blocks that stay whole."""
    config = configs.made(subject.config, {}, subject.given)
    with torch.device("meta"):
        model = subject.model(config)
    paths = {id(module): path for path, module in model.named_modules()}
    said: dict[str, Any] = {"base": model.base_model_prefix if hasattr(model, model.base_model_prefix or " ") else ""}
    for name, ask in (("head", "get_output_embeddings"), ("embedding", "get_input_embeddings")):
        try:
            module = getattr(model, ask)()
        except Exception:  # noqa: BLE001, S112 - whatever a class raises that has none
            continue
        if module is not None and id(module) in paths:
            said[name] = paths[id(module)]
    tied = getattr(model, "_tied_weights_keys", None) or ()
    said["tied"] = sorted(str(key) for key in tied)
    said["slots"] = _slots(model, config)
    said["whole"] = sorted(map(str, getattr(model, "_no_split_modules", None) or ()))
    return {name: value for name, value in said.items() if value}


def _slots(model: Any, config: Any) -> dict[str, list[str]]:
    """Parts that may be models of another type, as their config says: path -> field of the config, type, class."""
    if "AutoModel" not in inspect.getsource(sys.modules[type(model).__module__]):
        return {}
    parts = {id(value): name for name, value in vars(config).items() if configs.is_config(value)}
    found: dict[str, list[str]] = {}
    for path, module in model.named_modules():
        field = parts.get(id(getattr(module, "config", None)))
        inside = any(path.startswith(outer + ".") for outer in found)
        if path and field and not inside and hasattr(module, "base_model_prefix"):
            found[path] = [field, getattr(config, field).model_type, type(module).__name__]
    return found


__all__ = ["Subject", "Unsolved", "about", "field_table", "fields_used", "study"]
