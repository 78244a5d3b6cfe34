"""The file that `accelerate config` writes: what the launcher starts, and what it hands on through the environment.

Source: huggingface/accelerate@16cb6eb commands/config/config_args.py, commands/launch.py and utils/launch.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loralint.frameworks.convert import always, lower, never, not_null
from loralint.frameworks.observe import place
from loralint.frameworks.readers.deepspeed import fixed
from loralint.frameworks.readers.training_arguments import fsdp_classes
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader, Values
from loralint.model import Value
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import value

# What a DeepSpeed file beside them settles; accelerate refuses the pair (DeepSpeedPlugin._deepspeed_config_checks).
_SETTLED = (
    "gradient_accumulation_steps", "gradient_clipping", "zero_stage", "offload_optimizer_device",
    "offload_param_device", "offload_param_nvme_path", "offload_optimizer_nvme_path", "zero3_save_16bit_model",
)  # fmt: skip
_FSDP = "fsdp_config."
_SHARDING = ("full_shard", "shard_grad_op", "no_shard", "hybrid_shard", "hybrid_shard_zero2")


def count(given: object) -> object:
    """Read a number of things; -1 and null leave it to the command line."""
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else SKIP


def precision(given: object) -> object:
    """Read a precision's name; an unquoted `no` is a boolean by then."""
    return "no" if given is False else fixed(lower(given))


def mixed(name: str) -> Callable[[object], object]:
    """Switch a precision on where the launcher names it; any other word says nothing about it."""
    return lambda given: True if precision(given) == name else SKIP


def devices(given: object) -> object:
    """Count the GPUs of `gpu_ids: 0,1`; `all` counts none."""
    if isinstance(given, int) and not isinstance(given, bool):
        return 1
    return len(given.split(",")) if isinstance(given, str) and given[:1].isdigit() else SKIP


def is_type(name: str, then: object) -> Callable[[object], object]:
    """Read `distributed_type` as a switch of one way to distribute."""
    return lambda given: then if lower(given) == name else SKIP


def only_its_own(document: Document, values: Values) -> Values:
    """Forget the section of a way to distribute that the file does not take: it lies there from another time."""
    del document
    kind = next((one.value for one in values.get("dist.launcher_type", ())), None)
    idle = [] if kind == "deepspeed" else ["dist.ds_", "dist.zero_stage", "dist.deepspeed", "dist.multinode_launcher"]
    idle += [] if kind == "fsdp" else ["dist.fsdp"]
    dropped: dict[str, tuple[Value, ...]] = {field: () for field in values if field.startswith(tuple(idle))}
    stage = next(iter(values.get("dist.zero_stage", ())), None)
    if kind == "deepspeed" and stage is not None and stage.value == 3 and "dist.ds_gather" not in values:
        key = "deepspeed_config.zero3_save_16bit_model"
        dropped["dist.ds_gather"] = (
            stage._replace(value=False, origin="default", key=key, source="accelerate", field="dist.ds_gather"),
        )
    if kind == "deepspeed":  # accelerate leaves a clipping that it does not name to the trainer, as `auto` does
        first = values["dist.launcher_type"][0]
        dropped["dist.ds_clips"] = (first._replace(value=True, field="dist.ds_clips"),)
    if kind == "fsdp" and "dist.fsdp_version" not in values:
        first = values["dist.launcher_type"][0]
        key = "fsdp_config.fsdp_version"
        dropped["dist.fsdp_version"] = (
            first._replace(value=1, origin="default", key=key, source="accelerate", field="dist.fsdp_version"),
        )
    return dropped


def _section(document: Document, name: str) -> dict[str, Pair]:
    section = document.root.get(name) if document.root is not None else None
    return {pair.key: pair for pair in section.pairs} if section is not None else {}


def _type(document: Document) -> str:
    node = document.root.get("distributed_type") if document.root is not None else None
    return node.raw.lower() if node is not None and node.kind == "scalar" else ""


def observe_settled(document: Document, look: Look) -> list[Observation]:
    """Observe what stands beside a DeepSpeed file that has its own word on it."""
    del look
    section = _section(document, "deepspeed_config")
    if "deepspeed_config_file" not in section or _type(document) != "deepspeed":
        return []
    pairs = [(f"deepspeed_config.{key}", section[key]) for key in _SETTLED if key in section]
    top = document.root.pair("mixed_precision") if document.root is not None else None
    pairs += [("mixed_precision", top)] if top is not None and top.value.tag != "null" else []
    said = "accelerate refuses it beside deepspeed_config_file, whose file has to say it"
    return [Observation("rejected", place(document, pair, key), "crash", said) for key, pair in pairs]


def observe_fsdp(document: Document, look: Look) -> list[Observation]:
    """Observe options of FSDP that the launcher, or the plugin that reads them, refuses together."""
    del look
    return list(_fsdp_faults(document)) if _type(document) == "fsdp" else []


def _fsdp_faults(document: Document) -> Iterator[Observation]:
    section = _section(document, "fsdp_config")
    options = {key.removeprefix("fsdp_"): pair for key, pair in section.items()}
    keys = {key.removeprefix("fsdp_"): f"fsdp_config.{key}" for key in section}
    read = {key: value(pair.value, "pyyaml") for key, pair in options.items() if pair.value.kind == "scalar"}
    second = str(read.get("version", 1)) == "2"
    if not second and _off(read.get("sync_module_states")) and not _off(read.get("cpu_ram_efficient_loading", True)):
        said = "accelerate refuses to load on one rank only (cpu_ram_efficient_loading) without sending the weights on"
        pair, key = options["sync_module_states"], keys["sync_module_states"]
        yield Observation("rejected", place(document, pair, key), "crash", said, "true", "value")
    again = read.get("reshard_after_forward")
    if second and isinstance(again, str) and again.lower() in _SHARDING:
        said = "FSDP 2 takes true or false here; the strategies are FSDP 1's"
        pair, key = options["reshard_after_forward"], keys["reshard_after_forward"]
        better = "false" if again.lower() in ("shard_grad_op", "hybrid_shard_zero2") else "true"
        yield Observation("rejected", place(document, pair, key), "crash", said, better, "value", "accelerate")


