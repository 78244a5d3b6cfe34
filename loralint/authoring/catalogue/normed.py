"""Which layers read what a norm gives, unchanged: seen while a model without weights runs on the meta device."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from loralint.authoring.catalogue import configs
from loralint.authoring.catalogue.study import Subject

_LENGTH = 8
_SAMPLES = 16_000  # of sound
# some models look at their mask to find the ends of packed rows, which the meta device cannot answer: (1, 1, 8, 8)
_MASKS = (("", ()), ("attention_mask", (1, 1, _LENGTH, _LENGTH)), ("attention_mask", (1, _LENGTH)))


def normed(subject: Subject) -> dict[str, bool]:
    """Linear layers of a class with its default config that one pass meets, and whether a norm feeds each.

    A pass over tokens, and over a picture or sound where it takes them. Empty where the class cannot be run so.
    """
    config = configs.made(subject.config, {}, subject.given)
    for part in (config, *filter(configs.is_config, vars(config).values())):
        part._attn_implementation = "eager"  # noqa: SLF001 - the only way to choose it without loading weights
    with torch.device("meta"):
        model = subject.model(config).eval().to(torch.bfloat16)
    watch = _Watch(model)
    for given in _forms(config, model):
        watch.reads.clear()
        try:
            with torch.no_grad():
                model(**given)
        except Exception:  # noqa: BLE001, S112 - a model's code may raise anything; the next form is tried
            continue
        return watch.reads
    return {}


def _forms(config: Any, model: nn.Module) -> Iterator[dict[str, Any]]:
    """What to give a model, the likeliest first: tokens, tokens with a mask, and whatever it names."""
    ids = _zeros(_LENGTH, kind=torch.long)
    tokens = {"input_ids": ids} | ({"decoder_input_ids": ids} if config.is_encoder_decoder else {})
    for name, shape in _MASKS:
        mask = {name: torch.ones(shape, dtype=torch.bool, device="meta")} if name else {}
        yield {**tokens, **mask, "use_cache": False}
    names = inspect.signature(model.forward).parameters
    others = tokens | _picture(getattr(config, "vision_config", None) or config) | {"input_values": _zeros(_SAMPLES)}
    yield {name: value for name, value in others.items() if name in names}


def _picture(config: Any) -> dict[str, Tensor]:
    side, channels = getattr(config, "image_size", None), getattr(config, "num_channels", None)
    if not isinstance(side, int) or not isinstance(channels, int):
        return {}
    return {"pixel_values": _zeros(channels, side, side)}


def _zeros(*sizes: int, kind: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.zeros((1, *sizes), dtype=kind, device="meta")


class _Watch:
    """Notes for each linear layer whether all that it read shares its memory with a norm's output, as views do."""

    def __init__(self, model: nn.Module) -> None:
        self.reads: dict[str, bool] = {}
        self._given: dict[int, Tensor] = {}  # the tensors themselves, so that no address is given out twice
        for path, module in model.named_modules():
            kind = type(module).__name__
            if "norm" in kind.lower() and kind != "NoNorm" and not any(module.children()):
                module.register_forward_hook(self._keep)
            elif isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D":
                module.register_forward_pre_hook(self._note(path))

    def _keep(self, module: nn.Module, given: Any, made: Any) -> None:
        del module, given
        if isinstance(made, Tensor):
            self._given[_memory(made)] = made

    def _note(self, path: str) -> Any:
        def hook(module: nn.Module, given: tuple[Any, ...]) -> None:
            del module
            if given and isinstance(given[0], Tensor):
                self.reads[path] = self.reads.get(path, True) and _memory(given[0]) in self._given

        return hook


def _memory(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)  # noqa: SLF001 - storages have no public identity on the meta device
