"""What layers of transformer blocks are for, by their names: so that a layer can be told to have no counterpart."""

from __future__ import annotations

from collections.abc import Iterable

# Names of many families; a name that two parts of a block share has both roles (modeling_*.py of transformers 5.24).
_NAMES = {
    "attended": "q_proj k_proj v_proj query key value query_key_value qkv_proj qkv W_pack wqkv Wqkv c_attn q_attn "
    "att_proj q_a_proj q_b_proj kv_a_proj_with_mqa kv_b_proj q_lin k_lin v_lin q k v",
    "attention": "o_proj out_proj dense wo attn_out out_lin c_proj o",
    "into": "gate_proj up_proj gate_up_proj fc1 fc_in c_fc dense_h_to_4h w1 w2 w3 ff_proj lin1 dense wi wi_0 wi_1",
    "out": "down_proj fc2 fc_out c_proj dense_4h_to_h w2 wo ff_out lin2 dense",
    "experts": "fc1_latent_proj fc2_latent_proj",
    "state": "in_proj conv1d x_proj dt_proj out_proj",
}
_ROLES: dict[str, frozenset[str]] = {
    name: frozenset(role for role, names in _NAMES.items() if name in names.split())
    for names in _NAMES.values()
    for name in names.split()
}
_ANY = frozenset(_NAMES)
_PARTS = frozenset(
    ["q_proj", "k_proj", "v_proj", "query", "key", "value", "q_lin", "k_lin", "v_lin", "q", "k", "v"]
)  # of what others pack into one


def left_out(name: str, layers: Iterable[str]) -> list[str] | None:
    """Those of these layers, by name, that may do in their block what a layer of that name does in another family's.

    None where a name is no layer's in any of the usual families, as a slip is none's.
    """
    roles = _ROLES.get(name)
    return None if roles is None else [layer for layer in layers if roles & _ROLES.get(layer, _ANY)]


def counterparts(name: str, layers: Iterable[str]) -> list[str] | None:
    """Those of these layers to name where another family has that name: what does the same and no more, if any does.

    None as for `left_out`.
    """
    alike = left_out(name, layers)
    if alike is None:
        return None
    alike = [one for one in alike if _ROLES.get(one) == _ROLES[name]] or [one for one in alike if one in _ROLES]
    same_part = [one for one in alike if name in _PARTS and one[0] == name[0]]
    return same_part or alike
