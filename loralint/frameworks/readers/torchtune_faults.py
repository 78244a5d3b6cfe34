"""What torchtune refuses or never reads, beyond what every reader observes."""

from __future__ import annotations

import re

from loralint.frameworks.lookup import closest, find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look
from loralint.knowledge.data import part
from loralint.model import Observation
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, value

# What a builder of a whole model with LoRA takes: their sizes are fixed, and arguments of the parts are not handed on.
# Source: torchtune bd2a0fc7c models/*/_model_builders.py
_TAKES = frozenset(
    {"_component_", "apply_lora_to_mlp", "apply_lora_to_output", "lora_alpha", "lora_attn_modules", "lora_dropout",
     "lora_rank", "quantize_base", "use_dora"}
)  # fmt: skip
_SIZED = re.compile(r"q?lora_[a-z0-9_]*(\d[bm](_(base|instruct))?|phi3_mini|scout_17b_16e)")
_TIED = re.compile(r"q?lora_(gemma2?_\d+b|qwen2_[01]_5b)")  # the output is the embedding, to which no LoRA is put
_NAMED = re.compile(r"\.(?:q?lora_)?([a-z]+\d(?:_\d)?)_(\d+(?:_\d)?b)(?:_base|_instruct)?$")
# what an adapter is resumed from. Source: torchtune 0.6.1 training/checkpointing/_checkpointer.py, issue 2537
_SAVED = "checkpointer.adapter_checkpoint"
_MORE = (
    (re.compile(r"q?lora_llama3_2_[13]b"), frozenset({"tie_word_embeddings"})),
    (re.compile(r"q?lora_(llama3_2_vision|llama4)_\w+"),
     frozenset({"decoder_trainable", "encoder_trainable", "fusion_trainable", "image_size"})),
)  # fmt: skip


def slips(document: Document, look: Look) -> list[Observation]:
    """Keys that are no known key but nearly one, and arguments that no LoRA builder of torchtune takes."""
    del look
    known: dict[str, list[str]] = part("keys-torchtune")["keys"]
    taken = _taken(document)
    if taken:
        known = {**known, "model": sorted(taken)}
    return [
        _unknown(document, pair, section, known[section])
        for section in known
        for pair in _pairs(document.root, section)
        if pair.key not in known[section] and _wrong(document, pair, section, known[section])
    ]


def _pairs(root: Node | None, section: str) -> tuple[Pair, ...]:
    node = root.get(section) if root is not None and section else root
    return tuple(pair for pair in node.pairs if not pair.merged) if node is not None else ()


def _wrong(document: Document, pair: Pair, section: str, known: list[str]) -> bool:
    """Tell a slip from a key of the user's own, kept at the top for `${key}` or beside the key that it resembles."""
    guess = closest(pair.key, known)
    if section == "model":
        return bool(guess) or _lora_builder(document)
    if section:
        return bool(guess)
    assert document.root is not None
    return bool(guess) and document.root.pair(guess) is None and f"${{{pair.key}" not in document.text


def _lora_builder(document: Document) -> bool:
    """Whether the model is built by one of torchtune's own LoRA builders, whose arguments are known."""
    pair = find(document.root, "model._component_") if document.root else None
    path, _, name = pair.value.raw.rpartition(".") if pair else ("", "", "")
    return path.startswith("torchtune.models.") and name.startswith(("lora_", "qlora_"))


def _taken(document: Document) -> frozenset[str]:
    """What the model's builder takes, empty where it is none of the sized ones."""
    pair = find(document.root, "model._component_") if document.root else None
    path, _, name = pair.value.raw.rpartition(".") if pair else ("", "", "")
    if not path.startswith("torchtune.models.") or not _SIZED.fullmatch(name):
        return frozenset()
    more = next((extra for pattern, extra in _MORE if pattern.fullmatch(name)), frozenset[str]())
    return (_TAKES - {"apply_lora_to_output"} if _TIED.fullmatch(name) else _TAKES) | more


def _unknown(document: Document, pair: Pair, section: str, known: list[str]) -> Observation:
    guess = closest(pair.key, known)
    return Observation(
        "unknown",
        place(document, pair, f"{section}.{pair.key}" if section else pair.key),
        "crash" if section else "lost",
        f"torchtune's {section} takes no such argument" if section else "no torchtune recipe reads it",
        guess,
        "key" if guess else "",
        "torchtune",
    )


def rejected(document: Document, look: Look) -> list[Observation]:
    """Pairs of settings that a recipe refuses when it starts (0.6.1)."""
    del look
    root = document.root
    found = []
    if _on(root, "enable_activation_offloading") and _off(root, "enable_activation_checkpointing"):
        advice = "write enable_activation_checkpointing: true, or no offloading"
        found.append(("enable_activation_offloading", "offloading goes with checkpointing only", advice))
    if _on(root, "dataset.packed") and _off(root, "tokenizer.max_seq_len"):
        advice = "write tokenizer.max_seq_len: 4096, or how long packed rows are to be, or packed: false"
        found.append(("dataset.packed", "a packed dataset needs tokenizer.max_seq_len", advice))
    if _on(root, "optimizer_in_bwd") and not _off(root, "clip_grad_norm"):
        advice = "write clip_grad_norm: null, or optimizer_in_bwd: false"
        found.append(("clip_grad_norm", "gradients cannot be clipped with optimizer_in_bwd: true", advice))
    if _on(root, "resume_from_checkpoint") and str(_value(root, _SAVED)).endswith("adapter_model.safetensors"):
        message = "that file has PEFT's names, and a recipe goes on from its own"
        found.append((_SAVED, message, "name the adapter_model.pt beside it"))
    taught = _taught(root)
    if taught:
        found.append(("teacher_model._component_", taught, "take a teacher and a student of one vocabulary"))
    return [
        Observation("rejected", place(document, pair, key), "crash", said, package="torchtune", data={"advice": advice})
        for key, said, advice in found
        if root is not None and (pair := find(root, key)) is not None
    ]


def _taught(root: Node | None) -> str:
    """What is wrong with the vocabularies of a teacher and its student (issue 2119)."""
    teacher = _built(root, "teacher_model._component_")
    if not teacher:
        return ""
    from loralint.frameworks.vocabularies import told

    wrong = told(_built(root, "model._component_"), teacher)
    return f"{wrong}, which shows at the first step" if wrong else ""


def _built(root: Node | None, key: str) -> str:
    """The model that a builder is called after, as `torchtune.models.qwen2_5.lora_qwen2_5_3b`; "" for others."""
    named = _NAMED.search(str(_value(root, key)))
    return f"{named[1]}-{named[2]}".replace("_", ".") if named is not None else ""


def _on(root: Node | None, key: str) -> bool:
    return _value(root, key) is True


def _off(root: Node | None, key: str) -> bool:
    """Absent, null or false; a reference may be anything."""
    return _value(root, key) in (None, False)


def _value(root: Node | None, key: str) -> object:
    pair = find(root, key) if root is not None else None
    if pair is None or pair.value.kind != "scalar":
        return None if pair is None else "a collection"
    return pair.value.raw if is_template(pair.value.raw) else value(pair.value, "omegaconf")
