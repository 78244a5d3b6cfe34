"""Which jobs of a manifest train, as far as their commands, images and GPUs tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from loralint.frameworks.readers.kubernetes.gpus import asks_for_gpus, node_label
from loralint.frameworks.readers.kubernetes.launch import programs
from loralint.frameworks.readers.kubernetes.maps import ConfigMap, maps_of
from loralint.frameworks.readers.kubernetes.objects import WORKFLOWS, objects
from loralint.frameworks.readers.kubernetes.pods import RUNTIMES, Job, job_of
from loralint.frameworks.readers.kubernetes.tree import At, items, named, text, word
from loralint.source.document import Document

# Nobody asks for one of these kinds but to train.
_TRAINING = RUNTIMES | {"PyTorchJob", "TrainJob", "HyperPodPyTorchJob"}
# What says by itself that a command trains, and what does where a GPU is asked for as well.
_TRAINS = re.compile(
    r"torchrun|torch\.distributed|accelerate[ -]launch|deepspeed|axolotl|llama-?factory|(?<![a-z])q?lora(?!wan|x)"
    r"|fine[-_]?tun|\b(?:trl|swift) (?:sft|dpo|grpo|kto|rlhf)|\btune run\b|\bsft\b|unsloth",
    re.IGNORECASE,
)
_MAY_TRAIN = re.compile(r"train|pretrain|sft|dpo|grpo|peft|dreambooth", re.IGNORECASE)
_SERVES = re.compile(
    r"vllm|sglang|text-generation|\btgi\b|triton|infer|serv(?:e|ing|er)\b|benchmark|nccl|nvidia-smi|vector-?add|embed"
    r"|eval|notebook|jupyter|lm_eval|cuda-sample|ollama|\btest",
    re.IGNORECASE,
)
_SERVES_LORA = re.compile(r"vllm|sglang|lorax|text-generation|ollama", re.IGNORECASE)
# Scripts beside a training: they prepare, merge or measure.
_BESIDE = re.compile(
    r"merge|convert|export|download|upload|toke?ni[sz]|prepar|preproc|consolid|infer|serv|eval|generat|chat|bench|reduce"
    r"|nccl|quanti[sz]e",
    re.IGNORECASE,
)
_HEAD = 64 * 1024  # characters of a script that are looked at to see whether it trains
_WITHOUT_IMAGE = WORKFLOWS | {"TrainJob", "Workspace"}
# What mostly serves or waits, so that only a script that trains makes it a training.
_SERVICES = frozenset({"Pod", "Deployment", "StatefulSet", "LeaderWorkerSet"})


@lru_cache(maxsize=1)  # recognising, reading and observing a file ask one after another
def jobs(document: Document) -> tuple[Job, ...]:
    """The objects that start a training; a job for anything else, and what is no job, is left out."""
    return tuple(job for job in _every(document) if not is_patch(job) and trains(job))


def jobs_by(document: Document, maps: Iterable[ConfigMap]) -> list[Job]:
    """Further objects that start a training, as the scripts tell that they run from maps of other files."""
    held = tuple(maps)
    quiet = [job for job in _every(document) if not is_patch(job) and not trains(job)] if held else []
    return [job for job in quiet if trains(job, held)]


def patches(document: Document) -> list[Job]:
    """The objects that are a part of a job which stands elsewhere, as Kustomize puts one over another."""
    return [job for job in _every(document) if is_patch(job)]


def _every(document: Document) -> Iterator[Job]:
    for at in objects(document):
        job = job_of(document, at)
        if job is not None:
            yield job


def is_patch(job: Job) -> bool:
    """Whether no container says what it runs, so that another object must."""
    if job.kind in _WITHOUT_IMAGE:
        return False
    containers = (container for group in job.pods for container in group.containers)
    return not any(named(one, key) for one in containers for key in ("image", "command", "args"))


def trains(job: Job, maps: tuple[ConfigMap, ...] = ()) -> bool:
    """Whether the job is a training; one that asks for GPUs and does not say otherwise counts. maps: of other files."""
    if job.kind in _TRAINING or job.kind == "Workspace":
        return job.kind in _TRAINING or bool(job.pods)
    said = " ".join([job.name, *(_said(one) for _, one in job.containers()), word(job.spec, "entrypoint")])
    said = " ".join([said, *_mapped(job, said, maps)])
    asked = _on_gpus(job)
    if not (_TRAINS.search(said) or asked) or _runs_else(job):
        return False
    if _TRAINS.search(said) and not _SERVES_LORA.search(said):
        return True
    return asked and bool(_MAY_TRAIN.search(said) or not _SERVES.search(said))


def _mapped(job: Job, said: str, maps: tuple[ConfigMap, ...]) -> Iterator[str]:
    """The scripts and configs of maps that a command names."""
    for one in (*maps, *maps_of(job.document)):
        yield from (text.content[:_HEAD] for key, text in one.files.items() if key in said)


def _runs_else(job: Job) -> bool:
    """Whether the scripts that are seen do something beside a training."""
    scripts = list(_scripts(job))
    if scripts and all(_BESIDE.search(one) and not _MAY_TRAIN.search(one) for one in scripts):
        return True
    return job.kind in _SERVICES and not any(_MAY_TRAIN.search(one) or _TRAINS.search(one) for one in scripts)


def _scripts(job: Job) -> Iterator[str]:
    """What the containers launch: a script, or the program itself where it needs none."""
    for group, container in job.containers():
        yield from programs(container, job.place(group))


def _on_gpus(job: Job) -> bool:
    return any(asks_for_gpus(one) for _, one in job.containers()) or any(node_label(group.pod) for group in job.pods)


def _said(container: At) -> str:
    words = [text(one) for name in ("command", "args") for one in items(named(container, name))]
    image = os.path.basename(word(container, "image")).partition(":")[0]
    return " ".join([image, *words, word(container, "source")])
