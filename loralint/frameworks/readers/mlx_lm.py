"""mlx-lm: `mlx_lm.lora --config FILE`, and the adapter_config.json that it saves with the same keys.

A key that nobody reads stays where it is without a word, and null means the default. `lora_parameters` as a whole
replaces its default. `scale` is the multiplier on BA itself, so that alpha is scale times rank. `iters` and all other
steps but those of the schedule count batches, not optimizer steps.
Sources: mlx-lm 0.9.0 to 0.32.2 `lora.py`, `tuner/`; mlx 0.32.4 `optimizers/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, one_to_list, true_for, when_true
from loralint.frameworks.readers.mlx_lm_faults import observe_faults
from loralint.frameworks.readers.mlx_lm_values import blocks, combine, uncombine
from loralint.frameworks.table import SKIP, Entry, Look, Reader
from loralint.model import Unknown

_SCHEDULES = {"cosine_decay": "cosine", "linear_schedule": "linear", "exponential_decay": "exponential"}
_DECAYS = {"adamw": 0.01, "muon": 0.01, "adam": 0.0, "sgd": 0.0, "adafactor": 0.0}
_MOMENTA = {"sgd": 0.0, "muon": 0.95}
_ADAMS = ("adam", "adamw")
_OPTIMIZERS = ("adam", "adamw", "muon", "sgd", "adafactor")
_ATTENTION = ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj")
_MLP = ("gate_proj", "up_proj", "down_proj", "gate_up_proj")
_BITS = re.compile(r"(?:^|[-_])(?:int)?([2-8])[-_]?bit(?![a-z0-9])", re.IGNORECASE)
_UNQUANTISED = 16
_WIDTH = "mlx-lm computes in the dtype that the model's weights are stored in"

Default = Callable[[Look], object]


def method(value: object) -> object:
    """Read the type of tuning; DoRA is LoRA with a switch of its own."""
    return "lora" if lower(value) in ("lora", "dora") else not_null(lower(value))


def written_method(value: object) -> object:
    """Write what mlx-lm can train."""
    return value if value in ("lora", "full") else SKIP


def paths(value: object) -> object:
    """Read the modules of a block by the last part of their paths, as PEFT names them."""
    return [str(name).rpartition(".")[2] for name in value] if isinstance(value, list) else SKIP


def written_paths(value: object) -> object:
    """Write the paths of modules in a block of a Llama-like model; all linear layers are an absent key."""
    if not isinstance(value, list):
        return SKIP if value else value
    found = [f"self_attn.{name}" if name in _ATTENTION else f"mlp.{name}" for name in value if isinstance(name, str)]
    return found if all(name in (*_ATTENTION, *_MLP) for name in value) else SKIP


def schedule(value: object) -> object:
    """Read the name of a schedule of mlx."""
    return _SCHEDULES.get(str(value), not_null(lower(value)))


def written_schedule(value: object) -> object:
    """Write nothing: a schedule is a name with arguments."""
    return {"cosine": "cosine_decay", "linear": "linear_schedule"}.get(str(value), SKIP)


def head(value: object) -> object:
    """Read the first of a schedule's arguments, from which the rate comes down."""
    return value[0] if isinstance(value, list) and value else SKIP


def part(index: int) -> Callable[[object], object]:
    """Make a conversion that reads one of Adam's two betas."""
    return lambda value: value[index] if isinstance(value, list) and len(value) == 2 else SKIP


def trackers(value: object) -> object:
    """Read `wandb,swanlab`."""
    return one_to_list(value) if value else SKIP


def datasets(value: object) -> object:
    """Read the names of `hf_dataset`, one mapping or several."""
    several = value if isinstance(value, list) else [value]
    return [one.get("path", one.get("name")) for one in several if isinstance(one, dict)] or SKIP


def bits(look: Look) -> object:
    """Tell from the model's name whether it is quantised; nothing quantises it while loading."""
    base = look.get("model.base").value
    if not isinstance(base, str):
        return Unknown("the config names no base model")
    found = _BITS.search(base)
    if found is not None:
        return int(found[1])
    hub = base.count("/") == 1 and not base.startswith((".", "/", "~"))
    return _UNQUANTISED if hub else Unknown(f"only the config of `{base}` says whether it is quantised")


def for_quantised(answer: object) -> Default:
    """Make a default of a model whose weights are quantised."""
    return lambda look: answer if look.get("quant.bits").value != _UNQUANTISED else SKIP


def by_optimizer(table: dict[str, float]) -> Default:
    """Make a default that each optimizer sets for itself."""
    return lambda look: table.get(str(look.get("optim.name").value), SKIP)


def since(spec: str, new: object, old: object = SKIP) -> Default:
    """Make a default that changed with a release."""
    return lambda look: new if look.version_is(spec) else old


def alpha(look: Look) -> object:
    """Scale times rank 8 of an absent `lora_parameters`; before 0.16 alpha over rank came on top."""
    return 160.0 if look.version_is("mlx-lm>=0.25") else 80.0 if look.version_is("mlx-lm>=0.16") else 160.0


def targets(look: Look) -> object:
    """Adapt every linear layer of a block; before 0.28.4 it was mostly query and value, by the model's type."""
    return "all-linear" if look.version_is("mlx-lm>=0.28.1") else SKIP


def floor(look: Look) -> object:
    """Give the end of a cosine that names none."""
    return 0.0 if look.get("schedule.name").value == "cosine" else SKIP


def in_steps(batches: int) -> Default:
    """Make a default that counts batches, in optimizer steps."""

    def default(look: Look) -> object:
        each = look.get("batch.accumulation").value
        return batches // each if isinstance(each, int) and each > 0 else Unknown("the accumulation is unknown")

    return default