def _off(given: object) -> bool:
    return str(given).lower() in ("false", "no", "off", "0")


def observe_precision(document: Document, look: Look) -> list[Observation]:
    """Observe an unquoted `no`, which YAML reads as false: the launcher wants a word and fails on it."""
    del look
    pair = document.root.pair("mixed_precision") if document.root is not None else None
    if pair is None or pair.value.kind != "scalar" or value(pair.value, "pyyaml") is not False:
        return []
    said = f"YAML reads `{pair.value.raw}` as false, and the launcher wants a word"
    return [Observation("coerced", place(document, pair, "mixed_precision"), "crash", said, '"no"', "value")]


def observe_gpus(document: Document, look: Look) -> list[Observation]:
    """Observe one GPU for a run on several, which the launcher refuses."""
    del look
    root = document.root
    pair = root.pair("gpu_ids") if root is not None else None
    if root is None or pair is None or _type(document) != "multi_gpu" or devices(_scalar(pair.value)) != 1:
        return []
    machines = root.get("num_machines")
    if machines is not None and machines.raw != "1":
        return []
    said = "the launcher refuses one GPU for distributed_type MULTI_GPU"
    return [Observation("rejected", place(document, pair, "gpu_ids"), "crash", said, "all", "value")]


def observe_cpu(document: Document, look: Look) -> list[Observation]:
    """Observe a file that keeps the run on the CPU."""
    del look
    pair = document.root.pair("use_cpu") if document.root is not None else None
    on = pair is not None and pair.value.kind == "scalar" and value(pair.value, "pyyaml") is True
    return [Observation("kept-on-cpu", place(document, pair, "use_cpu"), "changed", "")] if pair and on else []


def _scalar(node: Node) -> object:
    return value(node, "pyyaml") if node.kind == "scalar" else None


def upper(given: object) -> object:
    """Read a word that counts in capitals."""
    return given.upper() if isinstance(given, str) else SKIP


def fsdp_options(
    section: str, field: str, option: str, read: Callable[[object], object] = not_null
) -> tuple[Entry, Entry]:
    """One option under both spellings; what reads it adds or drops the prefix."""
    return Entry(field, f"{section}fsdp_{option}", read), Entry(field, f"{section}{option}", read, never)


TABLE: tuple[Entry, ...] = (
    Entry("dist.launcher", "distributed_type", always("accelerate"), never),
    Entry("dist.launcher_type", "distributed_type", lower),
    Entry("dist.launcher_processes", "num_processes", count),
    Entry("dist.launcher_nodes", "num_machines", count),
    Entry("dist.machine", "machine_rank", lambda number: number if type(number) is int else SKIP),
    Entry("dist.rendezvous", "rdzv_backend", lower),
    Entry("dist.visible_devices", "gpu_ids", devices, never),
    Entry("dist.launcher_precision", "mixed_precision", precision),
    Entry("dist.multinode_launcher", "deepspeed_config.deepspeed_multinode_launcher", lower),
    Entry("dist.hostfile", "deepspeed_config.deepspeed_hostfile", not_null),
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), never),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), never),
    Entry("dist.deepspeed", "deepspeed_config.deepspeed_config_file", fixed),
    Entry("dist.deepspeed", "distributed_type", is_type("deepspeed", "accelerate's own"), never),
    Entry("dist.zero_stage", "deepspeed_config.zero_stage", fixed),
    Entry("dist.ds_accumulation", "deepspeed_config.gradient_accumulation_steps", fixed),
    Entry("dist.ds_clipping", "deepspeed_config.gradient_clipping", fixed),
    Entry("dist.ds_gather", "deepspeed_config.zero3_save_16bit_model", fixed),
    Entry("dist.ds_offload_optimizer", "deepspeed_config.offload_optimizer_device", fixed),
    Entry("dist.ds_offload_param", "deepspeed_config.offload_param_device", fixed),
    Entry("dist.fsdp", "distributed_type", is_type("fsdp", then=True), never),
    *fsdp_options(_FSDP, "dist.fsdp_version", "version"),
    *fsdp_options(_FSDP, "dist.fsdp_policy", "auto_wrap_policy", upper),
    *fsdp_options(_FSDP, "dist.fsdp_wrap_class", "transformer_layer_cls_to_wrap", fsdp_classes),
    *fsdp_options(_FSDP, "dist.fsdp_use_orig_params", "use_orig_params"),
    *fsdp_options(_FSDP, "dist.fsdp_offload", "offload_params"),
    *fsdp_options(_FSDP, "dist.fsdp_cpu_ram_efficient", "cpu_ram_efficient_loading"),
    *fsdp_options(_FSDP, "dist.fsdp_state_dict", "state_dict_type", lower),
    *fsdp_options(_FSDP, "dist.fsdp_checkpointing", "activation_checkpointing"),
)

READER = Reader(
    name="accelerate",
    title="accelerate",
    dialect="pyyaml",
    table=TABLE,
    keys="accelerate",
    coerces=True,
    packages=("accelerate", "transformers"),
    observe=(observe_settled, observe_fsdp, observe_precision, observe_gpus, observe_cpu),
    combine=only_its_own,
)
