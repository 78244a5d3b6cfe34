"""Which layers read what a norm gives, unchanged: seen while a model without weights runs on the meta device."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from loralint.authoring.catalogue import configs
from loralint.authoring.catalogue.study import Subject

_LENGTH = 8
# some models look at their mask to find the ends of packed rows, which the meta device cannot answer: (1, 1, 8, 8)
_EXTRA = ((), ("attention_mask", (1, 1, _LENGTH, _LENGTH)), ("attention_mask", (1, _LENGTH)))


def normed(subject: Subject) -> dict[str, bool]:
    """Linear layers of a class with its default config that one pass over tokens meets, and whether a norm feeds each.

    Empty where the class cannot be run on tokens alone.
    """
    config = configs.made(subject.config, {}, subject.given)
    for part in (config, *filter(configs.is_config, vars(config).values())):
        part._attn_implementation = "eager"  # noqa: SLF001 - the only way to choose it without loading weights
    with torch.device("meta"):
        model = subject.model(config).eval().to(torch.bfloat16)
    watch = _Watch(model)
    for extra in _EXTRA:
        watch.reads.clear()
        try:
            with torch.no_grad():
                model(**_inputs(config, *extra), use_cache=False)
        except Exception:  # noqa: BLE001, S112 - a model's code may raise anything; the next form is tried
            continue
        return watch.reads
    return {}


def _inputs(config: Any, name: str = "", shape: tuple[int, ...] = ()) -> dict[str, Tensor]:
    ids = torch.zeros((1, _LENGTH), dtype=torch.long, device="meta")
    made = {"input_ids": ids} | ({"decoder_input_ids": ids} if config.is_encoder_decoder else {})
    return made | ({name: torch.ones(shape, dtype=torch.bool, device="meta")} if name else {})


class _Watch:
    """Notes for each linear layer whether all that it read shares its memory with a norm's output, as views do."""

    def __init__(self, model: nn.Module) -> None:
        self.reads: dict[str, bool] = {}
        self._given: dict[int, Tensor] = {}  # the tensors themselves, so that no address is given out twice
        for path, module in model.named_modules():
            if "norm" in type(module).__name__.lower() and not any(module.children()):
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
