"""What musubi-tuner (30c658c4) meets late, or never: weights of another task, caches that hold no first frame, and the
half of a model trained on time steps that are the other's.

A task decides over the architecture that the weights are loaded into, each by its name. Image-to-video training reads
the first frame of each clip from the caches, where the caching script puts it only when it is told to.
Sources: musubi_tuner/wan/configs, wan_train_network.py, wan_cache_latents.py, hv_1_5_{train_network,cache_latents}.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.document import Document, Node, Pair

_TASKS = frozenset({"t2v-1.3B", "t2v-14B", "i2v-14B", "t2i-14B", "i2v-A14B", "t2v-A14B"})
# models of these names have an architecture of their own
_OTHERS = re.compile(r"fun|control|vace|flf|ti2v|5b|animate|s2v|camera")
_NEW, _OLD = re.compile(r"wan[ ._-]?2[._]?2"), re.compile(r"wan[ ._-]?2[._]?1")
_SMALL = re.compile(r"1[._]3b")
# a command of a shell script with the lines that it goes on over
_CACHES = re.compile(r"(?:wan|hv_1_5)_cache_latents(?:\.py)?\b((?:[\\^`]\r?\n|[^\n])*)")
_FIRST_FRAME = re.compile(r"--(?:i2v|clip|image_encoder)\b")
# where the half of Wan 2.2 for much noise takes over, and what says how far it is trained
_STARTS = {"t2v-A14B": 875, "i2v-A14B": 900}
_HIGH = re.compile(r"(?i)high[ ._-]?noise")
_RANGES = ("min_timestep", "dit_high_noise", "config_file")
_OF_IMAGES = ("i2v", "flf2v")


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe both in the flags of a trainer that knows tasks, and the first in a file of them too."""
    root = document.root
    task = root.pair("task") if root is not None else None
    if root is None or task is None or task.value.kind != "scalar":
        return []
    cached = _uncached(document, root) if task.value.raw.startswith(_OF_IMAGES) else ()
    return [*_foreign(document, root, task), *cached, *_half(document, root, task)]


def _half(document: Document, root: Node, task: Pair) -> Iterator[Observation]:
    """The half of Wan 2.2 for much noise alone, on all time steps."""
    weights, start = root.pair("dit"), _STARTS.get(task.value.raw)
    named = start is not None and weights is not None and _HIGH.search(weights.value.raw.rpartition("/")[2])
    if weights is not None and named and not any(root.pair(key) for key in _RANGES):
        advice = f"add --min_timestep {start} --max_timestep 1000, or train both halves with --dit_high_noise"
        where = place(document, weights, "min_timestep")
        yield Observation("half-range", where, "changed", "", data={"advice": advice})


def _foreign(document: Document, root: Node, task: Pair) -> Iterator[Observation]:
    weights = root.get("dit")
    name = weights.raw.replace("\\", "/").rpartition("/")[2].lower() if weights is not None else ""
    wanted = _task_of(name) if task.value.raw in _TASKS else ""
    if wanted and not _same(wanted, task.value.raw):
        message = f"the weights are a model for {wanted} by their name, `{name}`, and do not fit that of this task"
        where = place(document, task, "task")
        yield Observation("rejected", where, "crash", message, wanted, "value", "musubi-tuner")


def _task_of(name: str) -> str:
    """The task that weights are made for, "" where their name does not say it."""
    kinds = [kind for kind in ("i2v", "t2v") if kind in name]
    if len(kinds) != 1 or _OTHERS.search(name) or not name.startswith("wan"):
        return ""
    small, new, old = _SMALL.search(name), _NEW.search(name), _OLD.search(name)
    if kinds[0] == "t2v" and small:
        return "t2v-1.3B"
    return f"{kinds[0]}-A14B" if new else f"{kinds[0]}-14B" if old else ""


def _same(wanted: str, given: str) -> bool:
    """Whether both have one architecture; text to video has the same in 2.1 and 2.2, and makes images too."""
    plain = {"t2v-14B", "t2v-A14B", "t2i-14B"}
    return wanted == given or {wanted, given} <= plain


def _uncached(document: Document, root: Node) -> Iterator[Observation]:
    """The caching command before it in the same script, where it is told of no first frame."""
    dataset = root.get("dataset_config")
    found = [
        match for match in _CACHES.finditer(document.text)
        if document.format == "flags" and dataset is not None and dataset.raw and dataset.raw in match[1]
    ]  # fmt: skip
    if found and not any(_FIRST_FRAME.search(one[1]) or "$" in one[1] for one in found):
        start, end = found[0].start(), found[0].start() + len(found[0][0].split(maxsplit=1)[0])
        where = Value(None, key=document.text[start:end], span=document.span_at(start, end))
        flag = "--image_encoder" if where.key.startswith("hv") else "--clip (--i2v for Wan 2.2, which has no CLIP)"
        message = "the caches hold no first frame, which a model for images to video reads from them"
        data = {"advice": f"cache again with {flag}"}
        yield Observation("cache", where, "crash", message, package="musubi-tuner", data=data)
