"""Which layers of a Llama the targets of a config mean, whatever the architecture that it names; no torch here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope

ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj")
GATED = ("gate_proj", "up_proj", "down_proj")
LINEAR = (*ATTENTION, *GATED)
_QKV = ("q_proj", "k_proj", "v_proj")
_USUAL = ("q_proj", "v_proj", "query_key_value", "c_attn")  # PEFT's own choice for Llama and nearly all of its kin
_EMBEDDINGS = frozenset({"embed_tokens", "lm_head", "wte", "wpe", "word_embeddings", "embed_in", "embed_out"})
# Names of other architectures by what they do (Transformers' modeling files). A plain feed-forward layer counts as up
# and down of a gated one.
_SAME = {
    **{name: (name,) for name in LINEAR},
    **dict.fromkeys(("c_attn", "qkv_proj", "query_key_value", "Wqkv", "W_pack", "in_proj", "att_proj", "qkv"), _QKV),
    **dict.fromkeys(("q", "query", "q_lin", "wq", "to_q"), ("q_proj",)),
    **dict.fromkeys(("k", "key", "k_lin", "wk", "to_k"), ("k_proj",)),
    **dict.fromkeys(("v", "value", "v_lin", "wv", "to_v"), ("v_proj",)),
    **dict.fromkeys(("wo", "out_proj", "attn_out", "self_attention.dense", "output_proj"), ("o_proj",)),
    **dict.fromkeys(("gate_up_proj", "wi"), ("gate_proj", "up_proj")),
    **dict.fromkeys(("w1",), ("gate_proj",)),
    **dict.fromkeys(("w3", "fc1", "c_fc", "dense_h_to_4h", "fc_in", "ff_proj", "up"), ("up_proj",)),
    **dict.fromkeys(("w2", "fc2", "dense_4h_to_h", "fc_out", "ff_out", "down"), ("down_proj",)),
}


def targets(scope: Scope) -> tuple[str, ...]:
    """Ends of the module names. Raises Missing for names that are not known here."""
    given = known(scope, "adapter.targets")
    kind = known(scope, "targets.kind")
    if kind == "all-linear":
        return LINEAR
    if kind == "default":
        return _USUAL[:2]
    if kind == "regex" and isinstance(given, str):
        return _matched(given)
    names = [str(one) for one in given] if isinstance(given, (list, tuple)) else []
    _refuse_embeddings(names)
    found = {module for name in names for module in _meant(name)}
    if not found:
        raise Missing("the config names no module that gets an adapter")
    return tuple(one for one in LINEAR if one in found)


def own_targets(scope: Scope, layers: tuple[str, ...]) -> tuple[str, ...]:
    """The layers of a model that get an adapter, by PEFT's rules. Raises Missing where none does."""
    kind = known(scope, "targets.kind")
    given = known(scope, "adapter.targets")
    if kind == "all-linear":
        return layers
    if kind == "regex" and isinstance(given, str):
        matches = _expression(given)
        return _some(tuple(one for one in layers if matches(one)))
    ends = _USUAL if kind == "default" else tuple(map(str, given)) if isinstance(given, (list, tuple)) else ()
    _refuse_embeddings(ends)
    return _some(tuple(one for one in layers for end in ends if one == end or one.endswith(f".{end}")))


def _refuse_embeddings(names: Iterable[str]) -> None:
    for name in names:
        if name.rpartition(".")[2] in _EMBEDDINGS:
            raise Missing(f"adapters on the embedding or the head (`{name[:40]}`) were not measured")


def _some(found: tuple[str, ...]) -> tuple[str, ...]:
    if not found:
        raise Missing("no layer of the model is among the targets")
    return found


def _meant(name: str) -> tuple[str, ...]:
    if name in ("all-linear", "all", "linear"):
        return LINEAR
    short = name.rpartition(".")[2]
    found = _SAME.get(name) or _SAME.get(short)
    if found is None:
        raise Missing(f"which layers `{short[:40]}` are is not known to the probe")
    return found


def _matched(pattern: str) -> tuple[str, ...]:
    """The layers whose full name in Transformers' Llama an expression matches, tried in RE2."""
    matches = _expression(pattern)
    parts = {**dict.fromkeys(ATTENTION, "self_attn"), **dict.fromkeys(GATED, "mlp")}
    found = tuple(one for one in LINEAR if matches(f"model.layers.0.{parts[one]}.{one}") or matches(one))
    if not found:
        raise Missing("the expression of the targets matches no layer of a Llama")
    return found


def _expression(pattern: str) -> Callable[[str], bool]:
    from loralint.knowledge.pattern import Unmatchable, whole

    try:
        return whole(pattern)
    except Unmatchable as error:
        raise Missing(str(error)) from error
