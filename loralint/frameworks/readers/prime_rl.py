"""prime-rl's RL trainer (559b4477 read): `trainer`, `orchestrator` and `inference`, with what they share at the root.

An adapter is on where its table stands; its weights have the dtype that the trainer keeps the model's in. Names of
layers that a model does not have are passed over, so that its own list covers several architectures.
Sources: packages/prime-rl-configs (trainer.py, rl.py, sft.py), src/prime_rl/trainer/lora.py (scale alpha / rank),
trainer/models/layers/lora/multi_linear.py (dtype of the adapter).
"""

from __future__ import annotations

from loralint.frameworks.convert import dtype, long_dtype, lower, never, not_null
from loralint.frameworks.table import SKIP, Entry, Look, Reader
from loralint.model import Unknown

_OWN = Unknown("prime-rl's own list of layers covers several architectures")
_WARM_UP = 10  # steps of the schedules that have one


def _lora(answer: object) -> object:
    def default(look: Look) -> object:
        return answer if look.get("adapter.method").value == "lora" else SKIP

    return default


def _warm_up(look: Look) -> object:
    return _WARM_UP if look.get("schedule.name").value in ("linear", "cosine") else SKIP


def _adapter(prefix: str, *, now: bool = True) -> tuple[Entry, ...]:
    """The rows of an adapter's table. now: it stands there today, so that it can be written."""

    def row(field: str, key: str, default: object) -> Entry:
        return Entry(field, f"{prefix}.{key}", not_null, not_null if now else never, _lora(default) if now else SKIP)

    return (
        Entry("adapter.method", prefix, lambda _table: "lora", never, "full" if now else SKIP),
        row("adapter.rank", "rank", 16),
        row("adapter.alpha", "alpha", 32.0),
        row("adapter.dropout", "dropout", 0.0),
        row("adapter.targets", "target_modules", _OWN),
        row("adapter.modules_to_save", "modules_to_save", []),
    )


def trainer(prefix: str) -> tuple[Entry, ...]:
    """The rows of what trains, at the root or below a section whose name ends in a dot."""
    return (
        Entry("model.base", f"{prefix}model.name", not_null),
        Entry("model.dtype", f"{prefix}model.optimization_dtype", dtype, long_dtype, "fp32"),
        *_adapter(f"{prefix}model.lora"),
        *_adapter(f"{prefix}model.experimental.lora", now=False),  # until 2026
        Entry("adapter.dtype", f"{prefix}model.optimization_dtype", dtype, never, _lora("fp32")),
        Entry("optim.name", f"{prefix}optim.type", lower, default="adamw"),
        Entry("optim.lr", f"{prefix}optim.lr", not_null, default=1e-6),
        Entry("optim.weight_decay", f"{prefix}optim.weight_decay", not_null, default=0.01),
        Entry("optim.beta1", f"{prefix}optim.betas1", not_null),
        Entry("optim.beta2", f"{prefix}optim.betas2", not_null),
        Entry("optim.max_grad_norm", f"{prefix}optim.max_norm", not_null, default=1.0),
        Entry("schedule.name", f"{prefix}scheduler.type", lower, default="constant"),
        Entry("schedule.warmup_steps", f"{prefix}scheduler.warmup_steps", not_null, default=_warm_up),
        Entry("dist.fsdp", "", write=never, default=True),
    )


SHARED = (
    Entry("train.max_steps", "max_steps", not_null),
    Entry("checkpoint.output_dir", "output_dir", not_null, default="outputs"),
    Entry("checkpoint.save_steps", "ckpt.interval", not_null),
)
TABLE = (
    Entry("model.base", "model.name", not_null),
    *trainer("trainer."),
    *SHARED,
    Entry("train.task", "", write=never, default="grpo"),
    Entry("data.sequence_len", "seq_len", not_null),
)

READER = Reader(
    name="prime-rl",
    title="prime-rl",
    dialect="toml",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("prime-rl",),
)
