"""The cards of this machine, for `--gpu auto`: asked of the driver's own tool, without torch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from loralint.knowledge.hardware import gpu

_SECONDS = 20.0
_ASKED = ("--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
_SLICE = re.compile(r"MIG ([0-9]g\.[0-9]+gb)", re.IGNORECASE)
_NAME_IT = "name the card, as in --gpu T4"


class Unseen(Exception):  # noqa: N818 - an answer: why the card is not known
    """Why the cards of this machine are not known."""


def here() -> str:
    """The cards that a run on this machine may see, such as `A100-80GBx8`. Raises Unseen with the reason."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        raise Unseen(f"no nvidia-smi on this machine, which would tell of NVIDIA's cards: {_NAME_IT}")
    rows = [row.rpartition(",") for row in _told(tool, *_ASKED).splitlines() if "," in row]
    names = [_sized(name.strip(), memory.strip()) for name, _, memory in rows]
    slices = _SLICE.findall(_told(tool, "-L"))
    if slices:
        names = [f"{names[0]}-MIG-{one}" for one in slices] if names else []
    seen = _visible(names)
    if not seen:
        raise Unseen(f"nvidia-smi lists no card that this shell may use: {_NAME_IT}")
    if len(set(seen)) > 1:
        raise Unseen(f"several kinds of cards ({', '.join(dict.fromkeys(seen))}): name one, as in --gpu T4")
    return f"{seen[0]}x{len(seen)}"


def _told(tool: str, *arguments: str) -> str:
    try:
        # the driver's own tool, found on the PATH of whoever asks for it
        done = subprocess.run(  # noqa: S603
            (tool, *arguments), capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise Unseen(f"nvidia-smi does not answer: {_NAME_IT}") from error
    return done.stdout


def _sized(name: str, mebibytes: str) -> str:
    """The name with its memory, where it is sold in several sizes. Raises Unseen for a card that is not listed."""
    found = gpu(name)
    if found is None:
        raise Unseen(f"`{name[:80]}` is not in the list of cards (`loralint golden gpu` shows it): {_NAME_IT}")
    if found.memory_gib is None and found.memory_options and mebibytes.isdigit():
        size = min(found.memory_options, key=lambda option: abs(option - int(mebibytes) / 1024))
        return f"{found.name}-{size:g}GB"
    return found.name


def _visible(names: list[str]) -> list[str]:
    """Those that CUDA_VISIBLE_DEVICES leaves, by number; by any other name of a device as many as it lists."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return names
    words = [word.strip() for word in listed.split(",") if word.strip()]
    if not all(word.isdigit() for word in words):
        return names[: len(words)]
    return [names[int(word)] for word in words if int(word) < len(names)]
