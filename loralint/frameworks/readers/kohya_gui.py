"""Presets of the kohya_ss window (26.0 read): flat JSON with the window's own keys, from which it writes a TOML file.

What a preset leaves out stays as it is in the window, so nothing absent has a value. Texts become numbers where
numbers are wanted, an empty one 0. Presets of LoRA have `LoRA_type` or `network_dim`, those of textual inversion
`num_vectors_per_token`; the others train the whole model.
Sources: bmaltais/kohya_ss kohya_gui/{lora_gui,common_gui,finetune_gui}.py.
"""

from __future__ import annotations

from loralint.frameworks.convert import lower, never, not_null
from loralint.frameworks.readers.diffusion import (
    KNOWN_TASK,
    TASK,
    arguments,
    edge,
    longest,
    mixed,
    positive,
    written_mixed,
)
from loralint.frameworks.readers.kohya import alpha, rate, rates, relative_step
from loralint.frameworks.readers.kohya_arguments import observe_joined_arguments
from loralint.frameworks.readers.kohya_optimizer import observe_foreign
from loralint.frameworks.readers.kohya_words import SD_SCRIPTS, observe_words
from loralint.frameworks.table import SKIP, Entry, Reader, Values
from loralint.model import Value
from loralint.source.document import Document
from loralint.source.scalars import value

_METHODS = {
    "standard": "lora", "locon": "lora", "kohya locon": "lora", "kohya lora": "lora", "lora-fa": "lora",
    "flux1": "lora", "lumina": "lora", "anima": "lora", "hunyuanimage-2.1": "lora", "lycoris/locon": "lora",
    "kohya loha": "loha", "lycoris/loha": "loha", "kohya lokr": "lokr", "lycoris/lokr": "lokr", "lycoris/ia3": "ia3",
    "lycoris/dylora": "dylora", "kohya dylora": "dylora", "lycoris/glora": "glora", "lycoris/diag-oft": "oft",
    "lycoris/boft": "boft", "flux1 oft": "oft", "lycoris/native fine-tuning": "full",
}  # fmt: skip
_WITH_CONVOLUTIONS = ("locon", "lycoris", "dylora", "loha", "lokr")
_BOXES = {
    "sdxl": "sdxl", "sdxl_checkbox": "sdxl", "flux1_checkbox": "flux", "sd3_checkbox": "sd3",
    "lumina_checkbox": "lumina2", "anima_checkbox": "anima", "hunyuan_image_checkbox": "hunyuan_image", "v2": "sd2",
}  # fmt: skip
_MADE_FOR = {
    "Standard": "unet", "Kohya LoCon": "unet", "LoRA-FA": "unet", "Kohya DyLoRA": "unet", "Flux1": "flux",
    "Flux1 OFT": "flux", "Lumina": "lumina2", "Anima": "anima", "HunyuanImage-2.1": "hunyuan_image",
}  # fmt: skip
_SD3_TOO = ("Standard", "Kohya LoCon")
_CACHES = (
    "sdxl_cache_text_encoder_outputs", "flux1_cache_text_encoder_outputs", "sd3_cache_text_encoder_outputs",
    "anima_cache_text_encoder_outputs", "lumina_cache_text_encoder_outputs",
)  # fmt: skip


def _method(word: object) -> object:
    return _METHODS.get(word.lower(), word) if isinstance(word, str) and word else SKIP


def _percent(number: object) -> object:
    """Read `lr_warmup`, a percentage of all steps."""
    share = positive(number)
    return share / 100 if isinstance(share, (int, float)) else SKIP


def _half(on: object) -> object:
    return "fp16" if on is True else SKIP


def _pure(on: object) -> object:
    return True if on is True else SKIP


def _prediction(on: object) -> object:
    return {True: "v_prediction", False: "epsilon"}.get(on, SKIP) if isinstance(on, bool) else SKIP


def _folder(names: object) -> object:
    return names or SKIP


