"""What the loaders of Transformers refuse of their keywords, most of which go on to the config or to the model's class.

Sources: transformers 4.49.0 and 5.24.0 modeling_utils.py (from_pretrained); run here on a small Llama.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Pair
from loralint.source.scalars import plain

_ADAPTERS = ("peft_config", "lora_config")
_WENT = "transformers>=5"
_MOVED = {
    "load_in_8bit": "write quantization_config=BitsAndBytesConfig(load_in_8bit=True)",
    "load_in_4bit": "write quantization_config=BitsAndBytesConfig(load_in_4bit=True)",
    "use_auth_token": "write token=...",
    "use_flash_attention_2": 'write attn_implementation="flash_attention_2"',
}
_ASKS = "transformers<4.50"  # it asked how weights are loaded where a map places them


def observe_loading(document: Document, look: Look) -> list[Observation]:
    """Observe an adapter's config, and whole weights beside a map of devices."""
    outer = document.root.pair("from_pretrained") if document.root is not None else None
    owner = outer.value.get("class") if outer is not None else None
    if outer is None or outer.value.tag == "own" or owner is None:
        return []
    # one of TRL's with a value head puts an adapter on
    if not owner.raw.startswith("AutoModel") or owner.raw.endswith("ValueHead"):
        return []
    found = [*_adapter(document, outer, owner.raw), *(_whole(document, outer) if look.version_is(_ASKS) else ())]
    return [*found, *(_gone(document, outer, owner.raw) if look.version_is(_WENT) else ())]


def _gone(document: Document, outer: Pair, owner: str) -> Iterator[Observation]:
    """Keywords that Transformers 5 no longer takes off before it makes the model, whatever they say."""
    for key, advice in _MOVED.items():
        given = outer.value.pair(key)
        if given is not None:
            message = f"since Transformers 5 {owner} hands it on to the model's class, which takes no such argument"
            where, told = place(document, given, f"{outer.key}.{key}"), {"advice": advice}
            yield Observation("rejected", where, "crash", message, package="transformers", data=told)


def _adapter(document: Document, outer: Pair, owner: str) -> Iterator[Observation]:
    for key in _ADAPTERS:
        given = outer.value.pair(key)
        if given is not None and given.value.tag != "null":
            message = f"{owner} hands it on to the model's class, which takes no such argument"
            data = {"advice": f"leave {key} out, and give the config to get_peft_model or to a trainer of TRL"}
            where = place(document, given, f"{outer.key}.{key}")
            yield Observation("rejected", where, "crash", message, data=data)


def _whole(document: Document, outer: Pair) -> Iterator[Observation]:
    devices, thrifty = outer.value.pair("device_map"), outer.value.pair("low_cpu_mem_usage")
    if devices is None or thrifty is None or devices.value.tag == "null":
        return
    if plain(thrifty.value, "python") is False:
        message = (
            "with a device_map weights are loaded piece by piece, and Transformers raises where that is switched off"
        )
        data = {"advice": "leave low_cpu_mem_usage out, or device_map"}
        where = place(document, thrifty, f"{outer.key}.{thrifty.key}")
        yield Observation("rejected", where, "crash", message, package="transformers", data=data)
