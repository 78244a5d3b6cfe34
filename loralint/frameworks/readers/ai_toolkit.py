"""ostris' ai-toolkit (27a03a91 read): `job: extension` with a list of processes, of which the first is read.

YAML with exponents read as floats, or JSON. Every class takes what it knows from a mapping and passes over the rest.
Transformer models have alpha = rank whatever is written, since their files are saved without one. Prodigy and
D-Adaptation with a rate below 0.1 get 1.0. Without `arch` the model is a Stable Diffusion 1.
Sources: toolkit/{config,config_modules,optimizer,lora_special}.py, jobs/process/BaseSDTrainProcess.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from loralint.frameworks.convert import dtype, lower, never, not_null, when_true
from loralint.frameworks.readers.ai_toolkit_faults import observe_faults
from loralint.frameworks.readers.ai_toolkit_models import observe_models
from loralint.frameworks.readers.diffusion import TASK, edge, family, first, positive
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Value
from loralint.source.document import Document

P = "config.process[0]."
WITH_ALPHA = ("sd15", "sd2", "sdxl", "pixart", "auraflow")  # the others save no alpha
_UNIT = ("prodigy", "dadaptation")
_SMALL = 0.1
_BITS = re.compile(r"(\d+)")
_DEFAULT_BITS = 8


def _word(wanted: str) -> Callable[[object], object]:
    return lambda word: SKIP if word is None else dtype(word) == wanted


def _written(wanted: str) -> Callable[[object], object]:
    return lambda on: wanted if on is True else "fp32" if on is False else SKIP


def _counted(number: object) -> object:
    """Read an accumulation; -1 gathers a whole epoch."""
    return number if isinstance(number, int) and number != -1 else SKIP


def _folders(datasets: object) -> object:
    if not isinstance(datasets, list):
        return SKIP
    return [str(one.get("folder_path")) for one in datasets if isinstance(one, dict) and one.get("folder_path")] or SKIP


def _common_rate(look: Look) -> object:
    return look.get("optim.lr").value if look.get("train.text_encoder").value is True else SKIP


def combine(document: Document, values: Values) -> Values:
    """Alpha where the model has one, the rate that the optimizer gets, the bits behind `quantize`, another adapter."""
    del document
    fields: dict[str, tuple[Value, ...]] = {}
    architecture = first(values.get("model.diffusion_family", ())) or "sd15"
    alpha, rank = values.get("adapter.alpha", ()), values.get("adapter.rank", ())
    if alpha and (architecture not in WITH_ALPHA or first(alpha) == 0):
        fields["adapter.alpha"] = (alpha[0]._replace(value=rank[0].value if rank else 4),)
    rate = first(values.get("optim.lr", ()))
    if str(first(values.get("optim.name", ()))).startswith(_UNIT) and isinstance(rate, (int, float)) and rate < _SMALL:
        fields["optim.lr"] = (values["optim.lr"][0]._replace(value=1.0),)
    method = values.get("adapter.method", ())
    if not method or first(method) == "full":  # what is quantised then is not trained
        fields |= {"quant.bits": (), "quant.method": ()}
    elif values.get("quant.bits"):
        fields["quant.bits"] = (_bits(values["quant.bits"]),)
    return fields


def _bits(values: tuple[Value, ...]) -> Value:
    """The number in `qtype`, `uint4|...` as `qfloat8`, for the switch `quantize`."""
    by_key = {value.key: value for value in values}
    kind = by_key.get(f"{P}model.qtype")
    switch = by_key.get(f"{P}model.quantize")
    found = _BITS.search(str(kind.value)) if kind is not None else None
    bits = int(found[1]) if found else _DEFAULT_BITS
    return (switch or values[0])._replace(value=bits if switch is not None else 16)


def _alpha(look: Look) -> object:
    """Give alpha unless it is set: 1 where the model has one, else the rank."""
    return 1.0 if look.get("model.diffusion_family").value in WITH_ALPHA else look.get("adapter.rank").value


TABLE = (
    TASK,
    Entry("model.base", f"{P}model.name_or_path", not_null),
    Entry("model.diffusion_family", f"{P}model.arch", family, never, "sd15"),
    *(Entry("model.diffusion_family", f"{P}model.{key}", when_true(name), never) for key, name in (
        ("is_flux", "flux"), ("is_v3", "sd3"), ("is_lumina2", "lumina2"), ("is_pixart_sigma", "pixart"),
        ("is_pixart", "pixart"), ("is_auraflow", "auraflow"), ("is_xl", "sdxl"), ("is_ssd", "sdxl"),
        ("is_vega", "sdxl"), ("is_v2", "sd2"),
    )),
    Entry("model.prediction", f"{P}model.is_v_pred", when_true("v_prediction"),
          lambda word: word == "v_prediction"),
    # the adapter
    Entry("adapter.method", f"{P}network.type", lambda word: "lora" if word == "locon" else lower(word),
          lambda word: word if word in ("lora", "lokr") else SKIP, "full"),
    Entry("adapter.method", f"{P}adapter.type", lower, never),
    Entry("adapter.rank", f"{P}network.rank", not_null, never),
    Entry("adapter.rank", f"{P}network.linear", not_null, default=4),
    Entry("adapter.alpha", f"{P}network.linear_alpha", not_null, default=_alpha),
    Entry("adapter.alpha", f"{P}network.alpha", not_null, never),
    Entry("adapter.conv_rank", f"{P}network.conv", not_null),
    Entry("adapter.conv_alpha", f"{P}network.conv_alpha", not_null),
    Entry("adapter.dropout", f"{P}network.dropout", not_null),
    Entry("adapter.init", "", write=never, default="true"),
    Entry("quant.bits", f"{P}model.quantize", when_true(8), never, 16),
    Entry("quant.bits", f"{P}model.qtype", not_null, never),
    Entry("quant.method", f"{P}model.quantize", when_true("quanto"), never),
    # optimizer and schedule
    Entry("optim.name", f"{P}train.optimizer", lower, default="adamw"),
    Entry("optim.lr", f"{P}train.unet_lr", not_null, never),
    Entry("optim.lr", f"{P}train.lr", not_null, default=1e-6),
    Entry("optim.text_encoder_lr", f"{P}train.text_encoder_lr", not_null, default=_common_rate),
    Entry("optim.args", f"{P}train.optimizer_params", not_null, never),
    Entry("optim.weight_decay", f"{P}train.optimizer_params.weight_decay", not_null),
    Entry("optim.max_grad_norm", f"{P}train.max_grad_norm", not_null, default=1.0),
    Entry("schedule.name", f"{P}train.lr_scheduler", lower, default="constant"),
    # batch and length of the run
    Entry("batch.micro", f"{P}train.batch_size", not_null, default=1),
    Entry("batch.accumulation", f"{P}train.gradient_accumulation", not_null, never),
    Entry("batch.accumulation", f"{P}train.gradient_accumulation_steps", _counted, default=1),
    Entry("train.max_steps", f"{P}train.steps", not_null, default=1000),
    Entry("train.denoiser", f"{P}train.train_unet", not_null, default=True),
    Entry("train.text_encoder", f"{P}train.train_text_encoder", not_null, default=False),
    Entry("train.min_snr_gamma", f"{P}train.min_snr_gamma", positive),
    Entry("train.min_snr_gamma", f"{P}train.snr_gamma", positive, never),
    Entry("train.noise_offset", f"{P}train.noise_offset", positive),
    # precision
    Entry("precision.bf16", f"{P}train.dtype", _word("bf16"), _written("bf16"), default=False),
    Entry("precision.fp16", f"{P}train.dtype", _word("fp16"), _written("fp16"), default=False),
    # data
    Entry("data.datasets", f"{P}datasets", _folders, never),
    Entry("data.resolution", f"{P}datasets[0].resolution", edge, default=512),
    Entry("data.cache_latents", f"{P}datasets[0].cache_latents", not_null),
    Entry("data.cache_latents", f"{P}datasets[0].cache_latents_to_disk", when_true(canonical=True), never),
    Entry("data.cache_text", f"{P}train.cache_text_embeddings", not_null, default=False),
    Entry("data.cache_text", f"{P}datasets[0].cache_text_embeddings", when_true(canonical=True), never),
    Entry("data.shuffle_caption", f"{P}datasets[0].shuffle_tokens", not_null, default=False),
    Entry("data.caption_dropout", f"{P}datasets[0].caption_dropout_rate", not_null),
    Entry("data.random_crop", f"{P}datasets[0].random_crop", not_null, default=False),
    # checkpoints, memory, kernels
    Entry("checkpoint.output_dir", f"{P}training_folder", not_null),
    Entry("checkpoint.save_steps", f"{P}save.save_every", positive),
    Entry("checkpoint.save_total_limit", f"{P}save.max_step_saves_to_keep", not_null),
    Entry("memory.gradient_checkpointing", f"{P}train.gradient_checkpointing", not_null, default=True),
    Entry("kernel.compile", f"{P}model.compile", not_null, default=False),
)  # fmt: skip

READER = Reader(
    name="ai-toolkit",
    title="ai-toolkit",
    dialect="mlx",
    table=TABLE,
    keys="ai_toolkit",
    coerces=False,
    packages=("ai-toolkit",),
    observe=(observe_faults, observe_models),
    combine=combine,
)
