"""Normalised LoRA inputs in a user's own PEFT model: a control that tells causes apart, never a remedy.

What is trained with it cannot be merged, and no server of adapters runs hooks; so while it is installed the model
refuses to be merged or saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp, log
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor, nn

KINDS = ("scale", "l2", "rms", "module")
_LEAST = 1e-6  # no norm counts as less, so that a zero input stays zero
_SAVING = ("save_pretrained", "push_to_hub", "merge_and_unload", "merge_adapter", "merge")
_REFUSED = "normalised LoRA inputs are installed: what was trained with them is not what a merged or saved adapter does"


class NormalizedInputs:
    """Hooks on the inputs of `lora_A`, until `remove()` or the end of a `with` block.

    medians: of every hooked module the median norm of its inputs, 0 until it is known. calls: how often each hook ran.
    skipped: adapters without an input vector (those of embeddings), which are as they were.
    """

    def __init__(self, model: nn.Module, layers: Mapping[str, Any], kind: str) -> None:
        self.kind = kind
        self.medians = dict.fromkeys(layers, 0.0)
        self.calls = dict.fromkeys(layers, 0)
        self.skipped = tuple(name for name, one in layers.items() if not len(one.lora_A))
        self._norms: dict[str, list[Tensor]] | None = None
        self._middle = 0.0
        self._hooks = [
            adapter.register_forward_pre_hook(self._hook(name, adapter))
            for name, layer in layers.items()
            for adapter in layer.lora_A.values()
        ]
        self._hooks.append(model.register_state_dict_pre_hook(_refuse))
        parts = [model, getattr(model, "base_model", model), *layers.values()]
        wanted = [(part, name) for part in parts for name in _SAVING if hasattr(part, name)]
        self._refusing = [(part, name, part.__dict__.get(name)) for part, name in wanted]
        for part, name in wanted:
            setattr(part, name, _refuse)

    def remove(self) -> None:
        """Give the model back as it was; a second call does nothing."""
        for hook in self._hooks:
            hook.remove()
        for part, name, before in reversed(self._refusing):
            part.__dict__.pop(name, None)
            if before is not None:  # one that a patch, such as Unsloth's, had put on this very model
                setattr(part, name, before)
        self._hooks, self._refusing = [], []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def check(self) -> None:
        """Raise RuntimeError if some hook never ran since: fused kernels and merged adapters pass them by."""
        silent = [name for name, calls in self.calls.items() if not calls and name not in self.skipped]
        if silent:
            raise RuntimeError(f"the input of {len(silent)} modules was never normalised, such as {silent[0]}")

    @torch.no_grad()
    def calibrate(self, model: nn.Module, batches: Iterable[Mapping[str, Any]]) -> None:
        """Measure the modules' median norms on `batches` (keyword arguments of the model), without changing inputs."""
        self._norms, training = {}, [(one, one.training) for one in model.modules()]
        try:
            model.eval()
            for batch in batches:
                model(**batch)
        finally:
            found, self._norms = self._norms, None
            for one, was in training:
                one.training = was
        if not found:
            raise ValueError("no batch reached a module with an adapter, so there is nothing to measure")
        for name, norms in found.items():
            self.medians[name] = max(torch.cat(norms).median().item(), _LEAST)
        known = [log(one) for one in self.medians.values() if one]
        self._middle = exp(sum(known) / len(known)) if known else 0.0
        self.calls = dict.fromkeys(self.calls, 0)

    def _hook(self, name: str, adapter: nn.Module) -> Callable[..., Tensor | tuple[Any, ...]]:
        """adapter: `lora_A`, linear (inputs [..., features]) or a convolution (inputs [rows, channels, ...])."""
        dim = 1 if isinstance(adapter, nn.modules.conv._ConvNd) else -1  # noqa: SLF001 - torch has no public name

        def before(module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Any, ...]:
            del module
            x, *rest = given
            norm = torch.linalg.vector_norm(x, dim=dim, keepdim=True, dtype=torch.float32).clamp_min(_LEAST)
            if self._norms is not None:
                self._norms.setdefault(name, []).append(norm.flatten().cpu())
                return given
            self.calls[name] += 1
            return ((x * self._factor(name, norm.detach(), norm, x.shape[dim])).to(x.dtype), *rest)

        return before

    def _factor(self, name: str, seen: Tensor, norm: Tensor, width: int) -> Tensor | float:
        if self.kind == "l2":
            return 1 / norm
        if self.kind == "rms":
            return width**0.5 / norm
        if not self.medians[name]:  # the first batch stands for all, so that the loss stays the same function
            self.medians[name] = max(seen.median().item(), _LEAST)
        return self._middle / self.medians[name] if self.kind == "module" else self.medians[name] / norm


