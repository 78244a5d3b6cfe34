"""A cut model, trained for a short while so that it knows language again, and kept in the user's cache.

As it is cut it stands near chance or far above it; what knows nothing cannot be broken, so no probe runs on it. The key
in the cache is a hash of the weights, the text and the settings here.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor, nn

from loralint.probe.loss import token_loss
from loralint.version import __version__

STEPS = 170
_WARM, _FLOOR = 15, 0.1
_ROWS, _FEWER, _MANY = 12, 4, 60e6  # rows a step, fewer on a CPU for a cut of more parameters: it shall take minutes
_PEAK, _WIDTH = 6e-4, 640  # rate of cuts so wide; wider ones take it lower by their width
_SETTINGS = f"{STEPS} {_ROWS} {_FEWER} {_MANY:g} {_WARM} {_FLOOR} {_PEAK} {_WIDTH} fp32 on a CPU"


def heal(model: nn.Module, rows: Tensor, width: int, tell: Callable[[str], None]) -> None:
    """Train all of a cut on rows of text, or take what an earlier call made of it. width: of its residual stream.

    tell: hears of it where it takes minutes. The weights come out in bf16's precision, as the cache keeps them.
    """
    path = os.path.join(_home(), f"{_key(model, rows)}.safetensors")
    if _restored(model, path):
        return
    each = rows_a_step(model, rows.device.type)
    tell(f"a cut of a large model is healed first: {STEPS} steps of {each}x{rows.shape[1]} tokens, once")
    _train(model, rows, each, _PEAK * min(1.0, _WIDTH / width))
    with torch.no_grad():
        for one in model.parameters():
            one.copy_(one.bfloat16())
    _keep(model, path)


def rows_a_step(model: nn.Module, device: str) -> int:
    """Rows of text in a step of healing."""
    parameters = sum(one.numel() for one in model.parameters())
    return _FEWER if device == "cpu" and parameters > _MANY else _ROWS


def _train(model: nn.Module, rows: Tensor, each: int, peak: float) -> None:
    parameters = [one.requires_grad_() for one in model.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=peak, betas=(0.9, 0.98), weight_decay=0.0, fused=True)
    generator = torch.Generator().manual_seed(1)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = peak * min(1.0, (step + 1) / _WARM) * max(_FLOOR, 1 - step / STEPS)
        batch = rows[torch.randint(0, len(rows), (each,), generator=generator)]
        # A CPU without units for bf16 takes four times as long with it as in fp32.
        with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=rows.device.type != "cpu"):
            loss = token_loss(model(batch), batch).sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad()
    model.requires_grad_(requires_grad=False)


def _home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
    return os.path.join(cache, "loralint", "probe")


def _key(model: nn.Module, rows: Tensor) -> str:
    digest = hashlib.sha256(f"{__version__} {_SETTINGS}".encode())
    for name, one in [*model.state_dict().items(), ("rows", rows)]:
        digest.update(f"{name} {tuple(one.shape)}".encode())
        digest.update(one.cpu().contiguous().numpy())
    return digest.hexdigest()[:32]


def _restored(model: nn.Module, path: str) -> bool:
    """Whether the cache has the healed weights; they are then in the model."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not os.path.isfile(path):
        return False
    try:
        found = load_file(path)
        model.load_state_dict({name: one.float() for name, one in found.items()})
    except (OSError, SafetensorError, RuntimeError):  # none, or not whole: it is made again
        return False
    model.requires_grad_(requires_grad=False)
    return True


def _keep(model: nn.Module, path: str) -> None:
    """Write them beside the place and then into it, so that no reader sees half a file; a full disk is no fault."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    with suppress(OSError, SafetensorError):  # the second is what a full disk is to safetensors
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=os.path.dirname(path))
        os.close(handle)
        try:
            save_file({name: one.bfloat16().cpu().contiguous() for name, one in model.state_dict().items()}, beside)
            os.replace(beside, path)
        except BaseException:  # Ctrl-C too
            os.remove(beside)
            raise
