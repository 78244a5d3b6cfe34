"""What the GPU that the caller names can do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.need import Missing, known, text
from loralint.facts.scope import Scope, derived
from loralint.model import Value

if TYPE_CHECKING:
    from loralint.knowledge.hardware import Gpu


def name(scope: Scope) -> Value:
    """Its name in the list, whatever spelling was given."""
    return derived(_gpu(scope).name)


def capability(scope: Scope) -> Value:
    """CUDA compute capability, such as 7.5; None for other vendors."""
    gpu = _gpu(scope)
    return derived(_told(gpu, "compute capability", gpu.compute_capability) if gpu.vendor == "nvidia" else None)


def bf16(scope: Scope) -> Value:
    """Whether the hardware multiplies in bf16; torch also answers yes where it only emulates it."""
    gpu = _gpu(scope)
    return derived(_told(gpu, "bf16 support", gpu.bf16))


def tf32(scope: Scope) -> Value:
    """Whether it has TF32 matrix products."""
    gpu = _gpu(scope)
    return derived(_told(gpu, "TF32 support", gpu.tf32))


def flash2(scope: Scope) -> Value:
    """Whether FlashAttention 2 runs on it."""
    gpu = _gpu(scope)
    return derived(_told(gpu, "FlashAttention 2 support", gpu.flash_attention_2))


def fp8(scope: Scope) -> Value:
    """Whether it multiplies in fp8."""
    gpu = _gpu(scope)
    return derived(_told(gpu, "fp8 support", gpu.fp8))


def vendor(scope: Scope) -> Value:
    """nvidia, amd, intel, apple, google, aws or huawei."""
    return derived(_gpu(scope).vendor)


def memory_gib(scope: Scope) -> Value:
    """Nominal memory of one device in GiB."""
    gpu = _gpu(scope)
    if gpu.memory_gib is None and gpu.memory_options:
        sizes = " or ".join(f"{size:g}" for size in gpu.memory_options)
        raise Missing(f"GPU `{gpu.name}` is sold with {sizes} GiB: name the size with --gpu")
    return derived(_told(gpu, "memory", gpu.memory_gib))


def count(scope: Scope) -> Value:
    """How many devices there are, where the caller says so."""
    given = known(scope, "run.gpu_count")
    counted = _parse(scope)[1] if given is None else given
    if not isinstance(counted, int) or isinstance(counted, bool):
        raise Missing("the number of GPUs is unknown (give --gpu NAMExCOUNT)")
    return derived(counted)


def _gpu(scope: Scope) -> Gpu:
    gpu = _parse(scope)[0]
    if gpu is None:
        raise Missing(f"GPU `{known(scope, 'run.gpu')}` is not in the list")
    return gpu


def _parse(scope: Scope) -> tuple[Gpu | None, int | None]:
    given = text(scope, "run.gpu", "no --gpu given")
    from loralint.knowledge.hardware import parse_gpus  # the list is for runs with a card only

    return parse_gpus(given)


def _told(gpu: Gpu, what: str, value: object) -> object:
    if value is None:
        raise Missing(f"the list does not say the {what} of GPU `{gpu.name}`")
    return value
