"""Conversions between axolotl's values and the canonical ones, for the rows of axolotl_table."""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import lower, not_null
from loralint.frameworks.table import SKIP
from loralint.model import Unknown

METHODS: dict[object, object] = {"qlora": "lora", "llama-adapter": "adaption_prompt", None: "full", "": "full"}
_PREFERENCE = ("dpo", "ipo", "kto", "orpo", "simpo", "grpo", "ebft")
_OFFLOADS = ("offload", "offload_disk")


def non_empty(value: object) -> object:
    """Pass over an empty text, list or mapping, which says as little as a null."""
    return value if value or value is False or value == 0 else SKIP


def qlora(value: object) -> object:
    """Read whether the adapter is named QLoRA; an empty one is none."""
    return value == "qlora" if value else SKIP


def written_method(method: object) -> object:
    """Write a method as an adapter's name; full fine-tuning is an empty one."""
    return {"full": None, "adaption_prompt": "llama-adapter"}.get(str(method), method)


def written_bits(count: int) -> Callable[[object], object]:
    """Make the way back of `load_in_4bit` or `load_in_8bit`."""
    return lambda bits: {count: True, 16: False}.get(bits, SKIP) if isinstance(bits, int) else SKIP


def init(value: object) -> object:
    """Read the initialisation; `false` never reaches PEFT, since axolotl passes the key on only when it is true."""
    return SKIP if value is None or value is False else value


def kept_dtype(value: object) -> object:
    """Read whether PEFT casts the adapter up; without, a weight is born in the dtype of its base layer."""
    if value is None:
        return SKIP
    return "fp32" if value else Unknown("with no `peft_autocast_adapter_dtype` the adapter has its base layer's dtype")


def quantised_checkpoint(value: object) -> object:
    """Leave the bits open: such a config may load quantised weights or unpack them."""
    return Unknown(f"`model_quantization_config: {value}` may load quantised weights or unpack them") if value else SKIP


def checkpoint_method(value: object) -> object:
    """Read the name of a quantisation config of Transformers."""
    return {"Mxfp4Config": "mxfp4", "FineGrainedFP8Config": "fp8"}.get(str(value), SKIP)


def paths(value: object) -> object:
    """Read the ids or paths of a list of datasets, or of a single one."""
    several = value if isinstance(value, list) else [value]
    named = [_rows_of(item) if isinstance(item, dict) else item for item in several if item]
    return [name for name in named if name is not None] or SKIP


def _rows_of(item: dict[str, object]) -> object:
    """What a dataset is called: its path, else the first of its files, which old releases took without a path."""
    files = item.get("data_files")
    return item.get("path") or (files[0] if isinstance(files, list) and files else files)


def fused_by_plugin(value: object) -> object:
    """Cut cross entropy is on where its plugin is, unless its own key says otherwise."""
    return True if isinstance(value, list) and any("CutCrossEntropy" in str(one) for one in value) else SKIP


def strategy(value: object) -> object:
    """Read a strategy; an unquoted `no` is a boolean that axolotl refuses, but what it was to say is clear."""
    return "no" if value is False else lower(non_empty(value))


def task(value: object) -> object:
    """Read `rl`; `true` was DPO in 2023, and GDPO is GRPO with rewards normalised one by one."""
    return {True: "dpo", "gdpo": "grpo"}.get(value, value) if value and isinstance(value, (str, bool)) else SKIP


def written_rl(method: object) -> object:
    """Write a task that `rl` can name."""
    return method if method in _PREFERENCE else SKIP


def when_filled(canonical: object) -> Callable[[object], object]:
    """Make a reader of keys that switch something on by saying anything."""
    return lambda value: canonical if value else SKIP


def classifier(value: object) -> object:
    """Read a classifier from the model's class."""
    return "cls" if value == "AutoModelForSequenceClassification" else SKIP


def written_tracker(name: str) -> Callable[[object], object]:
    """Make the way back of `use_<tracker>`."""
    return lambda trackers: True if trackers == [name] else SKIP


def checkpointing(value: object) -> object:
    """Read whether activations are recomputed; `offload` recomputes and keeps them on the CPU."""
    return SKIP if value is None else value in _OFFLOADS or value


def offloading(value: object) -> object:
    """Read the offloading that `gradient_checkpointing: offload` brings."""
    return True if value in _OFFLOADS else SKIP


def offloaded(value: object) -> object:
    """Read `activation_offloading`, of which `legacy`, `disk` and `hidden_states` are kinds."""
    return SKIP if value is None else bool(value)


def empty_as_off(value: object) -> object:
    """Read a switch whose default is `auto`: an empty one is off."""
    return False if value is None else value


def first(value: object) -> object:
    """Read the first of a list, or the only one."""
    return (value[0] if value else SKIP) if isinstance(value, list) else not_null(value)


def optim_args(value: object) -> object:
    """Read optimizer arguments; `a=1,b=2` and a mapping are the same."""
    if not isinstance(value, str):
        return non_empty(value)
    pairs = [part.partition("=") for part in value.replace(" ", "").split(",") if "=" in part]
    return {name: text for name, _, text in pairs} or SKIP