def normalize_inputs(
    peft_model: nn.Module,
    kind: str = "scale",
    *,
    modules: str | Iterable[str] | None = None,
    batches: Iterable[Mapping[str, Any]] | None = None,
) -> NormalizedInputs:
    """Change what the LoRA matrices A of a PEFT model see, and nothing of the base's own path.

    With x of shape [..., features] and c the median norm of a module's inputs over tokens, A gets
    "scale": c x / |x|, which takes away how tokens differ in size and nothing else;
    "l2": x / |x|, which also divides the step by |x| as a lower rate would, so by itself it proves nothing;
    "rms": x / rms(x); "module": x m / c with m the geometric mean of all c, which takes away how modules differ.

    modules: ends of module names, as PEFT matches a list; None for every adapter. batches: keyword arguments of the
    model, such as {"input_ids": [rows, tokens]}, to measure c on; without them the first forward pass of each module
    sets its c for good ("module" needs them). Norms are taken in fp32.

    Returns a handle with `remove()`, also a context manager. While it is installed, saving and merging raise
    RuntimeError; so give a Trainer `save_strategy="no"`. Raises ValueError for an unknown kind, for modules that match
    nothing or have such hooks already, for batches that reach none of them, and for DoRA and merged adapters, whose
    arithmetic a hook would break or never meet.
    """
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is none of {', '.join(KINDS)}")
    if kind == "module" and batches is None:
        raise ValueError('kind "module" compares modules first: give batches')
    handle = NormalizedInputs(peft_model, _layers(peft_model, modules), kind)
    if batches is not None:
        try:
            handle.calibrate(peft_model, batches)
        except BaseException:
            handle.remove()
            raise
    return handle


def _layers(model: nn.Module, modules: str | Iterable[str] | None) -> dict[str, Any]:
    """The layers with LoRA adapters, by name. Raises ValueError where there is nothing that a hook may change."""
    ends = None if modules is None else (modules,) if isinstance(modules, str) else tuple(modules)
    found = {
        name: one
        for name, one in model.named_modules()
        if isinstance(getattr(one, "lora_A", None), nn.ModuleDict)
        and (ends is None or any(name == end or name.endswith(f".{end}") for end in ends))
    }
    if not found:
        raise ValueError("no layer with a LoRA adapter" + (f" is named {' or '.join(ends)}" if ends else " is there"))
    for name, one in found.items():
        if any(one.__dict__.get(saving) is _refuse for saving in _SAVING):
            raise ValueError(f"the inputs of {name} are normalised already: take those hooks off first")
        if any(getattr(one, "use_dora", {}).values()):
            raise ValueError(f"{name} is DoRA, which puts an identity through lora_A for its norm: not supported")
        if one.merged:
            raise ValueError(f"{name} is merged into its base, so no hook would run: unmerge it first")
    return found


def _refuse(*given: Any, **more: Any) -> None:
    """Stand in for what must not happen."""
    del given, more
    raise RuntimeError(f"{_REFUSED}; take them off first: handle.remove()")
