"""diffusion-pipe (8f83dbf2 read): TOML with the sections model, adapter and optimizer; without an adapter all trains.

Alpha is always the rank, and the key is refused. Optimizers named `...Kahan` or of optimi keep small updates of bf16.
Sources: train.py, examples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null, one_to_list
from loralint.frameworks.key_list import top_keys
from loralint.frameworks.lookup import closest, find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import TASK, family
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader
from loralint.source.document import Document, Node
from loralint.source.scalars import plain

_SAVES = ("save_every_n_epochs", "save_every_n_steps", "save_every_n_examples")
_CHECKPOINTING = (True, False, "unsloth")
_SCHEDULES = ("constant", "linear", "cosine")
_FAMILIES = {
    "stable_diffusion_15": "sd15",
    "hunyuan-video": "hunyuan_video",
    "lumina_2": "lumina2",
    "z_image": "z_image",
}

# models whose class has no way to swap blocks
_WHOLE = frozenset({"ltx-video", "sdxl", "cosmos", "lumina_2", "sd3", "omnigen2"})
# what DeepSpeed calls a setting of its own, which train.py hands it under another name
_NAMES = {"train_micro_batch_size_per_gpu": "micro_batch_size_per_gpu"}
# what models alone ask for, in [model]. Source: models/*.py
_OF_MODEL = frozenset({
    "min_t", "max_t", "timestep_sample_method", "sigmoid_scale", "shift", "flux_shift", "transformer_dtype", "v_pred",
    "min_snr_gamma", "debiased_estimation_loss", "unet_lr", "text_encoder_1_lr", "text_encoder_2_lr", "ckpt_path",
    "transformer_path", "diffusers_path", "first_frame_conditioning_p",
})  # fmt: skip
_HIGH = re.compile(r"(?i)wan.{0,200}high[ ._-]?noise")
_TWO_MODELS = re.compile(r"(?i)wan2\.2-(?:t2v|i2v)-a14b/?$")


def _family(word: object) -> object:
    return _FAMILIES.get(str(word), family(word))


def _beta(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) > index else SKIP


def _on(word: object) -> object:
    """Read `unsloth` as another way of true."""
    return bool(word)


def _rank(look: Look) -> object:
    return look.get("adapter.rank").value


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _model_dtype(look: Look) -> object:
    return look.get("model.dtype").value if look.get("adapter.method").value == "lora" else SKIP


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe an alpha, which is refused, and a run that saves nothing, which stops at an assertion."""
    root = document.root
    found = []
    alpha = find(root, "adapter.alpha") if root is not None else None
    if alpha is not None:
        message = "diffusion-pipe refuses the key: alpha is always the rank"
        found.append(
            Observation("rejected", place(document, alpha, "adapter.alpha"), "crash", message, "", "remove",
                        "diffusion-pipe")
        )  # fmt: skip
    if root is not None and root.pair("output_dir") is not None and not any(root.pair(key) for key in _SAVES):
        found.append(_saves_nothing(document, root))
    found += [*_refused(document), *_without_transformer(document), *_unread_tables(document)]
    return [*found, *_of_the_model(document), *_half(document)]


def _of_the_model(document: Document) -> Iterator[Observation]:
    """Settings of the model outside of its table, where nobody looks for them."""
    root = document.root
    for pair in root.pairs if root is not None else ():
        inner = pair.value.pairs if pair.value.kind == "mapping" and pair.key in ("adapter", "monitoring") else ()
        for one in (pair, *inner):
            if one.key in _OF_MODEL:
                dotted = one.key if one is pair else f"{pair.key}.{one.key}"
                message = f"`{one.key}` is asked for in [model] alone"
                told = {"advice": f"move `{one.key}` into [model]"}
                where = place(document, one, dotted)
                yield Observation("ignored", where, "changed", message, package="diffusion-pipe", data=told)


def _half(document: Document) -> Iterator[Observation]:
    """The half of Wan 2.2 for much noise, on all time steps."""
    root = document.root
    path = find(root, "model.transformer_path") if root is not None else None
    if root is None or path is None or not _HIGH.search(path.value.raw) or find(root, "model.min_t") is not None:
        return
    advice = "add min_t = 0.875 and max_t = 1 to [model] (0.9 for i2v)"
    yield Observation("half-range", place(document, path, "model.min_t"), "changed", "", data={"advice": advice})


def _unread_tables(document: Document) -> Iterator[Observation]:
    """Settings in a table of their own, as `[training]`: train.py reads them at the top of the file alone."""
    root, known = document.root, top_keys("diffusion_pipe")
    for table in root.pairs if root is not None else ():
        if table.key in known or table.value.kind != "mapping":
            continue
        inside = [pair for pair in table.value.pairs if _NAMES.get(pair.key, pair.key) in known]
        if inside:
            key = _NAMES.get(inside[0].key, inside[0].key)
            message = f"train.py asks for `{key}` at the top of the file, and never for [{table.key}]"
            names = ", ".join(_NAMES.get(one.key, one.key) for one in inside)
            told = {"advice": f"write {names} above the first table"}
            where = place(document, inside[0], f"{table.key}.{inside[0].key}")
            yield Observation("ignored", where, "changed", message, package="diffusion-pipe", data=told)


