"""Environment variables that change a training: a reader over a document whose root maps names to values.

Variables come from `.env` files, from the lines of a script, from a manifest and from `--env`; `environment` makes one
document of them, so that the rows, the secrets and the places are those of every other file. What a variable is worth
against a flag or a launcher is data (golden/precedence.yaml).
Sources: accelerate 1.15.0 state.py, accelerator.py, utils/dataclasses.py; torch 2.13 distributed/run.py (PET_*).
"""

from __future__ import annotations

from collections.abc import Iterable

from loralint.frameworks.convert import lower, never, when_true
from loralint.frameworks.readers.accelerate import count, mixed
from loralint.frameworks.readers.deepspeed import fixed
from loralint.frameworks.table import SKIP, Entry, Reader
from loralint.source.document import Document, Mark, Node, Pair
from loralint.source.scalars import number_text


def environment(document: Document, pairs: Iterable[Pair]) -> Document:
    """A document over the same text whose root holds these variables; of one name the last counts."""
    made = Document(document.file, "env", document.text)
    made.sealed = document.sealed
    root = Node("mapping", "map", Mark(0, made.lines), Mark(len(made.text), made.lines))
    root.pairs = list({pair.key: pair for pair in pairs}.values())
    made.roots = [root]
    return made


def _visible(given: object) -> object:
    """Count the devices of `0,1`, `GPU-8f1c...` or `4`; an empty text and -1 hide all."""
    text = str(given).strip() if isinstance(given, (str, int)) and not isinstance(given, bool) else ""
    listed = [one for one in text.split(",") if one.strip() and one.strip() != "-1"]
    return len(listed) or SKIP


def _first(given: object) -> object:
    """Whether they are the first of the machine, in their order: `0`, `0,1,2`."""
    listed = [one.strip() for one in str(given).split(",")]
    return listed == [str(number) for number in range(len(listed))]


def _torchrun(given: object) -> object:
    """LLaMA-Factory's own wish for a launcher, in the words that it takes for yes."""
    return "torchrun" if str(given).lower() in ("true", "y", "1") else SKIP


def _clipping(given: object) -> object:
    return SKIP if given == "auto" else fixed(number_text(given) if isinstance(given, str) else given)


TABLE: tuple[Entry, ...] = (
    Entry("precision.bf16", "ACCELERATE_MIXED_PRECISION", mixed("bf16"), never),
    Entry("precision.fp16", "ACCELERATE_MIXED_PRECISION", mixed("fp16"), never),
    Entry("batch.accumulation", "ACCELERATE_GRADIENT_ACCUMULATION_STEPS", count),
    Entry("dist.visible_devices", "CUDA_VISIBLE_DEVICES", _visible, never),
    Entry("dist.visible_first", "CUDA_VISIBLE_DEVICES", _first, never),
    Entry("dist.launcher", "FORCE_TORCHRUN", _torchrun, never),
    Entry("dist.launcher_processes_per_node", "PET_NPROC_PER_NODE", count),
    Entry("dist.launcher_processes_per_node", "NPROC_PER_NODE", count),
    Entry("dist.launcher_nodes", "PET_NNODES", count),
    Entry("dist.launcher_nodes", "NNODES", count),
    Entry("dist.launcher_processes", "TRAINING_NUM_PROCESSES", count),  # SimpleTuner's, of all machines
    Entry("dist.launcher_nodes", "TRAINING_NUM_MACHINES", count),
    Entry("dist.deepspeed", "ACCELERATE_USE_DEEPSPEED", when_true("accelerate's own"), never),
    Entry("dist.deepspeed", "ACCELERATE_DEEPSPEED_CONFIG_FILE", fixed),
    Entry("dist.zero_stage", "ACCELERATE_DEEPSPEED_ZERO_STAGE", count),
    Entry("dist.ds_clipping", "ACCELERATE_GRADIENT_CLIPPING", _clipping),
    Entry("dist.fsdp", "ACCELERATE_USE_FSDP", when_true(canonical=True)),
    Entry("dist.fsdp_version", "FSDP_VERSION", count),
    Entry("dist.fsdp_wrap_class", "FSDP_TRANSFORMER_CLS_TO_WRAP", fixed),
    Entry("dist.fsdp_use_orig_params", "FSDP_USE_ORIG_PARAMS", fixed),
    Entry("dist.fsdp_cpu_ram_efficient", "FSDP_CPU_RAM_EFFICIENT_LOADING", fixed),
    Entry("dist.fsdp_offload", "FSDP_OFFLOAD_PARAMS", fixed),
    Entry("dist.fsdp_state_dict", "FSDP_STATE_DICT_TYPE", lower),
    Entry("dist.fsdp_checkpointing", "FSDP_ACTIVATION_CHECKPOINTING", fixed),
)

READER = Reader(
    name="environment",
    title="the environment",
    dialect="flags",
    table=TABLE,
    keys="",
    coerces=True,
    packages=("accelerate",),
)
