"""Which fields of a config to change, and to what, so as to learn how the modules follow from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from loralint.authoring.catalogue.configs import are_alike, are_kinds, is_number

_SKIPPED = re.compile(
    r"(^|[._])(eps|epsilon|dropout|theta|range|seed|bos|eos|pad|sep|chunk_size|rope_\w+|_id|token_index|"
    r"max_position_embeddings|max_window_layers|attention_chunk_size|use_cache|output_\w+|return_dict|is_encoder_decoder|"
    r"is_decoder|add_cross_attention|chunk_size_feed_forward|problem_type|num_labels|router_jitter\w*|initializer\w*|"
    r"init_\w+|scale_embedding|logits?_\w+|pretraining_tp|torchscript|gradient_checkpointing|num_experts_per_tok|"
    r"use_bfloat16|pruned_heads|tf_legacy_loss|_loss_\w+|loss_\w+|layer_norm_eps|sliding_window|num_beams|max_length|"
    r"min_length|top_k|top_p|temperature|begin_suppress_tokens|suppress_tokens|mask_\w+|ctc_\w+|apply_spec_augment)$"
)
_MAY_BE_NONE = re.compile(
    r"expert|dense|shared|nextn|lora_rank|adapter|share|moe|head|group|kv|embed|layers?$|step$|size|dim"
)
_COUNTS = re.compile(r"layers?$|freq|step|dense|period|offset|interval|every|depth|blocks?$|^n_|^num_(?!attention|key)")
# null by default, where a number makes modules that are not there without it
_GIVEN = {"moe_latent_size": 64}
_SHORT = 5  # entries of a list that has one for each stage
_WORDS: dict[str, list[Any]] = {
    "feed_forward_proj": ["gated-gelu", "relu"],
    "position_embedding_type": ["absolute", "relative_key"],
    "embedding_type": ["absolute"],
    "qk_layernorms": [True],
    "projector_hidden_act": [],
    "feat_extract_norm": ["layer", "group"],
    "norm_type": ["rms_norm", "layer_norm"],
    "pos_att_type": [],
    "mlp_layer_types": [],
}


def changes(values: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """One change of one field after another, each with others to try where the classes refuse it."""
    for name, given in values.items():
        value = list(given) if isinstance(given, tuple) else given
        last = name.rpartition(".")[2]
        if _SKIPPED.search(name) and last not in _WORDS:
            continue
        if value is None and last in _GIVEN:
            yield [{name: _GIVEN[last]}]
        elif isinstance(value, bool):
            yield [{name: not value}]
        elif isinstance(value, int) and abs(value) < 1 << 24:
            for numbers in _other_numbers(last, value):
                yield [{name: number} for number in numbers]
        elif isinstance(value, list) and value and len(value) < 400:
            yield from ([{name: entries}] for entries in _other_lists(value))
        elif isinstance(value, list):
            yield from ([{name: entries}] for entries in ([0], [1, 2]))
        elif isinstance(value, str) and last in _WORDS:
            yield from ([{name: word}] for word in _WORDS[last] if word != value)


def _other_numbers(last: str, value: int) -> Iterator[list[Any]]:
    """A little more, or twice as much where that is refused; of counts several; none at all where that may be."""
    yield [value + 1, value * 2] if value else [1, 2]
    if _COUNTS.search(last) and value:
        yield [value + 2, value * 2]
        if value > 2:
            yield [value - 1]
    if _MAY_BE_NONE.search(last):
        yield [None]
    if re.search(r"expert|dense|shared|nextn|share|per_layer_input", last):
        yield [0]


def _other_lists(value: list[Any]) -> list[list[Any]]:
    if are_alike(value):
        return [[value[0] * 2] * len(value)]
    if all(map(is_number, value)) and not are_kinds(value):
        if len(value) > _SHORT or not all(isinstance(one, int) for one in value):
            return [[value[0] * 2, *value[1:]], [*value[:-1], value[-1] * 2]]
        others = [(i, other) for i, one in enumerate(value) for other in (one * 2, one * 3)]
        return [[*value[:i], other, *value[i + 1 :]] for i, other in others]
    if are_kinds(value):
        longer = [*value, value[-1]]  # where the list says how many layers there are
        return [value[1:] + value[:1], value[::-1], [value[0]] * len(value), [value[-1]] * len(value), longer]
    return []