def _without_transformer(document: Document) -> list[Observation]:
    """Wan 2.2 A14B holds two models in folders of their own, and none at the root of its checkpoint."""
    root = document.root
    path, named = (
        find(root, f"model.{key}") if root is not None else None for key in ("ckpt_path", "transformer_path")
    )
    if path is None or named is not None or not _TWO_MODELS.search(path.value.raw):
        return []
    message = "this checkpoint holds its two models in folders of their own, and no `transformer_path` names one"
    told = {"advice": f"add transformer_path = '{path.value.raw.rstrip('/')}/low_noise_model' (or high_noise_model)"}
    where = place(document, path, "model.ckpt_path")
    return [Observation("rejected", where, "crash", message, package="diffusion-pipe", data=told)]


def _saves_nothing(document: Document, root: Node) -> Observation:
    """Point at what seems to be meant for one of the keys, else at where it would save."""
    message = "diffusion-pipe stops at an assertion unless one of `save_every_n_epochs` and its kin is set"
    meant = next(
        ((pair, found) for pair in root.pairs if pair.key.startswith("save") and (found := closest(pair.key, _SAVES))),
        None,
    )
    if meant is not None:
        where = place(document, meant[0], meant[0].key)
        return Observation("rejected", where, "crash", message, meant[1], "key", "diffusion-pipe")
    pair = root.pair("output_dir")
    assert pair is not None
    data = {"advice": "write `save_every_n_epochs = 1` beside it, or `save_every_n_steps`"}
    where = place(document, pair, "output_dir")
    return Observation("rejected", where, "crash", message, package="diffusion-pipe", data=data)


def _refused(document: Document) -> list[Observation]:
    """Values that train.py asserts away or has no branch for."""
    root = document.root
    if root is None:
        return []
    swaps = bool(_scalar(document, "blocks_to_swap", default=0))
    faults = {
        "blocks_to_swap": swaps and (
            (_scalar(document, "pipeline_stages", default=1) != 1 and "blocks are swapped with one pipeline stage only")
            or (root.pair("adapter") is None and "blocks are swapped only where an adapter trains")
            or (_model(root) in _WHOLE and f"blocks are not swapped for {_model(root)}")
        ),
        "lr_scheduler": _scalar(document, "lr_scheduler", default="constant") not in _SCHEDULES
        and f"the schedules are {', '.join(_SCHEDULES)}",
        "activation_checkpointing": _scalar(document, "activation_checkpointing", default=False) not in _CHECKPOINTING
        and "it is true, false or 'unsloth'",
    }  # fmt: skip
    told = ((root.pair(key), key, message) for key, message in faults.items() if message)
    return [
        Observation("rejected", place(document, pair, key), "crash", str(message), package="diffusion-pipe")
        for pair, key, message in told
        if pair is not None
    ]


def _model(root: Node) -> str:
    pair = find(root, "model.type")
    return pair.value.raw if pair is not None else ""


def _scalar(document: Document, key: str, *, default: object) -> object:
    pair = document.root.pair(key) if document.root is not None else None
    return plain(pair.value, document.format) if pair is not None and pair.value.kind == "scalar" else default


TABLE = (
    TASK,
    Entry("model.diffusion_family", "model.type", _family, never),
    *(Entry("model.base", f"model.{key}", not_null, never) for key in (
        "diffusers_path", "checkpoint_path", "transformer_path", "ckpt_path", "diffusion_model",
    )),
    Entry("model.dtype", "model.dtype", dtype, long_dtype),
    Entry("adapter.method", "adapter.type", lower, default="full"),
    Entry("adapter.rank", "adapter.rank", not_null),
    Entry("adapter.alpha", "", write=never, default=_rank),
    Entry("adapter.dropout", "adapter.dropout", not_null, default=_lora(0.0)),
    Entry("adapter.dtype", "adapter.dtype", dtype, long_dtype, _model_dtype),
    Entry("adapter.resume_from", "adapter.init_from_existing", not_null),
    Entry("adapter.init", "", write=never, default=_lora("true")),
    Entry("optim.name", "optimizer.type", lower),
    Entry("optim.lr", "optimizer.lr", not_null),
    Entry("optim.weight_decay", "optimizer.weight_decay", not_null),
    Entry("optim.beta1", "optimizer.betas", _beta(0), never),
    Entry("optim.beta2", "optimizer.betas", _beta(1), never),
    Entry("optim.eps", "optimizer.eps", not_null),
    Entry("optim.max_grad_norm", "gradient_clipping", not_null, default=1.0),
    Entry("schedule.name", "lr_scheduler", lower, default="constant"),
    Entry("schedule.warmup_steps", "warmup_steps", not_null, default=0),
    Entry("batch.micro", "micro_batch_size_per_gpu", lambda size: size if isinstance(size, int) else SKIP, default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.epochs", "epochs", not_null),
    Entry("train.max_steps", "max_steps", not_null),
    Entry("precision.pure_bf16", "model.dtype", lambda word: True if dtype(word) == "bf16" else SKIP, never),
    Entry("data.datasets", "dataset", one_to_list, never),
    Entry("data.cache_latents", "", write=never, default=True),
    Entry("data.cache_text", "model.cache_text_embeddings", not_null, default=True),
    Entry("checkpoint.output_dir", "output_dir", not_null),
    Entry("checkpoint.save_steps", "save_every_n_steps", not_null),
    Entry("memory.gradient_checkpointing", "activation_checkpointing", _on, default=False),
    Entry("kernel.compile", "compile", not_null, default=False),
)  # fmt: skip

READER = Reader(
    name="diffusion-pipe",
    title="diffusion-pipe",
    dialect="toml",
    table=TABLE,
    keys="diffusion_pipe",
    coerces=False,
    packages=("diffusion-pipe",),
    observe=(observe_faults,),
)
