"""Config classes as trees of fields: made with changes, flattened, and with every number traced."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from loralint.authoring.catalogue.symbol import Number, expression, traced

_KINDS_GIVEN = {"layer_types"}  # where given, with one entry a layer
_IRRELEVANT = ("token_id", "_token_ids", "id2label", "label2id", "torch_dtype", "dtype", "transformers_version")


def is_config(value: object) -> bool:
    """Whether this is a config of Transformers."""
    return hasattr(value, "to_diff_dict") and hasattr(value, "model_type")


def made(kind: type, changes: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> Any:
    """A config of this class with the dotted fields changed, over `given` ones. Raises what the class raises."""
    tree: dict[str, Any] = copy.deepcopy(dict(given or {}))
    for name, value in changes.items():
        put(tree, name, value, kind)
        if name == "num_hidden_layers" and isinstance(value, int):
            tree |= {one: (tree[one] * value)[:value] for one in _KINDS_GIVEN & tree.keys() - changes.keys()}
        if name == "num_layers" and "attention_types" in tree:  # GPT-Neo's kinds and how often they come
            tree["attention_types"] = [[["global"], value]]
    return kind(**copy.deepcopy(tree))


def put(tree: dict[str, Any], name: str, value: Any, kind: type) -> None:
    """Set a dotted field in what is given to a config class, where the configs inside need their type."""
    *parents, last = name.split(".")
    node, config = tree, kind(**copy.deepcopy(tree)) if parents else None
    for parent in parents:
        config = getattr(config, parent)
        node = node.setdefault(parent, {"model_type": config.model_type} if config.model_type else {})
    node[last] = value


def flat(config: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every field of a config and of the configs inside, by dotted name."""
    for name, value in vars(config).items():
        if name.startswith("_") or name.endswith(_IRRELEVANT):
            continue
        if is_config(value):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def nested(config: Any) -> dict[str, Any]:
    """The fields as the tree that a config.json holds."""
    tree: dict[str, Any] = {}
    for name, value in vars(config).items():
        if is_config(value):
            tree[name] = nested(value)
        elif not name.startswith("_"):
            tree[name] = value
    tree["num_labels"] = len(getattr(config, "id2label", None) or {0: 0, 1: 1})
    return tree


def trace_numbers(config: Any, prefix: str = "") -> None:
    """Put a traced number in place of each number of a config, in lists too."""
    for name, value in list(vars(config).items()):
        if name.startswith("_") or name.endswith(_IRRELEVANT):
            continue
        if is_config(value):
            trace_numbers(value, f"{prefix}{name}.")
        elif is_number(value):
            config.__dict__[name] = traced(value, prefix + name)
        elif isinstance(value, (list, tuple)) and value and all(map(is_number, value)):
            one_for_all = are_alike(value)
            kept = [traced(one, prefix + name + ("" if one_for_all else f".{i}")) for i, one in enumerate(value)]
            config.__dict__[name] = kept if isinstance(value, list) else tuple(kept)


def is_number(value: object) -> bool:
    """Whether a value is a number, which True and False are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def are_alike(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether a list of numbers has the same one for every layer, so that it stands for that number."""
    return len(value) > 8 and all(map(is_number, value)) and len(set(value)) == 1 and not are_kinds(value)


def has(config: Any, name: str) -> bool:
    """Whether a config knows a field; one that differs from layer to layer raises when it is asked for as a whole."""
    try:
        return hasattr(config, name)
    except Exception:  # noqa: BLE001 - an error of Transformers' own that is no AttributeError
        return True


def are_kinds(value: object) -> bool:
    """Whether a list says of what kind each layer is: words, truths, or zeros and ones."""
    return (
        isinstance(value, (list, tuple))
        and bool(value)
        and all(isinstance(one, (str, bool)) or one in (0, 1) for one in value)
    )


def derived(config: Any, prefix: str = "") -> dict[str, str]:
    """Fields that the config works out from others when they are not given: dotted name -> expression."""
    kind, found = type(config), {}
    names = inspect.signature(kind.__init__).parameters
    own = getattr(config, "attribute_map", {})
    given = {
        name: traced(_value(config, name), own.get(name, name))
        for name, parameter in names.items()
        if parameter.default is not None and is_number(_value(config, name)) and not name.endswith(_IRRELEVANT)
    }
    try:
        worked_out = kind(**given)
    except Exception:  # noqa: BLE001 - whatever a config class raises: then nothing is known to be derived
        worked_out = config
    for name, value in vars(worked_out).items():
        if isinstance(value, Number) and name not in (words := expression(value).split(",")):
            found[prefix + name] = ",".join(
                prefix + word if word[0].isalpha() and word != "int" else word for word in words
            )
    for name, value in vars(config).items():
        if is_config(value):
            found |= derived(value, f"{prefix}{name}.")
    return found


def _value(config: Any, name: str) -> Any:
    return vars(config).get(getattr(config, "attribute_map", {}).get(name, name))


def aliases(config: Any, prefix: str = "") -> dict[str, str]:
    """Second names of fields, such as `hidden_size` for `n_embd`: dotted name -> second name."""
    found = {prefix + own: prefix + second for second, own in getattr(config, "attribute_map", {}).items()}
    for name, value in vars(config).items():
        if is_config(value):
            found |= aliases(value, f"{prefix}{name}.")
    return found