def combine(document: Document, values: Values) -> Values:
    """Decide by several keys: the method, the architecture, the rates and whether the text encoder trains."""
    fields: dict[str, tuple[Value, ...]] = {**alpha(values), **rates(values), **KNOWN_TASK}
    fields |= relative_step(values)
    method = values.get("adapter.method") or _untold_method(document)
    fields["adapter.method"] = method
    kind = str(_read(document, "LoRA_type") or "").lower()
    if not any(word in kind for word in _WITH_CONVOLUTIONS):  # written into every preset, read for these kinds only
        fields |= {"adapter.conv_rank": (), "adapter.conv_alpha": ()}
    fields |= _family(document) | _text_encoder(document) | _made_for(document)
    if _number(_read(document, "loraplus_lr_ratio")) > 0:  # it has no row: a preset without it has no LoRA+
        fields |= _derived("adapter.loraplus_ratio", _number(_read(document, "loraplus_lr_ratio")), document,
                           "loraplus_lr_ratio")  # fmt: skip
    if _number(_read(document, "max_train_epochs")) > 0:  # sd-scripts works out the steps from it
        fields["train.max_steps"] = ()
    if _read(document, "vae"):
        fields |= _derived("model.vae", _read(document, "vae"), document, "vae")
    return fields


def _read(document: Document, key: str) -> object:
    node = document.root.get(key) if document.root is not None else None
    return value(node, "json") if node is not None and node.kind == "scalar" else None


def _derived(field: str, word: object, document: Document, key: str) -> dict[str, tuple[Value, ...]]:
    """A value that this key decides, with its place."""
    node = document.root.get(key) if document.root is not None else None
    span = document.span(node) if node is not None else None
    return {field: (Value(word, "set", key, f"/{key}", node.raw if node else None, span, field=field),)}


def _untold_method(document: Document) -> tuple[Value, ...]:
    assert document.root is not None
    sign = next((key for key in ("network_dim", "num_vectors_per_token") if document.root.get(key)), "")
    word = {"network_dim": "lora", "num_vectors_per_token": "embedding"}.get(sign, "full")
    return (Value(word, "derived", sign, field="adapter.method"),)


def _family(document: Document) -> dict[str, tuple[Value, ...]]:
    """The box that is ticked; Stable Diffusion 1 where SDXL's and 2's are there and none is."""
    ticked = next((key for key in _BOXES if _read(document, key) is True), None)
    if ticked == "flux1_checkbox" and _read(document, "model_type") == "chroma":
        return _derived("model.diffusion_family", "chroma", document, "model_type")
    if ticked is not None:
        return _derived("model.diffusion_family", _BOXES[ticked], document, ticked)
    if _read(document, "v2") is False and False in (_read(document, "sdxl"), _read(document, "sdxl_checkbox")):
        return _derived("model.diffusion_family", "sd15", document, "v2")
    return {}


def _made_for(document: Document) -> dict[str, tuple[Value, ...]]:
    """The architecture that the window's network is made for; LyCORIS' fit several."""
    made = _MADE_FOR.get(str(_read(document, "LoRA_type")))
    if made == "unet" and _read(document, "LoRA_type") in _SD3_TOO and _read(document, "sd3_checkbox") is True:
        made = "sd3"
    return _derived("adapter.architecture", made, document, "LoRA_type") if made else {}


def _text_encoder(document: Document) -> dict[str, tuple[Value, ...]]:
    """A rate of 0 for one side leaves that side out, unless both are 0; a cache is used where its architecture is."""
    text, unet = _read(document, "text_encoder_lr"), _read(document, "unet_lr")
    fields: dict[str, tuple[Value, ...]] = {}
    if text is not None and unet is not None:
        trains = _number(text) != 0 or _number(unet) == 0
        fields |= _derived("train.text_encoder", trains, document, "text_encoder_lr")
    for key in _CACHES:
        if _read(document, key) is True and any(
            key.startswith(box.partition("_")[0]) and _read(document, box) is True for box in _BOXES
        ):
            fields |= _derived("data.cache_text", True, document, key)
    return fields


def _number(raw: object) -> float:
    try:
        return float(raw) if isinstance(raw, (int, float, str)) else 0.0
    except ValueError:
        return 0.0


