"""PEFT's adapter_config.json (0.21.2): a LoraConfig, or another method's, as a script loads or PEFT saves it.

It is no training config: rate, batch and schedule stand elsewhere, so this reader has no such fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from loralint.frameworks.convert import not_null
from loralint.frameworks.lookup import closest
from loralint.frameworks.observe import place
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader
from loralint.knowledge.data import part
from loralint.knowledge.versions import parse
from loralint.model import Unknown
from loralint.source.document import Document, Pair
from loralint.source.scalars import plain


def _method(value: object) -> object:
    return value.lower() if isinstance(value, str) and value else SKIP


def _peft_type(value: object) -> object:
    """PEFT has no type for training in full."""
    return value.upper() if isinstance(value, str) and value not in ("", "full", "freeze") else SKIP


def _init(value: object) -> object:
    """Switch or word: `true` is the usual start with B at zero."""
    return str(value).lower() if isinstance(value, (bool, str)) else SKIP


def _written_init(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else SKIP


def _layers(value: object) -> object:
    return [value] if isinstance(value, int) else not_null(value)


def _of_lora(default: object) -> Callable[[Look], object]:
    """Give LoraConfig's own default; another method has its own."""
    return lambda look: default if look.get("adapter.method").value == "lora" else SKIP


def _loftq_bits(look: Look) -> object:
    return 4 if look.get("adapter.init").value == "loftq" else SKIP


TABLE = (
    Entry("model.base", "base_model_name_or_path", not_null),
    Entry("adapter.method", "peft_type", _method, _peft_type, Unknown("`peft_type` is not set")),
    Entry("adapter.rank", "r", default=_of_lora(8)),
    Entry("adapter.alpha", "lora_alpha", default=_of_lora(8)),
    Entry("adapter.dropout", "lora_dropout", not_null, default=_of_lora(0.0)),
    Entry("adapter.bias", "bias", not_null, default=_of_lora("none")),
    Entry("adapter.targets", "target_modules", not_null),
    Entry("adapter.target_parameters", "target_parameters", lambda names: names or SKIP),
    Entry("adapter.exclude", "exclude_modules", not_null),
    Entry("adapter.modules_to_save", "modules_to_save", not_null),  # a bare text stays text: PEFT takes its letters
    Entry("adapter.weight_tying", "ensure_weight_tying", not_null, default=_of_lora(False)),
    Entry("adapter.trainable_tokens", "trainable_token_indices", not_null),
    Entry("adapter.layers", "layers_to_transform", _layers),
    Entry("adapter.layers_pattern", "layers_pattern", not_null),
    Entry("adapter.rank_pattern", "rank_pattern", not_null, default=_of_lora({})),
    Entry("adapter.alpha_pattern", "alpha_pattern", not_null, default=_of_lora({})),
    Entry("adapter.rslora", "use_rslora", not_null, default=_of_lora(False)),
    Entry("adapter.dora", "use_dora", not_null, default=_of_lora(False)),
    Entry("adapter.lora_bias", "lora_bias", not_null, default=_of_lora(False)),
    Entry("adapter.init", "init_lora_weights", _init, _written_init, _of_lora("true")),
    Entry("adapter.loftq_bits", "loftq_config.loftq_bits", not_null, default=_loftq_bits),
    Entry("adapter.task_type", "task_type", not_null),
    Entry("adapter.fan_in_fan_out", "fan_in_fan_out", not_null, default=_of_lora(False)),
    Entry("adapter.inference", "inference_mode", not_null, default=False),
)


def pins(document: Document) -> Mapping[str, str]:
    """Give the release that wrote the file; a development build counts as its release."""
    node = document.root.get("peft_version") if document.root is not None else None
    numbers = parse(node.raw) if node is not None and node.kind == "scalar" else ()
    return {"peft": ".".join(map(str, numbers))} if numbers else {}


def observe_keys(document: Document, look: Look) -> list[Observation]:
    """Observe the keys that this method's config does not have: PEFT warns once and goes on without them."""
    return [*_stray(document), *_later(document, look)]


def _stray(document: Document) -> Iterator[Observation]:
    if document.root is None or (kind := document.root.get("peft_type")) is None:
        return
    lists = part("keys-peft")
    newer = parse(pins(document).get("peft", "")) > parse(lists["version"])
    if kind.raw not in lists["keys"] and kind.raw.upper() in lists["keys"] and kind.tag == "str":
        yield _small(document, kind.raw)
    if kind.raw not in lists["keys"] or newer:  # a type or a release of which we know nothing
        return
    known = {*lists["keys"][kind.raw], *lists["common"]}
    for pair in document.root.pairs:
        if pair.key not in known and not pair.key.startswith("_"):
            yield _observation(document, pair, kind.raw, known, lists)


def _later(document: Document, look: Look) -> Iterator[Observation]:
    """Keys of LoRA that came after the release in use; before 0.14 PEFT hands every key on to the class."""
    kind = document.root.get("peft_type") if document.root is not None else None
    if document.root is None or kind is None or kind.raw != "LORA" or not look.version_is("peft<0.14"):
        return
    newer = part("keys-python")["classes"]["LoraConfig"]["added"]
    for pair in document.root.pairs:
        if pair.key in newer and look.version_is(newer[pair.key]["when"]):
            release = newer[pair.key]["when"].partition("<")[2]
            what = f"`LoraConfig` has it since PEFT {release}, and older ones stop with a TypeError at the file"
            yield Observation("unknown", place(document, pair, pair.key), "crash", what, "", "remove", "peft")


def _small(document: Document, kind: str) -> Observation:
    pair = document.root.pair("peft_type") if document.root is not None else None
    assert pair is not None
    what = f"PEFT knows the type in capitals only and stops with `KeyError: '{kind}'` when it loads the file"
    return Observation("rejected", place(document, pair, "peft_type"), "crash", what, f'"{kind.upper()}"', "value")


def _observation(
    document: Document, pair: Pair, kind: str, known: set[str], lists: Mapping[str, Mapping[str, list[str]]]
) -> Observation:
    elsewhere = any(pair.key in keys for keys in lists["keys"].values())
    guess = "" if elsewhere else closest(pair.key, sorted(known))
    empty = not plain(pair.value, "json")
    return Observation(
        "ignored" if elsewhere else "unknown",
        place(document, pair, pair.key),
        "harmless" if empty else "lost",
        f"PEFT's config for {kind} has no such key and goes on without it",
        guess,
        "key" if guess else "remove",
    )


READER = Reader(
    name="peft",
    title="PEFT",
    dialect="json",
    table=TABLE,
    keys="",
    coerces=False,
    packages=("peft",),
    observe=(observe_keys,),
    pins=pins,
)
