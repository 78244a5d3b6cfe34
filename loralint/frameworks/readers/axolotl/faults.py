"""What axolotl's own validators refuse and no canonical field can say, and values that mean something else to it."""

from __future__ import annotations

from math import prod

from loralint.frameworks.lookup import closest, find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.axolotl.refusals import REFUSALS
from loralint.frameworks.readers.axolotl.table import ATTENTION_SWITCHES
from loralint.frameworks.refusals import refused
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node, Pair
from loralint.source.scalars import is_template, number_text, plain

_STOPS = "axolotl stops before it loads anything"
_ADAPTERS = ("lora", "qlora", "llama-adapter")
_MIXLORA = "axolotl>=0.20"
_PASSES = ("micro_batch_size", "gradient_accumulation_steps")
# Two keys that may not both say something: the one to point at, the other, and why.
_CLASHES: tuple[tuple[str, str, str], ...] = (
    ("batch_size", "gradient_accumulation_steps", "it accumulates by one of the two"),
    ("noisy_embedding_alpha", "neftune_noise_alpha", "the one is the old name of the other"),
    ("pretrain_multipack_buffer_size", "streaming_multipack_buffer_size", "the one is the old name of the other"),
    ("lr_groups", "loraplus_lr_ratio", "both decide the groups of the optimizer"),
    ("gpu_memory_limit", "max_memory", "both limit the memory"),
    ("revision_of_model", "gptq", "a GPTQ model is loaded without a revision"),
    ("model_revision", "gptq", "a GPTQ model is loaded without a revision"),
    ("model_quantization_config", "load_in_4bit", "both quantise the base model"),
    ("model_quantization_config", "load_in_8bit", "both quantise the base model"),
    ("flash_attn_fuse_mlp", "adapter", "fused layers take no LoRA"),
    ("qat", "load_in_4bit", "quantisation-aware training starts from full weights"),
    ("qat", "load_in_8bit", "quantisation-aware training starts from full weights"),
)
# A key that may not stand alone: the key, the one that has to say something, too.
_NEEDS: tuple[tuple[str, str], ...] = (
    ("relora", "jagged_restart_steps"),
    ("fp8_config", "fp8"),
    ("push_dataset_to_hub", "hf_use_auth_token"),
    ("peft_layers_pattern", "peft_layers_to_transform"),
    ("dpo_loss_weights", "dpo_loss_type"),
    ("deepcompile", "deepspeed"),
    ("activation_offloading", "gradient_checkpointing"),
    ("selective_checkpointing", "gradient_checkpointing"),
)


def refused_together(document: Document, look: Look) -> list[Observation]:
    """Observe pairs of keys that the schema refuses, and keys that it refuses alone."""
    root = document.root
    assert root is not None
    switches = [(key, "attn_implementation", "the one switch sets what the other names") for key in ATTENTION_SWITCHES]
    clashes = [*_CLASHES, *(switches[:-1] if look.version_is("axolotl>=0.17") else ())]
    found = []
    for key, other, why in clashes:
        first, second = _said(root, key), _said(root, other)
        if first is not None and second is not None:
            message = f"{_STOPS}, since `{key}` and `{other}` do not go together: {why}"
            package = "axolotl" if key in ATTENTION_SWITCHES else ""  # the others are as old as the schema
            clash = _rejected(document, first, message, "remove")
            found.append(clash._replace(package=package, other=place(document, second, other)))
    for key, other in _NEEDS:
        alone = _said(root, key) if not _filled_later(root, other) and _said(root, other) is None else None
        if alone is not None:
            found.append(_rejected(document, alone, f"{_STOPS}, since `{key}` needs `{other}`"))
    return found


def unknown_adapter(document: Document, look: Look) -> list[Observation]:
    """Observe an adapter that neither axolotl nor a listed plugin has. The name's case matters."""
    root = document.root
    assert root is not None
    pair = _said(root, "adapter")
    if pair is None or pair.value.kind != "scalar" or _said(root, "plugins") is not None:
        return []
    known = (*_ADAPTERS, "mixlora") if look.version_is(_MIXLORA) else _ADAPTERS
    if pair.value.raw in known:
        return []
    guess = closest(pair.value.raw.lower(), known)
    message = f"{_STOPS}, since neither it nor a plugin of this file has an adapter `{pair.value.raw}`"
    return [_rejected(document, pair, message)._replace(replacement=guess, rewrite="value" if guess else "")]


def sharegpt(document: Document, look: Look) -> list[Observation]:
    """Observe the dataset type that 0.5 replaced by `chat_template`."""
    datasets = document.root.get("datasets") if document.root is not None else None
    if datasets is None or look.version_is("axolotl<0.5"):
        return []
    message = f"{_STOPS}: `chat_template` took over, with `field_messages` and `message_property_mappings` for the keys"
    typed = [(f"datasets[{index}].type", item.pair("type")) for index, item in enumerate(datasets.items)]
    return [
        Observation("removed", place(document, pair, key), "crash", message, "chat_template", "value", "axolotl")
        for key, pair in typed
        if pair is not None and pair.value.raw.startswith("sharegpt")
    ]


