"""Kohya's sd-scripts (0.10.1 read): the TOML of `--config_file`, and the flags of its trainers.

Sections of a file mean nothing. Its values pass by argparse, so that neither an unknown key nor a wrong type is told.
Which script reads it decides over the architecture; `network_module` and `v2` say it only in part.
Sources: library/train_util.py, *train_network.py, networks/lora.py.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import lower, never, not_null, one_to_list
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import (
    TASK,
    arguments,
    edge,
    first,
    longest,
    mixed,
    positive,
    written_mixed,
)
from loralint.frameworks.readers.kohya import alpha, made_for, network, rate, rates, relative_step
from loralint.frameworks.readers.kohya_arguments import arguments_of, fields_of, observe_arguments
from loralint.frameworks.readers.kohya_optimizer import observe_foreign
from loralint.frameworks.readers.kohya_words import SD_SCRIPTS, observe_words
from loralint.frameworks.readers.sd_scripts_dataset import unread
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document

UNET = "unet"  # of Stable Diffusion 1, 2 or XL
_SAMPLING = {"flux": "sigma", "chroma": "sigma", "hunyuan_image": "sigma", "lumina2": "shift", "anima": "sigmoid"}
_PREDICTION = {True: "v_prediction", False: "epsilon"}


def _common_rate(look: Look) -> object:
    """Give the common rate, which the text encoder takes unless it has one."""
    return look.get("optim.lr").value if look.get("train.text_encoder").value is True else SKIP


def _count(value: object) -> object:
    """Read a whole number of steps; a float is a share of all."""
    return value if isinstance(value, int) else SKIP


def _share(value: object) -> object:
    return value if isinstance(value, float) else SKIP


def _steps(look: Look) -> object:
    """Give the length of a run without epochs."""
    return SKIP if look.get("train.epochs").known else 1600


def _switch(answer: object) -> Callable[[object], object]:
    return lambda on: answer if on is True else SKIP


def _trains_text(only_unet: object) -> object:
    return False if only_unet is True else SKIP


def combine(document: Document, values: Values) -> Values:
    """Decide by several keys: alpha, the rates, the kind of network and its arguments."""
    fields: dict[str, tuple[Value, ...]] = {**alpha(values), **rates(values), **relative_step(values)}
    fields |= fields_of(document)
    given = values.get("adapter.method", ())
    algo = arguments_of(document).get("algo")
    if given and isinstance(given[0].value, str):
        fields["adapter.method"] = (given[0]._replace(value=network(given[0].value, algo and algo.text)),)
        fields |= made_for(given[0], UNET)
    text = values.get("optim.text_encoder_lr", ())
    cached = True in [value.value for value in values.get("data.cache_text", ())]  # asks for the switch, not the rate
    if text and first(text) == 0 and "train.text_encoder" not in values and not cached:
        fields["train.text_encoder"] = (text[0]._replace(value=False, field="train.text_encoder"),)
    unet = next((value for value in values.get("optim.lr", ()) if value.key == "unet_lr" and value.value == 0), None)
    if unet is not None and "train.denoiser" not in values:
        fields["train.denoiser"] = (unet._replace(value=False, field="train.denoiser"),)
    return fields


def observe_resolution(document: Document, _: Look) -> list[Observation]:
    """Observe what the trainer cannot split at a comma: a number in a file, and sizes as `1024x1024`."""
    pair = document.root.pair("resolution") if document.root is not None else None
    if pair is None or pair.value.kind != "scalar" or not pair.value.raw or "$" in pair.value.raw:
        return []
    node, where = pair.value, place(document, pair, "resolution")
    if document.format == "toml" and node.tag in ("int", "float"):
        message = "the trainer splits a text at its comma, and a number cannot be split"
        return [Observation("rejected", where, "crash", message, f'"{node.raw},{node.raw}"')]
    if node.tag == "str" and longest(node.raw) is SKIP:
        message = "it is `size` or `width,height`, and the trainer makes whole numbers of what stands around the comma"
        return [Observation("rejected", where, "crash", message, node.raw.lower().replace("x", ","))]
    return []


def observe_datasets(document: Document, _: Look) -> list[Observation]:
    """Observe datasets among the settings of a trainer."""
    return unread(document)


def _built(look: Look) -> object:
    """Give the architecture that the adapter is made for, which the script's must be."""
    made = look.get("adapter.architecture")
    return made.value if made.known and made.value != UNET else SKIP


