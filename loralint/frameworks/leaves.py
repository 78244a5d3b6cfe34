"""Names that home-made configs use for LoRA and for training, wherever in a tree they stand.

Most such configs nest the names of PEFT and of TrainingArguments as their author likes. A short name (`r`, `alpha`,
`rank`) counts only beside LoRA's longer ones or below a key that speaks of LoRA or of an adapter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from loralint.frameworks.listed import settings
from loralint.source.document import Document, Node, Pair


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LORA = {
    "lora_r": "rank", "lora_rank": "rank", "lora_alpha": "alpha", "lora_target_modules": "targets",
    "target_modules": "targets", "lora_targets": "targets", "lora_target": "targets", "lora_dropout": "dropout",
}  # fmt: skip
SHORT = {"r": "rank", "rank": "rank", "alpha": "alpha", "dropout": "dropout", "targets": "targets", "bias": "bias"}
TRAINING = _words("""
    learning_rate lr num_train_epochs num_epochs epochs per_device_train_batch_size micro_batch_size max_steps
    gradient_accumulation_steps warmup_ratio warmup_steps total_epochs
""")
_TELLING = frozenset({"rank", "alpha", "targets"})
# `model: {name: owner/model}`, as many write it: the name means the model by where it stands alone
_BASES = frozenset({"model", "base_model"})
_CALLED = frozenset({"name", "id", "name_or_path"})
# roots of files that are nobody's home-made LLM run: other formats, trainers of image models, saved states
_NOT_OURS = _words("""
    apiVersion services openapi swagger asyncapi jobs $schema merge_method slices compute_environment distributed_type
    zero_optimization architectures transformers_version tokenizer_class added_tokens_decoder log_history total_flos
    wandb_version _wandb pretrained_model_name_or_path model_family data_backend_config network_module network_dim
    LoRA_type train_data_dir instance_prompt base_model_name training_method vae unet job process peft_type
""")


class Leaf(NamedTuple):
    """A scalar or a list below a known name. name: in full, so that `r` beside `lora_alpha` is `lora_r`.

    listed: it is a variable or a flag, so that nothing but a text can stand for several names.
    """

    dotted: str
    pair: Pair
    name: str
    listed: bool = False


def leaves(node: Node, dotted: str = "", *, inside: bool = False) -> Iterator[Leaf]:
    """Every pair of a tree of mappings whose value is no mapping; of lists only those of variables and of flags."""
    pairs = [(f"{dotted}.{pair.key}" if dotted else pair.key, pair) for pair in node.pairs]
    pairs += [(f"{dotted}{one.place}", one.pair) for one in settings(node)]
    beside = inside or any(pair.key in LORA for _, pair in pairs)
    for key, pair in pairs:
        if pair.value.kind == "mapping" or next(settings(pair.value), None) is not None:
            yield from leaves(pair.value, key, inside=inside or _speaks_of_lora(pair.key))
        elif pair.key not in SHORT:
            base = pair.key in _CALLED and dotted.rpartition(".")[2] in _BASES
            yield Leaf(key, pair, "model_name" if base else pair.key, listed=bool(node.items))
        elif beside:
            yield Leaf(key, pair, f"lora_{SHORT[pair.key]}", listed=bool(node.items))


def _speaks_of_lora(key: str) -> bool:
    word = key.lower()
    return "lora" in word or "peft" in word or "adapter" in word


def homemade(document: Document) -> tuple[str, ...]:
    """Keys that make a file a home-made LoRA run: one that sizes or places the adapter, one that trains it."""
    root = document.root
    if root is None or "lora" not in document.own.lower() or any(pair.key in _NOT_OURS for pair in root.pairs):
        return ()
    adapter, training = "", ""
    for leaf in leaves(root):
        if LORA.get(leaf.name, leaf.name.removeprefix("lora_") if leaf.pair.key in SHORT else "") in _TELLING:
            adapter = adapter or leaf.dotted
        elif leaf.name in TRAINING and leaf.pair.value.kind == "scalar":
            training = training or leaf.dotted
        if adapter and training:
            return (adapter, training)
    return ()