TABLE = (
    TASK,
    Entry("model.base", "pretrained_model_name_or_path", lambda name: name or SKIP),
    Entry("model.diffusion_family", "", write=never),
    Entry("model.prediction", "v_parameterization", _prediction, lambda word: word == "v_prediction"),
    Entry("model.vae_full_precision", "sdxl_no_half_vae", not_null),
    Entry("model.vae_full_precision", "no_half_vae", not_null, never),
    # the adapter
    Entry("adapter.method", "LoRA_type", _method, lambda word: {"lora": "Standard"}.get(str(word), SKIP)),
    Entry("adapter.architecture", "LoRA_type", lambda _: SKIP, never),
    Entry("adapter.rank", "network_dim", not_null),
    Entry("adapter.alpha", "network_alpha", not_null),
    Entry("adapter.conv_rank", "conv_dim", positive),
    Entry("adapter.conv_alpha", "conv_alpha", positive),
    Entry("adapter.dropout", "network_dropout", not_null),
    Entry("adapter.max_norm", "scale_weight_norms", positive),
    Entry("adapter.dora", "dora_wd", not_null),
    Entry("adapter.dtype", "full_fp16", _half, lambda word: word == "fp16"),
    # optimizer and schedule
    Entry("optim.name", "optimizer", lower, never),
    Entry("optim.lr", "unet_lr", rate),
    Entry("optim.lr", "learning_rate", rate),
    Entry("optim.text_encoder_lr", "text_encoder_lr", rate),
    Entry("optim.args", "optimizer_args", arguments, never),
    Entry("optim.relative_step", "", write=never),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null),
    Entry("schedule.name", "lr_scheduler", lower),
    Entry("schedule.warmup_steps", "lr_warmup_steps", positive),
    Entry("schedule.warmup_ratio", "lr_warmup", _percent,
          lambda share: share * 100 if isinstance(share, (int, float)) else SKIP),
    # batch and length of the run
    Entry("batch.micro", "train_batch_size", not_null),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null),
    Entry("train.epochs", "max_train_epochs", positive, never),
    Entry("train.epochs", "epoch", not_null),
    Entry("train.max_steps", "max_train_steps", positive),
    Entry("train.seed", "seed", positive),
    Entry("train.text_encoder", "", write=never),
    Entry("train.min_snr_gamma", "min_snr_gamma", positive),
    Entry("train.noise_offset", "noise_offset", positive),
    # precision
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16")),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16")),
    Entry("precision.pure_bf16", "full_bf16", _pure),
    # data
    Entry("data.datasets", "train_data_dir", _folder,
          lambda names: names[0] if isinstance(names, list) and names else SKIP, split="\n"),
    Entry("data.resolution", "max_resolution", edge,
          lambda size: f"{size},{size}" if isinstance(size, int) else SKIP),
    Entry("data.buckets", "enable_bucket", not_null),
    Entry("data.bucket_step", "bucket_reso_steps", positive),
    Entry("data.longest_side", "max_resolution", longest, never),
    Entry("data.bucket_min", "min_bucket_reso", positive),
    Entry("data.bucket_max", "max_bucket_reso", positive),
    Entry("data.tag_dropout", "caption_tag_dropout_rate", positive),
    Entry("data.token_warmup", "token_warmup_step", positive),
    Entry("data.config", "dataset_config", lambda name: name or SKIP, never),
    Entry("quant.fp8", "fp8_base", not_null),
    Entry("memory.blocks_to_swap", "blocks_to_swap", positive),
    Entry("data.cache_latents", "cache_latents", not_null),
    Entry("data.cache_text", "sdxl_cache_text_encoder_outputs", lambda _: SKIP),
    Entry("data.shuffle_caption", "shuffle_caption", not_null),
    Entry("data.caption_dropout", "caption_dropout_rate", not_null),
    Entry("data.caption_extension", "caption_extension", not_null),
    Entry("data.color_augmentation", "color_aug", not_null),
    Entry("data.random_crop", "random_crop", not_null),
    # checkpoints and memory
    Entry("checkpoint.output_dir", "output_dir", lambda name: name or SKIP),
    Entry("checkpoint.save_steps", "save_every_n_steps", positive),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null),
)  # fmt: skip

READER = Reader(
    name="kohya-gui",
    title="kohya_ss",
    dialect="json",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("kohya-gui", "sd-scripts"),
    observe=(observe_joined_arguments, observe_foreign, observe_words(SD_SCRIPTS)),
    combine=combine,
    partial=lambda _: "the window keeps what it has",
)