def _default_text(look: Look) -> object:
    """Give what trains unless it is switched off: the text encoder does, where the trainer can train one."""
    return look.get("model.diffusion_family").value not in ("chroma", "hunyuan_image")


def _sampling(look: Look) -> object:
    """Give how steps are drawn, where the trainer has a choice."""
    return _SAMPLING.get(str(look.get("model.diffusion_family").value), SKIP)


def _prediction(look: Look) -> object:
    """Give epsilon, which the models with a U-Net predict unless told otherwise."""
    return "epsilon" if look.get("model.diffusion_family").value in (None, "sd15", "sd2", "sdxl") else SKIP


TABLE = (
    TASK,
    Entry("model.base", "pretrained_model_name_or_path", not_null),
    Entry("model.diffusion_family", "v2", _switch("sd2"), never, _built),
    Entry("model.diffusion_family", "model_type", lambda word: "chroma" if word == "chroma" else SKIP, never),
    Entry("model.prediction", "v_parameterization", lambda on: _PREDICTION.get(on is True),
          lambda word: word == "v_prediction", _prediction),
    Entry("model.vae", "vae", not_null),
    Entry("model.vae", "ae", not_null, never),
    *(Entry("model.text_encoder", key, not_null, never) for key in (
        "t5xxl", "gemma2", "qwen3", "text_encoder",
    )),
    Entry("train.script", "", write=never),
    Entry("train.config", "config_file", not_null, never),
    Entry("model.vae_full_precision", "no_half_vae", not_null, default=False),
    Entry("quant.fp8", "fp8_base", not_null, default=False),
    Entry("quant.fp8", "fp8_base_unet", _switch(answer=True), never),
    # the adapter
    Entry("adapter.architecture", "network_module", lambda _: SKIP, never),
    Entry("adapter.method", "network_module", not_null, lambda word: "networks.lora" if word == "lora" else SKIP),
    Entry("adapter.rank", "network_dim", not_null, default=4),
    Entry("adapter.alpha", "network_alpha", not_null, default=1.0),
    Entry("adapter.conv_rank", "network_args", lambda _: SKIP, never),
    Entry("adapter.conv_alpha", "network_args", lambda _: SKIP, never),
    Entry("adapter.loraplus_ratio", "network_args", lambda _: SKIP, never),
    Entry("adapter.dora", "network_args", lambda _: SKIP, never),
    Entry("adapter.rslora", "network_args", lambda _: SKIP, never),
    Entry("adapter.dropout", "network_dropout", not_null),
    Entry("adapter.max_norm", "scale_weight_norms", positive),
    Entry("adapter.dtype", "full_fp16", _switch("fp16"), lambda word: word == "fp16"),
    Entry("adapter.init", "", write=never, default="true"),
    # optimizer and schedule
    Entry("optim.name", "optimizer_type", lambda name: lower(name) or SKIP, default="adamw"),
    Entry("optim.name", "use_8bit_adam", _switch("adamw8bit"), never),
    Entry("optim.name", "use_lion_optimizer", _switch("lion"), never),
    Entry("optim.lr", "unet_lr", rate),
    Entry("optim.lr", "learning_rate", rate, default=2e-6),
    Entry("optim.text_encoder_lr", "text_encoder_lr", rate, default=_common_rate),
    Entry("optim.args", "optimizer_args", arguments, never),
    Entry("optim.relative_step", "optimizer_args", lambda _: SKIP, never),
    Entry("optim.fused_backward", "fused_backward_pass", not_null, default=False),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
    Entry("schedule.name", "lr_scheduler", lower, default="constant"),
    Entry("schedule.warmup_steps", "lr_warmup_steps", _count, default=0),
    Entry("schedule.warmup_ratio", "lr_warmup_steps", _share, never),
    # batch and length of the run
    Entry("batch.micro", "train_batch_size", not_null, default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.epochs", "max_train_epochs", positive),
    Entry("train.max_steps", "max_train_steps", not_null, default=_steps),
    Entry("train.seed", "seed", not_null),
    Entry("train.denoiser", "network_train_text_encoder_only", _trains_text, lambda on: not on, default=True),
    Entry("train.text_encoder", "network_train_unet_only", _trains_text, lambda on: not on, _default_text),
    Entry("train.min_snr_gamma", "min_snr_gamma", positive),
    Entry("train.noise_offset", "noise_offset", positive),
    Entry("train.zero_terminal_snr", "zero_terminal_snr", not_null, default=False),
    Entry("train.v_loss_scaled", "scale_v_pred_loss_like_noise_pred", not_null, default=False),
    Entry("train.timestep_sampling", "timestep_sampling", not_null, default=_sampling),
    Entry("train.flow_shift", "discrete_flow_shift", not_null),
    # precision
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16"), default=False),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16"), default=False),
    Entry("precision.pure_bf16", "full_bf16", _switch(answer=True)),
    # data
    Entry("data.datasets", "train_data_dir", not_null,
          lambda names: names[0] if isinstance(names, list) and names else SKIP, split="\n"),
    Entry("data.datasets", "in_json", one_to_list, never),
    Entry("data.datasets", "dataset_class", one_to_list, never),
    Entry("data.config", "dataset_config", not_null),
    Entry("data.workers", "max_data_loader_n_workers", not_null, default=8),
    Entry("data.workers_stay", "persistent_data_loader_workers", not_null),
    Entry("data.buckets", "enable_bucket", not_null, default=False),
    Entry("data.bucket_step", "bucket_reso_steps", not_null, default=64),
    Entry("data.resolution", "resolution", edge, lambda size: f"{size},{size}" if isinstance(size, int) else SKIP),
    Entry("data.longest_side", "resolution", longest, never),
    Entry("data.bucket_min", "min_bucket_reso", not_null, default=256),
    Entry("data.bucket_max", "max_bucket_reso", not_null, default=1024),
    Entry("data.cache_latents", "cache_latents", not_null, default=False),
    Entry("data.cache_latents", "cache_latents_to_disk", _switch(answer=True), never),
    Entry("data.cache_text", "cache_text_encoder_outputs", not_null, default=False),
    Entry("data.cache_text", "cache_text_encoder_outputs_to_disk", _switch(answer=True), never),
    Entry("data.shuffle_caption", "shuffle_caption", not_null, default=False),
    Entry("data.caption_dropout", "caption_dropout_rate", not_null, default=0.0),
    Entry("data.tag_dropout", "caption_tag_dropout_rate", not_null, default=0.0),
    Entry("data.token_warmup", "token_warmup_step", not_null, default=0),
    Entry("data.caption_extension", "caption_extension", not_null, default=".caption"),
    Entry("data.color_augmentation", "color_aug", not_null, default=False),
    Entry("data.random_crop", "random_crop", not_null, default=False),
    # checkpoints and memory
    Entry("checkpoint.output_dir", "output_dir", not_null),
    Entry("checkpoint.save_steps", "save_every_n_steps", positive),
    Entry("checkpoint.resume_from", "resume", not_null),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=False),
    Entry("memory.checkpoint_offload", "cpu_offload_checkpointing", not_null, default=False),
    Entry("memory.blocks_to_swap", "blocks_to_swap", positive),
)  # fmt: skip

READER = Reader(
    name="sd-scripts",
    title="sd-scripts",
    dialect="toml",
    table=TABLE,
    keys="sd_scripts",
    coerces=False,
    packages=("sd-scripts",),
    observe=(observe_arguments, observe_foreign, observe_words(SD_SCRIPTS), observe_resolution, observe_datasets),
    combine=combine,
    flat=True,
)
