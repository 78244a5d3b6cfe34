"""TRL: `trl sft --config file.yaml` and every script with TrlParser (0.8.6 to 1.16.0 read).

`use_peft` decides the method: without it the whole model trains, whatever `lora_*` says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from loralint.frameworks.convert import (
    dtype,
    long_dtype,
    never,
    not_null,
    one_to_list,
    only_null,
    only_one,
    true_for,
    when_true,
    words,
)
from loralint.frameworks.flags import as_flags
from loralint.frameworks.readers.training_arguments import (
    SHARES,
    TRAINING_ARGUMENTS,
    observe_schedule,
    observe_strategies,
    observe_workers,
)
from loralint.frameworks.readers.trl_refusals import refused_by_trl
from loralint.frameworks.readers.trl_task import TASK, choose, is_sft_loss, of_path
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document

_RATES = {"sft": 2e-5, "rm": 1e-4, "dpo": 1e-6, "kto": 1e-6, "orpo": 1e-6, "simpo": 1e-6, "grpo": 1e-6, "rloo": 1e-6}
_BETAS = {"dpo": 0.1, "kto": 0.1, "orpo": 0.1, "grpo": 0.0, "rloo": 0.05}


def _loss(value: object) -> object:
    """Read the loss, or the first of several; the losses of SFT are no choice between preferences."""
    first = value[0] if isinstance(value, list) and value else value
    return SKIP if first is None or is_sft_loss(first) else first


def method(value: object) -> object:
    """Read the switch that makes the difference between LoRA and training in full."""
    return {"true": "lora", "false": "full"}.get(str(value).lower(), SKIP)


def use_peft(value: object) -> object:
    """Write that switch."""
    return {"lora": True, "full": False}.get(str(value), SKIP)


def _targets(value: object) -> object:
    """Unpack a list of one as TRL does: PEFT then takes its only name for a regular expression."""
    return value[0] if isinstance(value, list) and len(value) == 1 else not_null(value)


def paths(value: object) -> object:
    """Read a mixture's datasets: `path` in TRL, `id` in the Alignment Handbook, in its old form names with shares."""
    if isinstance(value, dict):
        return list(value)
    if not isinstance(value, list):
        return SKIP
    return [item.get("path", item.get("id")) for item in value if isinstance(item, dict)]


def by_task(table: dict[str, object]) -> Callable[[Look], object]:
    """Make a default that each trainer sets for itself."""

    def default(look: Look) -> object:
        task = look.get("train.task").value
        return task if isinstance(task, Unknown) else table.get(str(task), SKIP)

    return default


def since(spec: str, new: object, old: object = SKIP) -> Callable[[Look], object]:
    """Make a default that changed with a release."""
    return lambda look: new if look.version_is(spec) else old


def _rate(look: Look) -> object:
    task = look.get("train.task").value
    if task == "rm" and not look.version_is("trl>=0.24"):
        return 5e-5
    return task if isinstance(task, Unknown) else _RATES.get(str(task), 5e-5)


def _bf16(look: Look) -> object:
    """On unless fp16 is, since 0.19."""
    return look.version_is("trl>=0.19") and look.get("precision.fp16").value is not True


def _length(look: Look) -> object:
    """Prompts of RL are not cut; before 0.17 the tokenizer's limit counted."""
    if look.get("train.task").value in ("grpo", "rloo"):
        return SKIP
    return 1024 if look.version_is("trl>=0.17") else SKIP


def _model_dtype(look: Look) -> object:
    """float32 by name since 0.27, before what Transformers makes of no dtype."""
    return "fp32" if look.version_is("trl>=0.27") or not look.version_is(SHARES) else "auto"


def _compute_dtype(look: Look) -> object:
    """Give the dtype that the model is loaded in: bitsandbytes is told to compute in it."""
    return look.get("model.dtype").value


def _storage_dtype(look: Look) -> object:
    """Give what bitsandbytes has by itself since 0.26, before the model's dtype."""
    return "uint8" if look.version_is("trl>=0.26") else look.get("model.dtype").value


def adapter_dtype(look: Look) -> object:
    """Give fp32 as PEFT does; trainers cast to bf16 over a quantised base, and ZeRO-3 keeps the model's dtype."""
    bits = look.get("quant.bits").value
    quantised = bits != 16
    if quantised and look.version_is("trl>=0.26"):
        return Unknown("whether the base is quantised is not known") if isinstance(bits, Unknown) else "bf16"
    if not quantised and look.get("dist.zero_stage").value == 3 and look.version_is("trl>=1.10"):
        return look.get("model.dtype").value
    return "fp32"


