"""The LoRA scripts in diffusers' examples (0.39 read): flags alone, and what each script decides itself.

alpha is the rank, but for scripts with a flag of its own, which stays at 4 whatever the rank is. The architecture
comes with the model's repository, or with the script. Only the denoiser trains unless `--train_text_encoder` is given.
Sources: examples/{dreambooth,text_to_image,advanced_diffusion_training,cogvideo,...}/train_*lora*.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from loralint.frameworks.convert import lower, never, not_null, one_to_list
from loralint.frameworks.key_list import key_list
from loralint.frameworks.observe import place
from loralint.frameworks.readers.diffusion import TASK, edge, mixed, positive, written_mixed
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Unknown
from loralint.source.document import Document

USUAL = "train_dreambooth_lora_sdxl"
# words in the name of a script, tried in order; Stable Diffusion 1 and 2 share scripts
_FAMILIES = (
    ("sdxl", "sdxl"), ("sd3", "sd3"), ("flux2", "flux2"), ("flux", "flux"), ("qwen_image", "qwen_image"),
    ("z_image", "z_image"), ("krea2", "krea2"), ("ideogram4", "ideogram4"), ("hidream", "hidream"),
    ("lumina2", "lumina2"), ("sana", "sana"), ("cogvideox", "cogvideox"), ("cosmos", "cosmos"),
)  # fmt: skip
_FLOW = ("sd3", "flux2", "flux", "qwen_image", "z_image", "krea2", "ideogram4", "hidream", "lumina2", "sana")
_PLAIN_INIT = ("cogvideox", "cosmos", "control")  # A of PEFT's own; the others draw a gaussian one
_SWITCHES = ("prodigy_decouple", "prodigy_use_bias_correction", "prodigy_safeguard_warmup")
_DENIALS = ("false", "no", "0", "off")
_OWN_ALPHA = "diffusers>=0.34"  # before, alpha was the rank in every script but CogVideoX's
_ADAPTIVE = "prodigy"


def combine(_: Document, values: Values) -> Values:
    """Prodigy's one rate, 8-bit Adam behind its switch, and a rate that the batch scales."""
    fields: Values = {}
    name = values.get("optim.name", ())
    eight = [value for value in name if value.key == "use_8bit_adam"]
    named = [value for value in name if value.key == "optimizer"]
    if named and named[0].value != "adamw":  # the switch is for AdamW; the others pass over it
        fields = {"optim.name": tuple(named)}
    elif eight:
        fields = {"optim.name": tuple(eight)}
    adaptive = named and named[0].value == _ADAPTIVE
    rate, scaled = values.get("optim.lr", ()), [v for v in values.get("optim.lr", ()) if v.key == "scale_lr"]
    if adaptive:
        fields = {**fields, "optim.text_encoder_lr": ()}
    if scaled:
        reason = Unknown("`--scale_lr` multiplies it by the batch of all processes")
        fields = {**fields, "optim.lr": (rate[0]._replace(value=reason),)}
    return fields


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe texts behind switches for which argparse makes true of every text."""
    found = []
    for key in _SWITCHES:
        pair = document.root.pair(key) if document.root is not None else None
        if pair is not None and pair.value.kind == "scalar" and pair.value.raw.lower() in _DENIALS:
            message = f"the script makes true of every text, also of `{pair.value.raw}`"
            found.append(Observation("coerced", place(document, pair, key), "changed", message, package="diffusers"))
    return [*found, *_refused(document)]


def _refused(document: Document) -> list[Observation]:
    """Flags that the scripts want together, or not together."""
    root = document.root
    if root is None:
        return []
    found = []
    prior, rows, folder = (root.pair(key) for key in ("with_prior_preservation", "dataset_name", "instance_data_dir"))
    lacking = [key for key in ("class_data_dir", "class_prompt") if root.pair(key) is None]
    if prior is not None and prior.value.native is not False and lacking:
        message = f"the script raises without {' and '.join(f'--{key}' for key in lacking)}"
        where = place(document, prior, "with_prior_preservation")
        found.append(Observation("rejected", where, "crash", message, package="diffusers"))
    if rows is not None and folder is not None:
        message = "the script raises where both --dataset_name and --instance_data_dir are given"
        where = place(document, rows, "dataset_name")
        found.append(Observation("rejected", where, "crash", message, "", "remove", "diffusers"))
    tracker, token = root.pair("report_to"), root.pair("hub_token")
    if tracker is not None and tracker.value.raw == "wandb" and token is not None:
        message = "the script raises beside --hub_token, which wandb would show; `hf auth login` takes its place"
        found.append(
            Observation("rejected", place(document, tracker, "report_to"), "crash", message, package="diffusers")
        )
    return found


def family_of(script: str) -> str | None:
    """The architecture that a script is made for; None where it takes what the model is."""
    return next((family for word, family in _FAMILIES if word in script), None)


def _rank(look: Look) -> object:
    return look.get("adapter.rank").value


def _text_rate(rate: object) -> Callable[[Look], object]:
    def given(look: Look) -> object:
        if look.get("train.text_encoder").value is not True:
            return SKIP
        return look.get("optim.lr").value if rate is None or look.get("optim.name").value == _ADAPTIVE else rate

    return given


def _table(script: str, flags: frozenset[str], defaults: dict[str, Any]) -> tuple[Entry, ...]:
    family = family_of(script)
    alpha = "lora_alpha" in flags
    always = not alpha or "cogvideox" in script or "cosmos" in script
    init = "true" if any(word in script for word in _PLAIN_INIT) else "gaussian"
    rows = (
        TASK,
        Entry("model.base", "pretrained_model_name_or_path", not_null),
        Entry("model.diffusion_family", "", write=never, default=family or SKIP),
        Entry("model.prediction", "", write=never, default="flow" if family in _FLOW else SKIP),
        Entry("model.vae", "pretrained_vae_model_name_or_path", not_null),
        Entry("train.script", "", write=never, default=script),
        # the adapter
        Entry("adapter.method", "", write=never, default="lora"),
        Entry("adapter.rank", "rank", not_null, default=defaults.get("rank", SKIP)),
        Entry("adapter.rank", "lora_rank", not_null, never),
        Entry("adapter.alpha", "lora_alpha" if alpha else "", not_null, not_null if alpha else never,
              defaults.get("lora_alpha", _rank), when="" if always else _OWN_ALPHA),
        Entry("adapter.dropout", "lora_dropout", not_null, default=0.0),
        Entry("adapter.targets", "lora_layers", not_null, split=","),
        Entry("adapter.dora", "use_dora", not_null, default=False),
        Entry("adapter.init", "", write=never, default=init),
        Entry("adapter.bias", "", write=never, default="none"),
        # optimizer and schedule
        Entry("optim.name", "optimizer", lower, default=str(defaults.get("optimizer", "adamw")).lower()),
        Entry("optim.name", "use_8bit_adam", lambda on: "adamw8bit" if on is True else SKIP, never),
        Entry("optim.lr", "learning_rate", not_null, default=defaults.get("learning_rate", SKIP)),
        Entry("optim.lr", "scale_lr", lambda on: 0.0 if on is True else SKIP, never),
        Entry("optim.text_encoder_lr", "text_encoder_lr", not_null,
              default=_text_rate(defaults.get("text_encoder_lr"))),
        Entry("optim.weight_decay", "adam_weight_decay", not_null),
        Entry("optim.beta1", "adam_beta1", not_null, default=0.9),
        Entry("optim.beta2", "adam_beta2", not_null, default=0.999),
        Entry("optim.eps", "adam_epsilon", not_null, default=1e-8),
        Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
        Entry("schedule.name", "lr_scheduler", lower, default="constant"),
        Entry("schedule.warmup_steps", "lr_warmup_steps", not_null, default=500),
        # batch and length of the run
        Entry("batch.micro", "train_batch_size", not_null, default=defaults.get("train_batch_size", SKIP)),
        Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
        Entry("train.epochs", "num_train_epochs", not_null, default=defaults.get("num_train_epochs", SKIP)),
        Entry("train.max_steps", "max_train_steps", not_null),
        Entry("train.seed", "seed", not_null),
        Entry("train.text_encoder", "train_text_encoder", not_null, default=False),
        Entry("train.min_snr_gamma", "snr_gamma", positive),
        Entry("train.noise_offset", "noise_offset", positive),
        Entry("train.report_to", "report_to", lambda name: [name] if isinstance(name, str) else SKIP, never),
        # precision
        Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16")),
        Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16")),
        Entry("precision.asked", "mixed_precision", not_null, never),
        Entry("precision.tf32", "allow_tf32", not_null, default=False),
        # data, checkpoints and memory
        Entry("data.datasets", "dataset_name", one_to_list),
        *(Entry("data.datasets", key, one_to_list, never) for key in (
            "train_data_dir", "instance_data_dir", "instance_data_root", "train_shards_path_or_url",
            "jsonl_for_train",
        )),
        Entry("data.resolution", "resolution", edge, default=defaults.get("resolution", SKIP)),
        Entry("data.cache_latents", "cache_latents", not_null, default=False),
        Entry("checkpoint.output_dir", "output_dir", not_null),
        Entry("checkpoint.save_steps", "checkpointing_steps", not_null, default=500),
        Entry("checkpoint.save_total_limit", "checkpoints_total_limit", not_null),
        Entry("checkpoint.resume_from", "resume_from_checkpoint", not_null),
        Entry("memory.gradient_checkpointing", "gradient_checkpointing", not_null, default=False),
    )  # fmt: skip
    old = Entry("adapter.alpha", "lora_alpha", not_null, never, _rank, when="diffusers<0.34")
    return rows if always else (*rows, old)


def reader_of(script: str) -> Reader | None:
    """The reader of the flags of `train_dreambooth_lora_flux`; None for a script of another trainer."""
    return _reader(script) if script in key_list("diffusers")["scripts"] else None


@cache
def _reader(script: str) -> Reader:
    scripts = key_list("diffusers")["scripts"]
    keys = f"diffusers:{script}"
    flags = frozenset(key_list(keys)["keys"][""])
    return Reader(
        name="diffusers",
        title="diffusers' script",
        dialect="flags",
        table=_table(script, flags, scripts[script].get("defaults", {})),
        keys=keys,
        coerces=True,
        packages=("diffusers", "peft"),
        observe=(observe_faults,),
        combine=combine,
    )


def _usual() -> Reader:
    found = reader_of(USUAL)
    assert found is not None
    return found


READER = _usual()
