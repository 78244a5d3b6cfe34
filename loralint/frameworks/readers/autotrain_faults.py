"""What AutoTrain refuses, leaves out or stumbles over, beyond what every reader observes (0.8.36)."""

from __future__ import annotations

from loralint.frameworks.lookup import find, loader
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, value

_PACKAGE = "autotrain"
_NAME_LENGTH = 50
_LONGEST = 2048  # tokens, where model_max_length is absent
_REQUIRED = {
    "data": ("path", "column_mapping", "train_split", "valid_split"),
    "hub": ("username", "token", "push_to_hub"),
}


def ignored(document: Document, _: Look) -> list[Observation]:
    """Quantisation that is asked for without `peft`: the language-model trainers then load the base as it is."""
    root = document.root
    pair = find(root, "params.quantization") if root is not None and _is_llm(root) else None
    if (
        root is None
        or pair is None
        or _value(root, "params.quantization") not in ("int4", "int8")
        or _value(root, "params.peft") is True
        or is_template(str(_value(root, "params.peft")))
    ):
        return []
    message = "AutoTrain quantises the base for an adapter only, and `peft` is off"
    return [Observation("ignored", place(document, pair, "params.quantization"), "lost", message, package=_PACKAGE)]


def rejected(document: Document, _: Look) -> list[Observation]:
    """A validation split, which the language-model trainers lose before they use it, and names that are no names."""
    found = []
    root = document.root
    split = find(root, "data.valid_split") if root is not None and _is_llm(root) else None
    if root is not None and split is not None and not _open(root, "data.valid_split"):
        message = "AutoTrain drops the validation rows before it needs them, and stops with an error on None"
        found.append(("data.valid_split", split, message, "null"))
    name = root.pair("project_name") if root is not None else None
    if name is not None and name.value.kind == "scalar" and not is_template(name.value.raw):
        text = name.value.raw
        if text and not text.replace("-", "").isalnum():
            found.append(("project_name", name, "AutoTrain takes letters, digits and hyphens only", ""))
        elif len(text) > _NAME_LENGTH:
            found.append(("project_name", name, f"AutoTrain takes {_NAME_LENGTH} characters at most", ""))
    return [
        Observation(
            "rejected", place(document, pair, key), "crash", message, write, "value" if write else "", _PACKAGE
        )
        for key, pair, message, write in found
    ]  # fmt: skip


def missing(document: Document, _: Look) -> list[Observation]:
    """Keys that the parser takes without asking whether they are there."""
    root = document.root
    if root is None:
        return []
    found = []
    for section, keys in _REQUIRED.items():
        pair = root.pair(section)
        if pair is None or pair.value.kind != "mapping":
            continue
        wanted = (*keys, "chat_template") if section == "data" and _is_llm(root) else keys
        found += [(section, pair, f"{section}.{key}") for key in wanted if pair.value.pair(key) is None]
    return [
        Observation(
            "rejected",
            place(document, pair, section),
            "crash",
            f"AutoTrain stops with a KeyError when it reads the file, since `{key}` is not there; null counts as there",
            package=_PACKAGE,
        )
        for section, pair, key in found
    ]


def spaced(document: Document, _: Look) -> list[Observation]:
    """Blanks after the commas of `target_modules`, which stay part of the names."""
    pair = find(document.root, "params.target_modules") if document.root is not None else None
    raw = pair.value.raw if pair is not None and pair.value.kind == "scalar" else ""
    names = raw.split(",")
    if pair is None or len(names) < 2 or all(name == name.strip() for name in names):
        return []
    message = "AutoTrain splits at commas and keeps the blanks, so the names after them match no module"
    return [
        Observation(
            "coerced",
            place(document, pair, "params.target_modules"),
            "changed",
            message,
            ",".join(name.strip() for name in names),
            "value",
            _PACKAGE,
        )
    ]


def cut(document: Document, _: Look) -> list[Observation]:
    """Blocks longer than rows may be, in the config or on the command line of the language-model trainers."""
    root = document.root
    home = "params." if root is not None and root.pair("params") is not None else ""
    pair = find(root, f"{home}block_size") if root is not None and (not home or _is_llm(root)) else None
    if root is None or pair is None or pair.value.kind != "scalar":
        return []
    limit = find(root, f"{home}model_max_length")
    asked = value(pair.value, loader(document, "pyyaml"))
    most = value(limit.value, loader(document, "pyyaml")) if limit is not None else _LONGEST
    if not isinstance(asked, int) or not isinstance(most, int) or asked <= most:
        return []
    absent = "" if limit is not None else " where nobody writes it"
    message = f"AutoTrain makes blocks of {most} instead, since model_max_length is {most}{absent}"
    advice = {"advice": f"write model_max_length {asked}, too"}
    where = place(document, pair, f"{home}block_size")
    return [Observation("ignored", where, "changed", message, package=_PACKAGE, data=advice)]


def _open(root: Node, key: str) -> bool:
    """Whether a key is null, or is filled in when the run starts and may be null then."""
    made = _value(root, key)
    return made is None or is_template(str(made))


def _is_llm(root: Node) -> bool:
    return str(_value(root, "task")).lower().partition("-")[0] == "llm"


def _value(root: Node, key: str) -> object:
    pair = find(root, key)
    return value(pair.value, "pyyaml") if pair is not None and pair.value.kind == "scalar" else None
