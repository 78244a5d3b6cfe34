"""Batches that verl refuses: most of them when it validates its config, before it loads anything.

Source: verl 0.3 to 0.9.1 and 1dda039b9, `utils/config.py` (validate_config, until 0.5 in `trainer/ppo/ray_trainer.py`),
`workers/config/` and `workers/engine/utils.py`. With use_dynamic_bsz none of it is checked, and the fully asynchronous
trainer has no batch of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.lookup import find, loader
from loralint.frameworks.observe import place
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import value

_ACTOR, _CRITIC, _ROLLOUT = "actor_rollout_ref.actor.", "critic.", "actor_rollout_ref.rollout."
_ROWS = "data.train_batch_size"
_DEVICES = ("trainer.n_gpus_per_node", "trainer.nnodes")
_TWICE = (
    f"{_ACTOR}ppo_micro_batch_size", f"{_CRITIC}ppo_micro_batch_size", f"{_ROLLOUT}log_prob_micro_batch_size",
    "actor_rollout_ref.ref.log_prob_micro_batch_size",
)  # fmt: skip
_LOG_PROBS = _TWICE[2:]
# Trainers of their own, which validate no config.
_UNCHECKED = ("verl.experimental.vla",)
_REF = "actor_rollout_ref.ref."
# where keys are looked for in vain, and where they are (trainer/config/_generated_ppo_trainer.yaml)
_HOMES = (
    ((_ROLLOUT, _REF), ("ppo_mini_batch_size", "ppo_micro_batch_size", "ppo_micro_batch_size_per_gpu", "ppo_epochs"),
     _ACTOR),
    ((_ACTOR, _ROLLOUT, _REF, "actor_rollout_ref."), ("lora_rank", "lora_alpha", "target_modules", "exclude_modules"),
     "actor_rollout_ref.model."),
)  # fmt: skip


def observe_batches(document: Document, look: Look) -> list[Observation]:
    """Observe batches that do not fit into one another, as far as the file or the command says them all."""
    root = document.root
    if root is None or not look.version_is("verl>=0.3"):
        return []
    found = [*_twice(document, root), *_split(document, root), *_batched(document, root), *_misplaced(document, root)]
    checked = root.pair("async_training") is None and not any(one in document.text for one in _UNCHECKED)
    if checked and _said(document, f"{_ACTOR}use_dynamic_bsz") in (None, False):
        found += [*_mini(document, root), *_spread(document, root), *_no_rows(document, root)]
    return found


def _said(document: Document, key: str) -> object:
    """What a key holds, None where it is absent; a text of a placeholder is as good as any, and `null` is none."""
    pair = find(document.root, key) if document.root is not None else None
    dialect = loader(document, "omegaconf")
    said = value(pair.value, dialect) if pair is not None and pair.value.kind == "scalar" else None
    return None if said == "null" else said


def _count(document: Document, key: str) -> int | None:
    number = _said(document, key)
    return number if isinstance(number, int) and not isinstance(number, bool) and number > 0 else None


def _mini(document: Document, root: Node) -> Iterator[Observation]:
    """A step of the optimizer over more prompts than are taken at once."""
    rows = _count(document, _ROWS)
    for part in (_ACTOR, _CRITIC):
        key = f"{part}ppo_mini_batch_size"
        size = _count(document, key)
        if rows is not None and size is not None and size > rows:
            message = f"verl stops before it loads anything, since {_ROWS} {rows} is below it; both count prompts"
            yield _refused(document, root, key, message, f"write {rows} or fewer, or a larger {_ROWS}", _ROWS)


def _spread(document: Document, root: Node) -> Iterator[Observation]:
    """Completions that cannot be shared out evenly; with Megatron it is not the GPUs that share them."""
    rows, each = _count(document, _ROWS), _count(document, f"{_ROLLOUT}n")
    devices = [_count(document, key) for key in _DEVICES]
    if rows is None or each is None or None in devices or "megatron" in document.text:
        return
    world = (devices[0] or 1) * (devices[1] or 1)
    if rows * each % world:
        message = f"verl stops before it loads anything, since {rows} prompts x {each} are no multiple of {world} GPUs"
        yield _refused(document, root, _ROWS, message, f"write a multiple of {world}", _DEVICES[0])


def _split(document: Document, root: Node) -> Iterator[Observation]:
    """Rows that are split over GPUs while their padding is kept."""
    for part, home in ((_ACTOR, "actor_rollout_ref.model."), (_CRITIC, f"{_CRITIC}model.")):
        key = f"{home}use_remove_padding"
        sizes = (_count(document, f"{part}{more}ulysses_sequence_parallel_size") for more in ("", "fsdp_config."))
        if _said(document, key) is False and any(size is not None and size > 1 for size in sizes):
            message = "verl stops before it loads anything: rows are split over GPUs, which takes rows without padding"
            yield _refused(document, root, key, message, f"write {key}=True", f"{part}ulysses_sequence_parallel_size")


def _batched(document: Document, root: Node) -> Iterator[Observation]:
    """Rows longer than vLLM takes at once, where it may not take them in parts."""
    key = f"{_ROLLOUT}max_num_batched_tokens"
    limit = _count(document, key)
    lengths = [_count(document, f"data.{name}") for name in ("max_prompt_length", "max_response_length")]
    if limit is None or None in lengths or _said(document, f"{_ROLLOUT}max_model_len") is not None:
        return
    longest = (lengths[0] or 0) + (lengths[1] or 0)
    if limit < longest and _said(document, f"{_ROLLOUT}enable_chunked_prefill") is False:
        message = f"vLLM stops at start: prompt and response have {longest} tokens, and without chunked prefill all of "
        message += "them have to fit"
        advice = f"write {longest} or more, or enable_chunked_prefill=True"
        yield _refused(document, root, key, message, advice, f"{_ROLLOUT}enable_chunked_prefill")


def _no_rows(document: Document, root: Node) -> Iterator[Observation]:
    """No row at all in a pass that computes probabilities: verl divides by their number."""
    for key in (name + suffix for name in _LOG_PROBS for suffix in ("", "_per_gpu")):
        if _said(document, key) == 0:
            message = "verl stops at the first step: it divides the completions by this number"
            yield _refused(document, root, key, message, "write 1 or more", "")


def _twice(document: Document, root: Node) -> Iterator[Observation]:
    """The old name of a size beside the new one."""
    for key in _TWICE:
        if _said(document, key) is not None and _said(document, f"{key}_per_gpu") is not None:
            message = f"verl stops before it loads anything, since `{key}_per_gpu` stands beside it"
            yield _refused(document, root, key, message, f"leave {key} out", f"{key}_per_gpu")


def _misplaced(document: Document, root: Node) -> Iterator[Observation]:
    """Sizes of the optimizer's step where there is no optimizer, and what belongs to the adapter beside the model."""
    for homes, names, home in _HOMES:
        for key, name in ((f"{part}{name}", name) for part in homes for name in names):
            if find(root, key) is not None and not _added(document, key):
                message = f"Hydra stops before anything starts: `{home[:-1]}` has this key, and this part has not"
                yield _refused(document, root, key, message, f"write {home}{name}", f"{home}{name}")


def _added(document: Document, key: str) -> bool:
    """Whether the command adds a key with `+`, which Hydra lets it do."""
    return f"+{key}=" in document.text


def _refused(document: Document, root: Node, key: str, message: str, advice: str, beside: str) -> Observation:
    pair, other = find(root, key), find(root, beside)
    assert pair is not None
    second = place(document, other, beside) if other is not None else None
    where = place(document, pair, key)
    return Observation(
        "rejected", where, "crash", message, package="verl", other=second, data={"advice": advice}
    )  # fmt: skip
