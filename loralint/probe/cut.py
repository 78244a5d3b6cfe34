"""A few layers of a model that is too large to be probed whole, read alone and put together as a smaller one.

The first layers and the last are kept, and of the vocabulary the tokens of the text. Such a cut knows next to nothing,
so it is no base yet: `heal` trains it first.
"""

from __future__ import annotations

from copy import deepcopy
from math import prod
from typing import Any

import torch
from torch import Tensor

from loralint.probe.asked import few_parts, refuse_large_tables
from loralint.probe.weights import Weights, by_token, in_layer, layer_of

_ENDS = ((3, 5), (2, 4), (1, 3))  # first layers and last ones; eight were measured
_SHAPES = "its tensors have other shapes than its config says"
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")


def kept_layers(weights: Weights, most: float) -> tuple[int, ...]:
    """Numbers of the layers to keep, so that they have no more than `most` parameters.

    Raises ValueError where even the fewest have more, or the tensors are in no layers.
    """
    numbers = sorted({found for name in weights.shapes if (found := layer_of(name)) is not None})
    if not numbers or numbers != list(range(len(numbers))):
        raise ValueError("its tensors are named by no layers that the probe knows")
    each = weights.of_body() / len(numbers)
    for first, last in _ENDS:
        if first + last < len(numbers) and (first + last) * each <= most:
            return (*numbers[:first], *numbers[-last:])
    fewest = sum(_ENDS[-1])
    raise ValueError(f"even {fewest} of its layers have {fewest * each / 1e9:.1f} B parameters")


def cut_config(config: Any, layers: tuple[int, ...], tokens: int) -> Any:
    """The model's config with these layers and so many tokens; lists with an entry for each layer are cut as well.

    Raises ValueError for what no cut was measured of.
    """
    text = config.get_text_config()
    if any(getattr(text, name, None) for name in _EXPERTS):
        raise ValueError("it is a mixture of experts, of which no cut was measured")
    before = text.num_hidden_layers
    for name, value in list(vars(text).items()):
        if isinstance(value, list) and len(value) == before and layers:
            setattr(text, name, [value[layer] for layer in layers])
    text.num_hidden_layers = len(layers) or before
    text.vocab_size = tokens
    text.pad_token_id = text.bos_token_id = text.eos_token_id = None
    # Which attention runs is ours to say: a config may name one that is downloaded, or compiled, first. And what was
    # quantised is not any more, see `weights`.
    text._attn_implementation = text._experts_implementation = None  # noqa: SLF001 - no public name for these
    vars(text).pop("quantization_config", None)
    return text


def cut_state(weights: Weights, layers: tuple[int, ...], tokens: Tensor) -> dict[str, Tensor]:
    """The tensors of these layers under their new numbers, and those outside of layers; rows of the tokens only.

    Without layers, all of them.
    """
    numbers = {old: new for new, old in enumerate(layers)}
    return {
        in_layer(name, numbers.get(layer, layer)) if layer is not None else name: weights.read(
            name, tokens if by_token(name) else None
        )
        for name, layer in _kept(weights, layers).items()
    }


def refuse_much(weights: Weights, layers: tuple[int, ...], tokens: int, most: float) -> None:
    """Raise ValueError where `cut_state` would read more numbers than `most`: what is in no layer may have any size."""
    shapes = [(name, weights.shapes[name]) for name in _kept(weights, layers)]
    asked = sum(prod((tokens, *shape[1:]) if by_token(name) else shape) for name, shape in shapes)
    if asked > most:
        raise ValueError(f"{asked / 1e9:.1f} B of its numbers would have to be read")


def _kept(weights: Weights, layers: tuple[int, ...]) -> dict[str, int | None]:
    """The tensors of these layers, or of all, and those outside of layers, with the numbers of their layers."""
    names = {name: layer_of(name) for name in weights.shapes}
    return {name: layer for name, layer in names.items() if layer is None or not layers or layer in layers}


def assembled(config: Any, state: dict[str, Tensor]) -> Any:
    """A model of Transformers with this config and these tensors.

    Raises ValueError where some are missing or of another shape, or no causal language model is of the kind.
    """
    from transformers import AutoModelForCausalLM

    kind = AutoModelForCausalLM._model_mapping.get(type(config), None)  # noqa: SLF001 - no public name for it
    if kind is None:
        raise ValueError(f"Transformers has no causal language model of the kind {config.model_type}")
    _compare(kind, config, state)
    try:
        model, found = kind.from_pretrained(
            None, config=config, state_dict=state, dtype=torch.float32, output_loading_info=True
        )
    except RuntimeError as error:
        if "mismatched" not in str(error):
            raise
        raise ValueError(_SHAPES) from None
    if found["missing_keys"]:
        raise ValueError(f"it has no tensor for {min(found['missing_keys'])}")
    return model


def _compare(kind: Any, config: Any, state: dict[str, Tensor]) -> None:
    """Refuse what Transformers would also, but only after it has filled matrices of the sizes that the config names.

    A head that is tied to the embedding may double what the tensors hold; whatever is larger lacks some.
    """
    with torch.device("meta"), few_parts():
        empty = kind._from_config(deepcopy(config))  # noqa: SLF001 - no public name for it
    refuse_large_tables(empty)
    wanted = {name: one.shape for name, one in empty.state_dict().items()}
    if any(name in wanted and wanted[name] != one.shape for name, one in state.items()):
        raise ValueError(_SHAPES)
    if sum(shape.numel() for shape in wanted.values()) > 2 * sum(one.numel() for one in state.values()):
        raise ValueError(f"its config asks for more than its tensors hold, such as {min(set(wanted) - set(state))}")
