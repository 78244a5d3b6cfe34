"""musubi-tuner (30c658c4 read): the TOML of `--config_file`, and the flags of its trainers.

It descends from sd-scripts: sections of a file mean nothing, its values pass by argparse, and alpha is 1 unless it is
set. The denoiser alone trains, from caches that other scripts have made; batch, sizes and captions are the dataset
file's. The name of the script decides over the architecture, and weights in fp16 or bf16 over the precision.
Sources: musubi_tuner/training/{parser_common,trainer_base}.py, *_train_network.py, networks/.
"""

from __future__ import annotations

from functools import cache

from loralint.frameworks.convert import dtype, lower, never, not_null, true_for, when_true
from loralint.frameworks.readers.diffusion import TASK, arguments, mixed, positive, written_mixed
from loralint.frameworks.readers.kohya import alpha, made_for, network, relative_step
from loralint.frameworks.readers.kohya_arguments import fields_of, observe_arguments
from loralint.frameworks.readers.kohya_optimizer import observe_foreign
from loralint.frameworks.readers.kohya_words import MUSUBI, observe_words
from loralint.frameworks.readers.musubi_attention import SCRIPTS, observe_attention
from loralint.frameworks.readers.musubi_faults import observe_faults
from loralint.frameworks.readers.script import started
from loralint.frameworks.readers.sd_scripts import observe_datasets
from loralint.frameworks.table import SKIP, Entry, Look, Reader, Values
from loralint.source.document import Document

_FAMILIES = {
    "flux_2_train_network": "flux2", "flux_2_train_network_self_flow": "flux2", "flux_kontext_train_network": "flux",
    "fpack_train_network": "framepack", "hidream_o1_train_network": "hidream_o1", "hidream_o1_train": "hidream_o1",
    "hv_1_5_train_network": "hunyuan_video_1_5", "hv_train_network": "hunyuan_video",
    "ideogram4_train_network": "ideogram4", "kandinsky5_train_network": "kandinsky5",
    "krea2_train_network": "krea2", "qwen_image_train_network": "qwen_image", "qwen_image_train": "qwen_image",
    "wan_train_network": "wan", "zimage_train_network": "z_image", "zimage_train": "z_image",
}  # fmt: skip
_WITH_ITS_OWN = ("ideogram4",)  # draws steps its own way unless told otherwise


def combine(document: Document, values: Values) -> Values:
    """Alpha 0 is the rank; the module says the kind of network and what it is made for."""
    fields = {**alpha(values), **relative_step(values), **fields_of(document)}
    given = values.get("adapter.method", ())
    if given and isinstance(given[0].value, str):
        fields["adapter.method"] = (given[0]._replace(value=network(given[0].value)),)
        fields |= made_for(given[0], "hunyuan_video")
    return fields


def _built(look: Look) -> object:
    made = look.get("adapter.architecture")
    return made.value if made.known else SKIP


def _sampling(look: Look) -> object:
    return SKIP if look.get("model.diffusion_family").value in _WITH_ITS_OWN else "sigma"


def _steps(look: Look) -> object:
    return SKIP if look.get("train.epochs").known else 1600


def _count(value: object) -> object:
    return value if isinstance(value, int) else SKIP


def _share(value: object) -> object:
    return value if isinstance(value, float) else SKIP