def _reentrant(look: Look) -> object:
    """Give false by TRL's own choice since 0.28, but true for an adapter under ZeRO-3, where it is forced."""
    if look.get("memory.gradient_checkpointing").value is not True:
        return SKIP
    if not look.version_is("trl>=0.28"):
        return not look.version_is(SHARES)
    return look.get("dist.zero_stage").value == 3 and look.get("adapter.method").value == "lora"


def _piecewise(loss: object) -> object:
    return {"chunked_nll": True, "nll": False, "dft": False}.get(str(loss), SKIP)


def _vllm(look: Look) -> object:
    """Where vLLM runs: on a server until 1.0, in the processes that train since."""
    if look.get("rl.use_vllm").value is not True:
        return SKIP
    return "colocate" if look.version_is("trl>=1") else "server"


def _by_pieces(look: Look) -> object:
    """Whether the loss is made by pieces: in SFT unless it is told otherwise since 1.6, with any loss since 1.15."""
    task = look.get("train.task").value
    if look.version_is("trl>=1.15"):
        return True if task in ("sft", "dpo", "kto") else SKIP
    return task == "sft" and look.version_is("trl>=1.6")


def _padding_free(look: Look) -> object:
    """Packing flattens batches with its default strategy; with another one it depends."""
    return SKIP if look.get("data.packing").value is True else False


ADAPTER: tuple[Entry, ...] = (
    Entry("adapter.method", "use_peft", method, use_peft, "full"),
    Entry("adapter.rank", "lora_r", not_null, default=16),
    Entry("adapter.alpha", "lora_alpha", not_null, default=32),
    Entry("adapter.dropout", "lora_dropout", not_null, default=0.05),
    Entry("adapter.targets", "lora_target_modules", _targets),
    Entry("adapter.target_parameters", "lora_target_parameters", lambda names: names or SKIP),
    Entry("adapter.modules_to_save", "lora_modules_to_save", not_null),
    Entry("adapter.task_type", "lora_task_type", not_null, default="CAUSAL_LM"),
    Entry("adapter.rslora", "use_rslora", not_null, default=False),
    Entry("adapter.dora", "use_dora", not_null, default=False),
    Entry("adapter.bias", "", write=never, default="none"),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("adapter.dtype", "", write=never, default=adapter_dtype),
)

QUANTISATION: tuple[Entry, ...] = (
    Entry("quant.bits", "load_in_4bit", when_true(4), true_for(4), 16),
    Entry("quant.bits", "load_in_8bit", when_true(8), true_for(8)),
    Entry("quant.method", "load_in_4bit", when_true("bnb"), never),
    Entry("quant.method", "load_in_8bit", when_true("bnb"), never),
    Entry("quant.type", "bnb_4bit_quant_type", not_null, default="nf4"),
    Entry("quant.double", "use_bnb_nested_quant", not_null, default=False),
    Entry("quant.storage_dtype", "bnb_4bit_quant_storage", dtype, long_dtype, _storage_dtype),
    Entry("quant.compute_dtype", "dtype", dtype, long_dtype, _compute_dtype, when="trl>=0.23"),
    Entry("quant.compute_dtype", "torch_dtype", dtype, long_dtype, _compute_dtype, when="trl<0.27"),
    Entry("quant.compute_dtype", "torch_dtype", dtype, never, when="trl>=0.27"),
)

MODEL: tuple[Entry, ...] = (
    Entry("model.base", "model_name_or_path", not_null),
    Entry("model.dtype", "dtype", dtype, long_dtype, _model_dtype, when="trl>=0.23"),
    Entry("model.dtype", "torch_dtype", dtype, long_dtype, _model_dtype, when="trl<0.27"),
    Entry("model.dtype", "torch_dtype", dtype, never, when="trl>=0.27"),
    Entry("model.attention", "attn_implementation", not_null),
    Entry("model.attention", "use_flash_attention_2", when_true("flash_attention_2"), never),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
)