def joined(value: object) -> object:
    """Write trackers with commas between them; null is none."""
    return ",".join(str(one) for one in value) or None if isinstance(value, list) else value


TABLE = (
    # the model and what of it trains
    Entry("model.base", "model", not_null, default=since("mlx-lm>=0.30", "Qwen/Qwen3-0.6b", "mlx_model")),
    Entry("model.dtype", "", write=never, default="auto"),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    Entry("adapter.method", "fine_tune_type", method, written_method, "lora"),
    Entry("adapter.dora", "fine_tune_type", lambda value: lower(value) == "dora", true_for("dora"), default=False),
    Entry("adapter.dora", "use_dora", not_null, when="mlx-lm<0.19"),
    Entry("adapter.rank", "lora_parameters.rank", not_null, default=8),
    Entry("adapter.alpha", "lora_parameters.scale", not_null, default=alpha),
    Entry("adapter.alpha", "lora_parameters.alpha", not_null, never, when="mlx-lm<0.16"),
    Entry("adapter.dropout", "lora_parameters.dropout", not_null, default=0.0),
    Entry("adapter.targets", "lora_parameters.keys", paths, written_paths, targets),
    Entry("adapter.layers", "num_layers", not_null, never, default=blocks(16)),
    Entry("adapter.layers", "lora_layers", not_null, never, when="mlx-lm<0.19"),
    Entry("adapter.bias", "", write=never, default="none"),
    Entry("adapter.rslora", "", write=never, default=False),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("adapter.dtype", "", write=never, default="fp32"),
    Entry("adapter.resume_from", "resume_adapter_file", not_null),
    # quantised or not, as the model comes
    Entry("quant.bits", "", write=never, default=bits),
    Entry("quant.method", "", write=never, default=for_quantised("mlx")),
    Entry("quant.compute_dtype", "", write=never, default=for_quantised(Unknown(_WIDTH))),
    # optimizer and schedule
    Entry("optim.name", "optimizer", lambda value: not_null(lower(value)), default="adam"),
    Entry("optim.lr", "lr_schedule.arguments", head, never),
    Entry("optim.lr", "learning_rate", not_null, default=1e-5),
    *(
        Entry("optim.weight_decay", f"optimizer_config.{name}.weight_decay", not_null, default=by_optimizer(_DECAYS))
        for name in _OPTIMIZERS
        if name != "adam"
    ),
    *(
        Entry(f"optim.beta{index + 1}", f"optimizer_config.{name}.betas", part(index), never,
              by_optimizer(dict.fromkeys(_ADAMS, beta)))
        for index, beta in enumerate((0.9, 0.999))
        for name in _ADAMS
    ),
    *(
        Entry("optim.eps", f"optimizer_config.{name}.eps", not_null, default=by_optimizer(dict.fromkeys(_ADAMS, 1e-8)))
        for name in _ADAMS
    ),
    *(
        Entry("optim.momentum", f"optimizer_config.{name}.momentum", not_null, default=by_optimizer(_MOMENTA))
        for name in ("sgd", "muon")
    ),
    Entry("optim.max_grad_norm", "", write=never, default=0.0),
    Entry("schedule.name", "lr_schedule.name", schedule, written_schedule, "constant"),
    Entry("schedule.warmup_steps", "lr_schedule.warmup", not_null, default=0),
    Entry("schedule.steps", "lr_schedule.arguments", not_null, never),
    Entry("schedule.min_lr", "lr_schedule.arguments", not_null, never, floor),
    # batches and steps
    Entry("batch.micro", "batch_size", not_null, default=4),
    Entry("batch.accumulation", "grad_accumulation_steps", not_null, default=1, when="mlx-lm>=0.28.1"),
    Entry("batch.accumulation", "", write=never, default=1),
    Entry("batch.drop_last", "", write=never, default=True),
    Entry("train.task", "", write=never, default="sft"),
    Entry("train.enabled", "train", not_null, default=True),  # without it, `--train` stands on the command line
    Entry("train.max_steps", "iters", not_null, default=in_steps(1000)),
    Entry("train.seed", "seed", not_null, default=0),
    Entry("train.report_to", "report_to", trackers, joined, [], split=","),
    Entry("train.report_to", "wandb", when_true(["wandb"]), never),
    Entry("train.logging_steps", "steps_per_report", not_null, default=in_steps(10)),
    Entry("precision.bf16", "", write=never, default=Unknown(_WIDTH)),
    Entry("precision.fp16", "", write=never, default=Unknown(_WIDTH)),
    Entry("precision.pure_bf16", "", write=never, default=False),
    # data, evaluation, checkpoints
    Entry("data.datasets", "hf_dataset", datasets, never),
    Entry("data.datasets", "data", one_to_list, lambda value: value[0] if isinstance(value, list) and value else SKIP),
    Entry("data.sequence_len", "max_seq_length", not_null, default=2048),
    Entry("data.packing", "", write=never, default=False),
    Entry("data.train_on_inputs", "mask_prompt", lambda value: not value, lambda value: not value, default=True),
    Entry("eval.strategy", "", write=never, default="steps"),
    Entry("eval.steps", "steps_per_eval", not_null, default=in_steps(200)),
    Entry("checkpoint.output_dir", "adapter_path", not_null, default="adapters"),
    Entry("checkpoint.save_strategy", "", write=never, default="steps"),
    Entry("checkpoint.save_steps", "save_every", not_null, default=in_steps(100)),
    Entry("memory.gradient_checkpointing", "grad_checkpoint", not_null, default=False),
)  # fmt: skip


READER = Reader(
    name="mlx-lm",
    title="mlx-lm",
    dialect="mlx",
    table=TABLE,
    keys="mlx-lm",
    coerces=False,
    packages=("mlx-lm",),
    observe=(observe_faults,),
    combine=combine,
    uncombine=uncombine,
)