TABLE = (
    TASK,
    Entry("model.base", "dit", not_null),
    Entry("model.diffusion_family", "", write=never, default=_built),
    Entry("model.dtype", "dit_dtype", dtype, never),
    Entry("model.prediction", "", write=never, default="flow"),
    Entry("model.vae", "vae", not_null),
    Entry("quant.fp8", "fp8_base", not_null, default=False),
    Entry("quant.fp8_scaled", "fp8_scaled", not_null, default=False),
    *(Entry("model.attention", key, when_true(kernel), true_for(kernel)) for key, kernel in (
        ("sdpa", "sdpa"), ("flash_attn", "flash_attention_2"), ("flash3", "flash_attention_3"),
        ("xformers", "xformers"), ("sage_attn", "sage"),
    )),
    Entry("train.script", "", write=never),
    Entry("train.config", "config_file", not_null, never),
    # the adapter
    Entry("adapter.architecture", "network_module", lambda _: SKIP, never),
    Entry("adapter.method", "network_module", not_null, never),
    Entry("adapter.rank", "network_dim", not_null, default=4),
    Entry("adapter.alpha", "network_alpha", not_null, default=1.0),
    Entry("adapter.conv_rank", "network_args", lambda _: SKIP, never),
    Entry("adapter.conv_alpha", "network_args", lambda _: SKIP, never),
    Entry("adapter.loraplus_ratio", "network_args", lambda _: SKIP, never),
    Entry("adapter.dropout", "network_dropout", not_null),
    Entry("adapter.max_norm", "scale_weight_norms", positive),
    Entry("adapter.init", "", write=never, default="true"),
    # optimizer and schedule
    Entry("optim.name", "optimizer_type", lambda name: lower(name) or SKIP, default="adamw"),
    Entry("optim.lr", "learning_rate", not_null, default=2e-6),
    Entry("optim.args", "optimizer_args", arguments, never),
    Entry("optim.relative_step", "optimizer_args", lambda _: SKIP, never),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
    Entry("schedule.name", "lr_scheduler", lower, default="constant"),
    Entry("schedule.warmup_steps", "lr_warmup_steps", _count, default=0),
    Entry("schedule.warmup_ratio", "lr_warmup_steps", _share, never),
    # length of the run
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("train.epochs", "max_train_epochs", positive),
    Entry("train.max_steps", "max_train_steps", not_null, default=_steps),
    Entry("train.seed", "seed", not_null),
    Entry("train.text_encoder", "", write=never, default=False),
    Entry("train.timestep_sampling", "timestep_sampling", not_null, default=_sampling),
    Entry("train.flow_shift", "discrete_flow_shift", not_null),
    # precision
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16")),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16")),
    # data, checkpoints and memory
    Entry("data.config", "dataset_config", not_null),
    Entry("data.workers", "max_data_loader_n_workers", not_null, default=8),
    Entry("data.workers_stay", "persistent_data_loader_workers", not_null),
    Entry("data.cache_latents", "", write=never, default=True),
    Entry("data.cache_text", "", write=never, default=True),
    Entry("checkpoint.output_dir", "output_dir", not_null),
    Entry("checkpoint.save_steps", "save_every_n_steps", positive),
    Entry("checkpoint.resume_from", "resume", not_null),
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=False),
    Entry("memory.checkpoint_offload", "gradient_checkpointing_cpu_offload", not_null, default=False),
    Entry("memory.blocks_to_swap", "blocks_to_swap", positive),
)  # fmt: skip

READER = Reader(
    name="musubi-tuner",
    title="musubi-tuner",
    dialect="toml",
    table=TABLE,
    keys="sd_scripts",
    coerces=False,
    packages=("musubi-tuner",),
    observe=(observe_arguments, observe_foreign, observe_words(MUSUBI), observe_faults, observe_datasets),
    combine=combine,
    flat=True,
)


def reader_of(script: str) -> Reader | None:
    """The reader of the flags of `wan_train_network`; None for a script of another trainer."""
    return _reader(script) if script in _FAMILIES else None


@cache
def _reader(script: str) -> Reader:
    fixed: dict[str, object] = {"model.diffusion_family": _FAMILIES[script], "train.script": script}
    if not script.startswith(("flux_2_train_network", "flux_kontext")) and not script.endswith("_network"):
        fixed["adapter.method"] = "full"
    reader = READER._replace(keys=f"musubi_flags:{script}", flat=False)
    if script in SCRIPTS:
        reader = reader._replace(observe=(*reader.observe, observe_attention))
    return started(reader, fixed)
