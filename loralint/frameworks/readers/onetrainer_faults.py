"""What OneTrainer (23df3832) refuses where one key alone does not tell.

Sources: modules/util/create.py, modules/trainer/GenericTrainer.py,
modules/modelSetup/mixin/ModelSetupDiffusionLossMixin.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_OWN_STEP = ("stochastic_rounding", "fused_back_pass")  # both take the step of Adam apart
_TORCHS = ("fused", "foreach")
_NOISE = (
    "STABLE_DIFFUSION_15",
    "STABLE_DIFFUSION_2",
    "STABLE_DIFFUSION_XL",
    "PIXART",
    "SANA",
    "WUERSTCHEN",
    "STABLE_CASCADE",
)
_OF_NOISE = frozenset({"P2", "MIN_SNR_GAMMA", "DEBIASED_ESTIMATION"})


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe Adam's step taken over twice, a weight of the loss for other models, and what threads or GPUs bar."""
    root = document.root
    if root is None:
        return []
    return [*_stepped_twice(document, root), *_weight(document, root), *_shared(document, root)]


def _read(root: Node, key: str) -> object:
    pair = find(root, key)
    return value(pair.value, "json") if pair is not None and pair.value.kind == "scalar" else None


def _at(document: Document, root: Node, key: str, message: str, to: str) -> Observation:
    pair = find(root, key)
    assert pair is not None
    return Observation("rejected", place(document, pair, key), "crash", message, to, "value", "onetrainer")


def _stepped_twice(document: Document, root: Node) -> Iterator[Observation]:
    if _read(root, "optimizer.optimizer") not in ("ADAM", "ADAMW"):
        return
    own = [key for key in _OWN_STEP if _read(root, f"optimizer.{key}") is True]
    for key in _TORCHS if own else ():
        if _read(root, f"optimizer.{key}") is True:
            yield _at(document, root, f"optimizer.{key}", f"`{own[0]}` is only allowed without it", "false")


def _weight(document: Document, root: Node) -> Iterator[Observation]:
    model, weight = _read(root, "model_type"), _read(root, "loss_weight_fn")
    if not isinstance(model, str) or not isinstance(weight, str):
        return
    noise = model.startswith(_NOISE)
    if (weight in _OF_NOISE and not noise) or (weight == "SIGMA" and noise):
        other = "a flow" if noise else "noise"
        message = (
            f"it weighs the steps of models that predict {other}, and {model} predicts {'noise' if noise else 'a flow'}"
        )
        yield _at(document, root, "loss_weight_fn", message, '"CONSTANT"')


def _shared(document: Document, root: Node) -> Iterator[Observation]:
    fused, several = _read(root, "optimizer.fused_back_pass"), _read(root, "multi_gpu")
    if fused is True and several is True and _read(root, "fused_gradient_reduce") is False:
        message = "with several GPUs and fused_back_pass gradients have to be reduced in the same pass"
        yield _at(document, root, "fused_gradient_reduce", message, "true")
    threads, away = _read(root, "dataloader_threads"), _read(root, "text_encoder.offload_fraction")
    if isinstance(threads, int) and threads > 1 and isinstance(away, (int, float)) and away > 0:
        message = "layers of a text encoder cannot be moved away while several threads fill the caches"
        yield _at(document, root, "dataloader_threads", message, "1")
