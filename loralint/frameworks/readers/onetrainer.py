"""OneTrainer (23df3832 read): presets and saved configs, JSON of sections with the words of its enumerations.

A value of the wrong type is told on the console and leaves the default; an unknown key is passed over. Warm-up up to 1
is a share of the run. A part's own learning rate replaces the common one, and text encoders train unless told not to.
`--preset-path` is read before `--config-path`, and `--config-value KEY=VALUE` sets a key over both.
Sources: scripts/train.py, modules/util/config/TrainConfig.py, BaseConfig.py, modules/util/create.py, modules/util/enum.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, words
from loralint.frameworks.readers.diffusion import TASK, edge, first, positive
from loralint.frameworks.readers.onetrainer_faults import observe_faults
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.model import Value
from loralint.source.document import Document

_FAMILIES = (
    ("STABLE_DIFFUSION_15", "sd15"), ("STABLE_DIFFUSION_2", "sd2"), ("STABLE_DIFFUSION_XL", "sdxl"),
    ("STABLE_DIFFUSION_3", "sd3"), ("FLUX_2", "flux2"), ("FLUX_", "flux"), ("CHROMA", "chroma"), ("QWEN", "qwen_image"),
    ("HUNYUAN_VIDEO", "hunyuan_video"), ("PIXART", "pixart"), ("HI_DREAM", "hidream"), ("WUERSTCHEN", "wuerstchen"),
    ("KREA_2", "krea2"), ("STABLE_CASCADE", "stable_cascade"),
)  # fmt: skip
_METHODS: dict[object, object] = {"LORA": "lora", "FINE_TUNE": "full", "EMBEDDING": "embedding", "FINE_TUNE_VAE": "vae"}
_PEFT: dict[object, object] = {"LORA": "lora", "LOHA": "loha", "LOKR": "lokr", "OFT_2": "oft"}
_DTYPES = {"BFLOAT_16": "bf16", "FLOAT_16": "fp16", "FLOAT_32": "fp32", "TFLOAT_32": "fp32"}
_BITS = {"NFLOAT_4": 4, "INT_8": 8, "FLOAT_8": 8, "INT_W8A8": 8, "FLOAT_W8A8": 8}
_SCHEDULES = {"cosine_with_hard_restarts": "cosine_with_restarts", "cosine_with_restarts": "cosine_with_soft_restarts"}
_DENOISERS = ("unet", "transformer", "prior")


def _family(word: object) -> object:
    if not isinstance(word, str):
        return SKIP
    return next((name for start, name in _FAMILIES if word.startswith(start)), word.lower())


def _is(wanted: str) -> Callable[[object], object]:
    return lambda word: _DTYPES.get(str(word), "") == wanted


def _written(wanted: str) -> Callable[[object], object]:
    long = {"bf16": "BFLOAT_16", "fp16": "FLOAT_16"}[wanted]
    return lambda on: long if on is True else "FLOAT_32" if on is False else SKIP


def _count(number: object) -> object:
    """Read more than 1 as steps, with 0 for none."""
    return number if isinstance(number, (int, float)) and (number > 1 or number == 0) else SKIP


def _share(number: object) -> object:
    return number if isinstance(number, (int, float)) and 0 < number <= 1 else SKIP


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _common_rate(look: Look) -> object:
    return look.get("optim.lr").value if look.get("train.text_encoder").value is True else SKIP


def _schedule(word: object) -> object:
    name = lower(word)
    return _SCHEDULES.get(str(name), name) if isinstance(name, str) else SKIP


def combine(document: Document, values: Values) -> Values:
    """The kind of adapter behind LORA, Min-SNR where that is the weight, and no bits where all weights train."""
    # of one `--config-value optimizer.x` the rest of the section stands in the file
    fields: dict[str, tuple[Value, ...]] = {"optim.args": ()} if document.format == "settings" else {}
    method = values.get("adapter.method", ())
    named = {value.key: value for value in method}
    kind = named.get("peft_type")
    base = named.get("training_method")
    if base is not None and base.value == "lora" and kind is not None:
        fields["adapter.method"] = (kind,)
    elif base is not None:
        fields["adapter.method"] = (base,)
    elif method:
        fields["adapter.method"] = ()
    weights = {value.key: value for value in values.get("train.min_snr_gamma", ())}
    if "loss_weight_fn" not in weights:
        fields["train.min_snr_gamma"] = ()
    else:
        fields["train.min_snr_gamma"] = tuple(v for k, v in weights.items() if k != "loss_weight_fn")
    if first(fields.get("adapter.method", method)) != "lora":
        fields |= {"quant.bits": (), "adapter.dtype": ()}
    return fields


TABLE = (
    TASK,
    Entry("model.base", "base_model_name", not_null, default="stable-diffusion-v1-5/stable-diffusion-v1-5"),
    Entry("model.diffusion_family", "model_type", _family, never, "sd15"),
    Entry("model.prediction", "force_v_prediction", lambda on: "v_prediction" if on is True else SKIP,
          lambda word: word == "v_prediction"),
    # the adapter
    Entry("adapter.method", "training_method", words(_METHODS), words({"lora": "LORA", "full": "FINE_TUNE"}), "full"),
    Entry("adapter.method", "peft_type", words(_PEFT), never),
    Entry("adapter.rank", "lora_rank", not_null, default=_lora(16)),
    Entry("adapter.alpha", "lora_alpha", not_null, default=_lora(1.0)),
    Entry("adapter.dropout", "dropout_probability", not_null, default=_lora(0.0)),
    Entry("adapter.dora", "lora_decompose", not_null, default=_lora(answer=False)),
    Entry("adapter.init", "", write=never, default=_lora("true")),
    Entry("adapter.dtype", "lora_weight_dtype", lambda word: _DTYPES.get(str(word), SKIP),
          words({"fp32": "FLOAT_32", "bf16": "BFLOAT_16", "fp16": "FLOAT_16"}), _lora("fp32")),
    *(Entry("quant.bits", f"{part}.weight_dtype", lambda word: _BITS.get(str(word), 16), never) for part in _DENOISERS),
    # optimizer and schedule
    Entry("optim.name", "optimizer.optimizer", lower, default="adamw"),
    *(Entry("optim.lr", f"{part}.learning_rate", not_null, never) for part in _DENOISERS),
    Entry("optim.lr", "learning_rate", not_null, default=3e-6),
    Entry("optim.text_encoder_lr", "text_encoder.learning_rate", not_null, default=_common_rate),
    Entry("optim.weight_decay", "optimizer.weight_decay", not_null),
    Entry("optim.beta1", "optimizer.beta1", not_null),
    Entry("optim.beta2", "optimizer.beta2", not_null),
    Entry("optim.eps", "optimizer.eps", not_null),
    Entry("optim.args", "optimizer", lambda args: args if isinstance(args, dict) else SKIP, never),
    Entry("optim.max_grad_norm", "clip_grad_norm", not_null, default=1.0),
    Entry("schedule.name", "learning_rate_scheduler", _schedule, never, "constant"),
    Entry("schedule.warmup_steps", "learning_rate_warmup_steps", _count, default=200),
    Entry("schedule.warmup_ratio", "learning_rate_warmup_steps", _share, never),
    Entry("schedule.min_lr_ratio", "learning_rate_min_factor", not_null, default=0.0),
    # batch and length of the run
    Entry("batch.micro", "batch_size", not_null, default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.epochs", "epochs", not_null, default=100),
    Entry("train.text_encoder", "text_encoder.train", not_null, default=True),
    Entry("train.min_snr_gamma", "loss_weight_strength", positive),
    Entry("train.min_snr_gamma", "loss_weight_fn", lambda word: 5.0 if word == "MIN_SNR_GAMMA" else SKIP, never),
    Entry("train.noise_offset", "offset_noise_weight", positive),
    # precision
    Entry("precision.bf16", "train_dtype", _is("bf16"), _written("bf16"), default=False),
    Entry("precision.fp16", "train_dtype", _is("fp16"), _written("fp16"), default=True),
    # data, checkpoints, kernels
    Entry("data.resolution", "resolution", edge, lambda size: str(size) if isinstance(size, int) else SKIP, 512),
    Entry("data.cache_latents", "latent_caching", not_null, default=True),
    Entry("checkpoint.output_dir", "workspace_dir", not_null),
    Entry("kernel.compile", "compile", not_null, default=False),
)  # fmt: skip

READER = Reader(
    name="onetrainer",
    title="OneTrainer",
    dialect="json",
    table=TABLE,
    keys="onetrainer",
    coerces=False,
    packages=("onetrainer",),
    observe=(observe_faults,),
    combine=combine,
)
