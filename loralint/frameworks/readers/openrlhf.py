"""OpenRLHF (0.11.2 read): it has no config file, only flags; this reads a YAML or JSON that holds them for a launcher.

The keys are the dotted flags of 2026, nested or as they are. A `ds.lora.rank` of 0, the default, trains everything.
The batch size is that of the whole step. Which trainer runs stands on the command line.
Sources: openrlhf 0.11.2 cli/train_{sft,dpo,rm,ppo_ray}.py, utils/utils.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, lower, never, not_null, one_to_list, when_true
from loralint.frameworks.readers.openrlhf_refusals import observe_refusals
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_ESTIMATORS = {"gae": "ppo", "group_norm": "grpo", "dr_grpo": "grpo", "rloo": "rloo"}
_MODELS = ("model", "actor")  # what trains in the SFT, DPO and reward trainers, and in PPO


def _method(rank: object) -> object:
    if isinstance(rank, bool) or not isinstance(rank, (int, float, str)):
        return SKIP
    return "lora" if isinstance(rank, str) or rank > 0 else "full"


def _sized(name: object) -> object:
    """Write the rank that switches the adapter off, or one that is usual."""
    return {"full": 0, "lora": 16}.get(str(name), SKIP)


def _size(rank: object) -> object:
    """Read a rank above 0, and a text, which argparse refuses, as it stands."""
    return rank if isinstance(rank, str) else _positive(rank)


def _positive(number: object) -> object:
    return number if isinstance(number, (int, float)) and number > 0 else SKIP


def _by_steps(number: object) -> object:
    """Read -1 as never."""
    return "steps" if isinstance(number, (int, float)) and number > 0 else "no"


def _part(index: int) -> Callable[[object], object]:
    return lambda betas: betas[index] if isinstance(betas, list) and len(betas) == 2 else SKIP


def _names(value: object) -> object:
    """Read datasets, which the flag separates by commas."""
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else not_null(one_to_list(value))


def _task(estimator: object) -> object:
    name = str(estimator)
    return _ESTIMATORS.get(name, Unknown(f"`{name}` is no estimator of a trainer that loralint knows"))


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _schedule(name: object) -> object:
    return {"cosine_with_min_lr": "cosine"}.get(str(name), name) if isinstance(name, str) else SKIP


def _written_schedule(name: object) -> object:
    return {"cosine": "cosine_with_min_lr"}.get(str(name), name)


def _precision(word: str) -> Callable[[object], object]:
    return lambda name: dtype(name) == word


def combine(document: Document, values: Values) -> Values:
    """Leave out the settings of an adapter that is switched off by a rank of 0, which the defaults name too."""
    del document
    method = values.get("adapter.method", ())
    fields: dict[str, tuple[Value, ...]] = {}
    if method and method[0].value == "full":
        fields = {
            field: () for field, several in values.items() if all(one.key.startswith("ds.lora.") for one in several)
        }
    return {field: several for field, several in fields.items() if field != "adapter.method"}


TABLE = (
    *(Entry("model.base", f"{home}.model_name_or_path", not_null) for home in _MODELS),
    Entry("model.attention", "ds.attn_implementation", not_null, default="flash_attention_2"),
    Entry("model.dtype", "ds.param_dtype", dtype, default="bf16"),
    # the adapter
    Entry("adapter.method", "ds.lora.rank", _method, _sized, "full"),
    Entry("adapter.rank", "ds.lora.rank", _size),
    Entry("adapter.alpha", "ds.lora.alpha", not_null, default=_lora(16)),
    Entry("adapter.dropout", "ds.lora.dropout", not_null, default=_lora(0.0)),
    Entry("adapter.targets", "ds.lora.target_modules", not_null, default=_lora("all-linear")),
    Entry("quant.bits", "ds.load_in_4bit", when_true(4), lambda bits: True if bits == 4 else SKIP, 16),
    Entry("quant.method", "ds.load_in_4bit", when_true("bnb"), never),
    # optimizer and schedule
    Entry("optim.name", "optim", lower, default="adam"),
    Entry("optim.lr", "adam.lr", not_null, default=5e-6),
    Entry("optim.weight_decay", "adam.weight_decay", not_null, default=0.0),
    Entry("optim.beta1", "adam.betas", _part(0), never, 0.9),
    Entry("optim.beta2", "adam.betas", _part(1), never, 0.95),
    Entry("optim.eps", "adam.eps", not_null, default=1e-8),
    Entry("optim.max_grad_norm", "max_norm", not_null, default=1.0),
    Entry("schedule.name", "lr_scheduler", _schedule, _written_schedule, "cosine"),
    Entry("schedule.warmup_ratio", "lr_warmup_ratio", not_null, default=0.03),
    Entry("schedule.min_lr_ratio", "min_lr_ratio", not_null, default=0.1),
    # batch and length of the run
    Entry("batch.micro", "train.micro_batch_size", not_null, default=8),
    Entry("batch.global", "train.batch_size", not_null, default=128),
    Entry("train.task", "algo.advantage.estimator", _task, never,
          Unknown("which trainer runs stands on the command line")),
    Entry("train.epochs", "train.max_epochs", not_null),
    Entry("train.seed", "train.seed", not_null, default=42),
    Entry("train.report_to", "logger.wandb.key", lambda key: SKIP if key is None else ["wandb"], never),
    Entry("train.logging_steps", "logger.logging_steps", not_null, default=1),
    # precision
    Entry("precision.bf16", "ds.param_dtype", _precision("bf16"), lambda on: "bf16" if on is True else SKIP, True),
    Entry("precision.fp16", "ds.param_dtype", _precision("fp16"), lambda on: "fp16" if on is True else SKIP, False),
    # data
    Entry("data.datasets", "data.dataset", _names, never),
    Entry("data.datasets", "data.prompt_dataset", _names, never),
    Entry("data.eval_dataset", "eval.dataset", _names, never),
    Entry("data.sequence_len", "data.max_len", not_null, default=2048),
    Entry("data.packing", "ds.packing_samples", not_null, default=False),
    Entry("data.max_samples", "data.max_samples", not_null),
    # evaluation and checkpoints
    Entry("eval.strategy", "eval.steps", _by_steps, never, "no"),
    Entry("eval.steps", "eval.steps", _positive),
    Entry("checkpoint.output_dir", "ckpt.output_dir", not_null, default="./ckpt"),
    Entry("checkpoint.save_strategy", "ckpt.save_steps", _by_steps, never, "no"),
    Entry("checkpoint.save_steps", "ckpt.save_steps", _positive),
    Entry("checkpoint.save_total_limit", "ckpt.max_num", not_null, default=3),
    # memory, devices, kernels
    *(Entry("memory.gradient_checkpointing", f"{home}.gradient_checkpointing_enable", not_null) for home in _MODELS),
    *(Entry("memory.reentrant", f"{home}.gradient_checkpointing_reentrant", not_null) for home in _MODELS),
    Entry("dist.zero_stage", "ds.zero_stage", not_null, default=2),
    Entry("dist.tensor_parallel", "ds.tensor_parallel_size", not_null, default=1),
    Entry("dist.context_parallel", "ds.ring_attn_size", not_null, default=1),
    Entry("kernel.liger", "ds.use_liger_kernel", not_null, default=False),
    Entry("kernel.compile", "ds.deepcompile", not_null, default=False),
    # preference and RL
    Entry("pref.beta", "model.beta", not_null),
    Entry("pref.beta", "algo.kl.init_coef", not_null),
    Entry("pref.label_smoothing", "model.label_smoothing", not_null),
    Entry("pref.reference_model", "ref.model_name_or_path", not_null),
    Entry("rl.num_generations", "rollout.n_samples_per_prompt", not_null),
    Entry("rl.reward_model", "reward.model_name_or_path", not_null),
)  # fmt: skip

READER = Reader(
    name="openrlhf",
    title="OpenRLHF",
    dialect="pyyaml",
    table=TABLE,
    keys="openrlhf",
    coerces=True,
    packages=("openrlhf", "transformers", "peft", "torch"),
    combine=combine,
    observe=(observe_refusals,),
)