DATA: tuple[Entry, ...] = (
    Entry("data.datasets", "datasets", paths, never),
    Entry("data.datasets", "dataset_name", one_to_list, only_one),
    Entry("data.sequence_len", "max_length", not_null, default=_length, when="trl>=0.17"),
    Entry("data.sequence_len", "max_length", not_null, never, when="trl<0.17"),
    Entry("data.sequence_len", "max_seq_length", not_null, when="trl<0.20"),
    Entry("data.sequence_len", "max_seq_length", not_null, never, when="trl>=0.20"),
    Entry("data.sequence_len", "max_length", only_null, never, when="trl>=0.17"),  # no row is cut
    Entry("data.packing", "packing", not_null, default=False),
    Entry("data.eval_packing", "eval_packing", not_null, default=lambda look: look.get("data.packing").value),
    Entry("data.padding_free", "padding_free", not_null, default=_padding_free),
    Entry("data.train_on_inputs", "assistant_only_loss", when_true(False), never),
    Entry("data.answers_only", "assistant_only_loss", not_null, default=False),
    Entry("data.train_on_inputs", "completion_only_loss", words({True: False, False: True}), never),
    Entry("data.template", "chat_template_path", not_null),
    Entry("data.val_size", "test_split_size", not_null),
    Entry("data.streaming", "streaming", not_null),
    Entry("data.streaming", "dataset_streaming", not_null, default=False),
)

OWN: tuple[Entry, ...] = (
    Entry("optim.lr", "learning_rate", not_null, default=_rate),
    Entry("precision.bf16", "bf16", not_null, default=_bf16),
    Entry("train.logging_steps", "logging_steps", not_null, default=since("trl>=0.19", 10, 500)),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=since("trl>=0.22", True, False)),
    Entry("memory.reentrant", "gradient_checkpointing_kwargs.use_reentrant", not_null, default=_reentrant),
    Entry("memory.activation_offload", "activation_offloading", not_null, default=False),
    Entry("kernel.liger", "use_liger", not_null, never),
    Entry("kernel.fused_loss", "use_liger_kernel", when_true(canonical=True), never),
    Entry("kernel.fused_loss", "loss_type", _piecewise, never, _by_pieces, when="trl<1.15"),
    Entry("kernel.fused_loss", "", write=never, default=_by_pieces, when="trl>=1.15"),
    Entry("pref.beta", "beta", not_null, default=by_task(dict(_BETAS))),
    Entry("pref.loss", "loss_type", _loss, default=by_task({"dpo": "sigmoid", "kto": "kto", "orpo": "orpo"})),
    Entry("rl.num_generations", "num_generations", not_null, default=by_task({"grpo": 8, "rloo": 2})),
    Entry("rl.generation_batch", "generation_batch_size", not_null),
    Entry("rl.steps_per_generation", "steps_per_generation", not_null),
    Entry("rl.reward_model", "reward_model_name_or_path", not_null),
    Entry("rl.eval_generations", "num_generations_eval", not_null),
    Entry("rl.use_vllm", "use_vllm", not_null, default=False),
    Entry("rl.vllm", "vllm_mode", not_null, default=_vllm),
    *(Entry("rl.server", key, not_null, never) for key in ("vllm_server_base_url", "vllm_server_host")),
    Entry("rl.vllm_share", "vllm_gpu_memory_utilization", not_null),
    Entry("rl.vllm_sleeps", "vllm_enable_sleep_mode", not_null),
)


def combine(document: Document, values: Values) -> Values:
    """Settle the task, and let each dataset of a mixture stand for its name."""
    fields = dict(choose(document, values))
    mixture = values.get("data.datasets", ())
    if mixture and isinstance(mixture[0].value, list) and len(mixture[0].items) == len(mixture[0].value):
        pairs = zip(mixture[0].items, mixture[0].value, strict=True)
        fields["data.datasets"] = (mixture[0]._replace(items=tuple(item._replace(value=name) for item, name in pairs)),)
    return fields


_PUT_FIRST = (*MODEL, *ADAPTER, *QUANTISATION, *TASK, *DATA, *OWN)
_REPLACED = {(row.field, row.key) for row in _PUT_FIRST}
TABLE = (*_PUT_FIRST, *(row for row in TRAINING_ARGUMENTS if (row.field, row.key) not in _REPLACED))

READER = Reader(
    name="trl",
    title="TRL",
    dialect="pyyaml",
    table=TABLE,
    keys="trl",
    coerces=True,
    packages=("trl", "transformers", "peft"),
    observe=(observe_strategies, observe_schedule, observe_workers, refused_by_trl),
    combine=combine,
)


@lru_cache(maxsize=64)
def reader_of(program: str) -> Reader | None:
    """The reader of the flags of a subcommand or script that says by its name what it trains; None for any other."""
    task = of_path(program)
    if not task:
        return None

    def settled(document: Document, values: Values) -> Values:
        return {**combine(document, values), "train.task": (Value(task, origin="derived", field="train.task"),)}

    return as_flags(READER)._replace(combine=settled)