def batch_size_alone(document: Document, look: Look) -> list[Observation]:
    """Observe `batch_size`, which never beats the accumulation's default of 1, but does set the number of steps."""
    root = document.root
    assert root is not None
    pair = _said(root, "batch_size")
    if pair is None or root.pair("gradient_accumulation_steps") is not None or look.version_is("axolotl<0.5"):
        return []
    micro = root.get("micro_batch_size")
    rows, size = _whole(micro) if micro is not None else 1, _whole(pair.value)
    if rows is None or size is None or size == rows:
        return []
    steps, rest = divmod(size, rows) if rows > 0 else (0, 1)
    until = "" if _said(root, "max_steps") else f", and the run ends {'early' if size > rows else 'late'}"
    seen = "1 row" if rows == 1 else f"{rows} rows"
    message = (
        f"every optimizer step sees {seen} per GPU, not {size}{until}: axolotl keeps its default of 1 accumulation "
        f"step and counts the steps of an epoch by `batch_size`"
    )
    replacement = f"gradient_accumulation_steps: {steps}" if steps and not rest else "gradient_accumulation_steps"
    return [Observation("ignored", place(document, pair, "batch_size"), "changed", message, replacement)]


def table_with_packing(document: Document, _: Look) -> list[Observation]:
    """Observe prediction tables, which need unpacked evaluation rows."""
    root = document.root
    assert root is not None
    table = _said(root, "eval_table_size")
    packed = root.get("eval_sample_packing")
    if table is None or _said(root, "sample_packing") is None or (packed and plain(packed, "pyyaml") is False):
        return []
    return [_rejected(document, table, f"{_STOPS}, since it needs `eval_sample_packing: false` beside it", "remove")]


def fp16_beside_bf16(document: Document, _: Look) -> list[Observation]:
    """Observe fp16 where bf16 is on for certain and wins."""
    root = document.root
    assert root is not None
    bf16, fp16 = _said(root, "bf16"), _said(root, "fp16")
    if (
        bf16 is None
        or fp16 is None
        or plain(bf16.value, "pyyaml") is not True
        or plain(fp16.value, "pyyaml") is not True
    ):
        return []
    message = "`bf16` is on as well, and axolotl goes by that"
    other = place(document, bf16, "bf16")
    return [Observation("ignored", place(document, fp16, "fp16"), "harmless", message, rewrite="remove", other=other)]


def refusals(document: Document, look: Look) -> list[Observation]:
    """Observe what one more key, or what it holds, turns into a refusal."""
    return list(refused(document, look, REFUSALS, _STOPS, "pyyaml", "axolotl"))


def whole_groups(document: Document, look: Look) -> list[Observation]:
    """Observe GRPO whose rows of one process, by accumulation, are no multiple of a group, whatever the GPUs are."""
    root = document.root
    assert root is not None
    if _word(root, "rl") != "grpo" or not look.version_is("axolotl>=0.17"):
        return []
    group, made = find(root, "trl.num_generations"), find(root, "trl.generation_batch_size")
    counts = [_whole(made.value)] if made else [_whole(node) if node else 1 for node in map(root.get, _PASSES)]
    size = _whole(group.value) if group is not None else None
    if group is None or size is None or size < 2 or None in counts:
        return []
    rows = prod(count for count in counts if count is not None)
    if not rows % size:
        return []
    how = "trl.generation_batch_size" if made else " x ".join(_PASSES)
    message = f"{_STOPS}, since {how} is {rows}, which is no multiple of {size}; it does not count GPUs here"
    clash = _rejected(document, group, message)
    place_of = place(document, group, "trl.num_generations")
    return [clash._replace(value=place_of, package="axolotl", data={"advice": f"write a divisor of {rows}"})]


def _word(root: Node, key: str) -> object:
    node = root.get(key)
    return plain(node, "pyyaml") if node is not None else None


def _rejected(document: Document, pair: Pair, message: str, rewrite: str = "") -> Observation:
    return Observation("rejected", place(document, pair, pair.key), "crash", message, "", rewrite)


def _said(root: Node, key: str) -> Pair | None:
    """Find a pair whose value is neither null nor false nor empty, and known before the run starts."""
    pair = root.pair(key)
    if pair is None or is_template(pair.value.raw):
        return None
    return pair if plain(pair.value, "pyyaml") else None


def _filled_later(root: Node, key: str) -> bool:
    node = root.get(key)
    return node is not None and is_template(node.raw)


def _whole(node: Node) -> int | None:
    number = number_text(node.raw)
    return number if isinstance(number, int) else None


def strategies(document: Document, look: Look) -> list[Observation]:
    """Observe slips of the Trainer's words for when to evaluate and save, of which axolotl has no list."""
    root = document.root
    if root is None or not (root.pair("eval_strategy") or root.pair("save_strategy")):
        return []
    from loralint.frameworks.readers.argument_words import observe_words  # few configs have these keys

    return observe_words(document, look)


FAULTS = (
    refused_together, refusals, whole_groups, unknown_adapter, sharegpt, batch_size_alone, table_with_packing,
    fp16_beside_bf16, strategies,
)  # fmt: skip
