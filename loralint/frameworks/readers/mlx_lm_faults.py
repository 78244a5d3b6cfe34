"""What mlx-lm stops at or never reads, where a key's name alone does not tell.

Source: mlx-lm 0.32.2 `lora.py` and `tuner/utils.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, plain, value

_DEFAULT_BLOCKS = 16
_REQUIRED = ("scale", "rank", "dropout")
_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj")
_MLP = ("gate_proj", "up_proj", "down_proj", "gate_up_proj")


def observe_faults(document: Document, look: Look) -> list[Observation]:
    """Observe what a mapping lacks, names that match no module of a block, and a rate that the schedule replaces."""
    root = document.root
    if root is None or _word(root, "fine_tune_type") == "full":
        return []
    return [*_parameters(document, root), *_keys(document, root), *_rate(document, root), *_steps(document, root, look),
            *_blocks(document, root, look), *_alpha(document, root, look)]  # fmt: skip


def _word(root: Node, key: str) -> object:
    pair = find(root, key)
    return value(pair.value, "mlx") if pair is not None and pair.value.kind == "scalar" else None


def _parameters(document: Document, root: Node) -> Iterator[Observation]:
    """A mapping replaces the default as a whole, and each of its three values is asked for by name."""
    pair = root.pair("lora_parameters")
    if pair is None or pair.value.kind != "mapping":
        return
    for key in _REQUIRED:
        if pair.value.pair(key) is None:
            message = f"mlx-lm stops when it builds the adapter: `lora_parameters` has no `{key}`"
            yield Observation("rejected", place(document, pair, "lora_parameters"), "crash", message, package="mlx-lm")


def _keys(document: Document, root: Node) -> Iterator[Observation]:
    """`keys` are whole paths within a block; a bare name is none, and is passed over."""
    pair = find(root, "lora_parameters.keys")
    for index, item in enumerate(pair.value.items if pair is not None and pair.value.kind == "sequence" else ()):
        where = "self_attn" if item.raw in _ATTENTION else "mlp" if item.raw in _MLP else ""
        if pair is not None and item.kind == "scalar" and where:
            at = place(document, pair, "lora_parameters.keys")._replace(
                key=f"lora_parameters.keys[{index}]", span=document.span(item), text=item.raw, value=item.raw
            )
            message = "a key is the path of a module within a block, and nothing there has this name alone"
            yield Observation("ignored", at, "lost", message, f"{where}.{item.raw}", "value")


def _rate(document: Document, root: Node) -> Iterator[Observation]:
    """With a schedule the rate is the first of its arguments."""
    pair, arguments = root.pair("learning_rate"), find(root, "lr_schedule.arguments")
    if pair is None or arguments is None or not arguments.value.items or is_template(pair.value.raw):
        return
    first = plain(arguments.value.items[0], "mlx")
    if plain(pair.value, "mlx") not in (None, first) and not is_template(arguments.value.items[0].raw):
        at = place(document, pair, "learning_rate")
        message = "`lr_schedule` brings a rate of its own, the first of its arguments"
        yield Observation("ignored", at, "lost", message, "", "remove")


def _blocks(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    """The old name of `num_layers`, which loses nothing where it says what the default is."""
    pair = root.pair("lora_layers")
    if pair is None or not look.version_is("mlx-lm>=0.19"):
        return
    usual = _word(root, "lora_layers") == _DEFAULT_BLOCKS and root.pair("num_layers") is None
    yield Observation(
        "renamed",
        place(document, pair, "lora_layers"),
        "harmless" if usual else "lost",
        f"mlx-lm reads `num_layers`, by default {_DEFAULT_BLOCKS}, whatever `lora_layers` says",
        "num_layers",
        "key",
        "mlx-lm",
    )


def _steps(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    pair = root.pair("grad_accumulation_steps")
    each, batches = _word(root, "grad_accumulation_steps"), _word(root, "iters")
    if pair is None or not isinstance(each, int) or isinstance(each, bool) or not look.version_is("mlx-lm>=0.28.1"):
        return
    if each < 1:
        at = place(document, pair, "grad_accumulation_steps")
        yield Observation("rejected", at, "crash", "mlx-lm wants at least 1", "1", "value")
    elif isinstance(batches, int) and 0 < batches < each:
        at = place(document, pair, "grad_accumulation_steps")
        message = "`iters` counts batches, and the run ends before the first optimizer step"
        yield Observation("rejected", at, "lost", message)


def _alpha(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    """Alpha, which loses nothing where the scale is what it comes to."""
    pair = find(root, "lora_parameters.alpha")
    if pair is None or not look.version_is("mlx-lm>=0.16"):
        return
    alpha, scale, rank = (_word(root, f"lora_parameters.{key}") for key in ("alpha", "scale", "rank"))
    numbers = [one for one in (alpha, scale, rank) if isinstance(one, (int, float)) and not isinstance(one, bool)]
    agrees = len(numbers) == 3 and abs(numbers[0] - numbers[1] * numbers[2]) < 1e-9
    message = "mlx-lm multiplies BA by `scale` alone, which is alpha over rank of other trainers"
    at = place(document, pair, "lora_parameters.alpha")
    yield Observation("ignored", at, "harmless" if agrees else "lost", message, "", "remove", "mlx-lm")
