"""What a training step takes, tensor by tensor, against the formulas of `loralint.facts.memory`.

`python benchmarks/memory.py` builds models of real sizes with Transformers and PEFT, without a number in them (torch's
fake tensors), takes two training steps and adds up every tensor that is alive, operation by operation. That is what the
allocator of a GPU would be asked for, the kernels' own workspaces apart. Needs torch, transformers and peft; no GPU and
no download.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from memory_cases import CASES, GIB, SIZES, Case, model_of, plan, train
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from loralint.facts.memory.peak import parts


class Alive(TorchDispatchMode):
    """Adds up the storages that are alive; sizes in whole 512 bytes, as the CUDA allocator gives them out."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._seen: set[int] = set()

    def add(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata  # noqa: SLF001 - the identity of a storage has no other name
        if key not in self._seen:
            size = -(-storage.nbytes() // 512) * 512
            self._seen.add(key)
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._drop, key, size)

    def _drop(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self.now -= size

    def __torch_dispatch__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        made = function(*args, **(kwargs or {}))
        for one in tree_leaves(made):
            if isinstance(one, Tensor):
                self.add(one)
        return made


@contextmanager
def fake(model: nn.Module) -> Iterator[nn.Module]:
    """The model's weights as fake tensors on the CPU: shapes and bytes, no numbers."""
    # Transformers looks into the positions for packed rows, and these have no numbers; None is what it finds otherwise
    unpacked = patch("transformers.masking_utils.find_packed_sequence_indices", lambda _: None)
    with unpacked, FakeTensorMode(allow_non_fake_inputs=True):
        made: dict[int, Tensor] = {}
        for module in model.modules():
            for kind in (module._parameters, module._buffers):  # noqa: SLF001 - the only way to put others there
                for name, one in kind.items():
                    if one is not None:
                        kind[name] = made.setdefault(id(one), _alike(one))
        yield model


def _alike(one: Tensor) -> Tensor:
    empty = torch.empty(one.shape, dtype=one.dtype)
    is_weight = isinstance(one, nn.Parameter)
    return nn.Parameter(empty, requires_grad=one.requires_grad) if is_weight else empty


def simulated(case: Case) -> dict[str, int]:
    """Bytes at the peak of each phase of the second step, and of the weights alone."""
    return simulated_model(model_of(case), case, SIZES[case.size].vocabulary)


def simulated_model(bare: nn.Module, case: Case, vocabulary: int) -> dict[str, int]:
    """The same of any model, which is on the meta device."""
    peaks: dict[str, int] = {}
    with fake(bare) as model, Alive() as alive:
        for one in (*model.parameters(), *model.buffers()):
            alive.add(one.data)
        peaks["weights"] = alive.now
        alive.peak = alive.now
        for phase in train(model, case, "cpu", vocabulary):
            peaks[phase] = alive.peak
            alive.peak = alive.now
    return peaks


def main() -> None:
    words = sys.argv[1:]
    print(f"{'configuration':48} formula tensors ratio")
    for case in CASES:
        if words and not any(word in case.name for word in words):
            continue
        told, seen = parts(plan(case)), simulated(case)
        peak = max(seen.values())
        print(
            f"{case.name:48} {told.total / GIB:7.2f} {peak / GIB:7.2f} {told.total / peak:5.3f}  {told.moment}",
            flush=True,
        )


if __name__ == "__main__":
    main()
