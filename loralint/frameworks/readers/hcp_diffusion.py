"""HCP-Diffusion (c3d5d9b read): OmegaConf YAML that builds on others by `_base_`; adapters are lists of blocks.

`lora_unet` and `lora_text_encoder` hold LoRA, `plugin_unet` and `plugin_TE` any class, of which LyCORIS' are known,
`unet` and `text_encoder` what is trained itself. A base usually sets `scale_lr`, which multiplies every rate by the
batch of all devices, so a rate counts only beside `scale_lr: false`.
Sources: hcpdiff/train_ac.py, utils/{utils,cfg_net_tools}.py, models/lora_base.py, cfgs/train; LyCORIS'
hcp-hypernet-attn-backup branch, lycoris/hcp.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.convert import lower, never, not_null
from loralint.frameworks.lookup import find
from loralint.frameworks.read import canonical
from loralint.frameworks.readers.diffusion import KNOWN_TASK, TASK, mixed, positive, written_mixed
from loralint.frameworks.table import SKIP, Entry, Reader, Values
from loralint.model import Unknown, Value
from loralint.source.document import Document, Node

_BLOCKS = ("lora_unet", "lora_text_encoder")
_PLUGINS = ("plugin_unet", "plugin_TE")
_WHOLE = ("unet", "text_encoder")
_METHODS = {"lokr": "lokr", "loha": "loha", "diagoft": "diag-oft"}
_SCALED = "`train.scale_lr` may multiply the rate by the batch of all devices"


def _optimizer(name: object) -> object:
    """Read `torch.optim.AdamW` and `adamw` alike."""
    return name.rpartition(".")[2].lower() if isinstance(name, str) else SKIP


def _blocks(root: Node, key: str) -> Iterator[tuple[str, Node]]:
    """The blocks of an adapter that hold settings, with the dotted name of each."""
    pair = root.pair(key)
    for index, item in enumerate(pair.value.items if pair else ()):
        if item.kind == "mapping":
            yield f"{key}[{index}]", item
    for inner in pair.value.pairs if pair else ():
        if inner.value.kind == "mapping":
            yield f"{key}.{inner.key}", inner.value


def _setting(document: Document, root: Node, keys: tuple[str, ...], name: str, field: str) -> tuple[Value, ...]:
    """One setting of all blocks under some keys; unknown where the blocks differ."""
    found: list[Value] = []
    for key in keys:
        for dotted, block in _blocks(root, key):
            pair = block.pair(name)
            entry = Entry(field, f"{dotted}.{name}", not_null)
            value = canonical(document, pair, entry, READER) if pair is not None else None
            found += [value] if value is not None else []
    if any(one.value != found[0].value for one in found[1:]):
        return (found[0]._replace(value=Unknown("the blocks of the adapter differ"), items=()),)
    return tuple(found[:1])


def _method(document: Document, root: Node) -> Value | None:
    """What the blocks are, all together: LoRA, one of LyCORIS' classes, or the weights themselves."""
    names = {"lora" for key in _BLOCKS for _ in _blocks(root, key)}
    names |= {_plugin(block) for key in _PLUGINS for _, block in _blocks(root, key)}
    names |= {"full" for key in _WHOLE for _ in _blocks(root, key)}
    pair = next((root.pair(key) for key in (*_BLOCKS, *_PLUGINS, *_WHOLE) for _ in _blocks(root, key)), None)
    if pair is None:
        return None
    known = names.pop() if len(names) == 1 else ""
    made: object = known or Unknown("the blocks are not all of one kind that is known")
    return Value(made, "set", pair.key, f"/{pair.key}", None, document.span(pair.key_node), field="adapter.method")


def _plugin(block: Node) -> str:
    target = block.get("_target_")
    parts = target.raw.split(".") if target is not None else []
    known = parts[:2] == ["lycoris", "hcp"] and len(parts) > 2
    return _METHODS.get(parts[2].lower().removesuffix("block"), "") if known else ""


def combine(document: Document, values: Values) -> Values:
    """The adapter from its blocks, rates that nothing multiplies, the batch of all data sets together."""
    del values
    root = document.root
    assert root is not None
    fields: dict[str, tuple[Value, ...]] = dict(KNOWN_TASK)
    method = _method(document, root)
    if method is not None:
        fields["adapter.method"] = (method,)
    if method is not None and method.value == "lora":
        for field, name in (("rank", "rank"), ("alpha", "alpha"), ("dropout", "dropout")):
            fields[f"adapter.{field}"] = _sized(_setting(document, root, _BLOCKS, name, f"adapter.{field}"))
    fields["optim.lr"] = _rate(document, root, ("lora_unet", "plugin_unet", "unet"), "optim.lr")
    encoder = ("lora_text_encoder", "plugin_TE", "text_encoder")
    fields["optim.text_encoder_lr"] = _rate(document, root, encoder, "optim.text_encoder_lr")
    fields["batch.micro"] = _batch(document, root)
    return fields


def _sized(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """A rank with a point is a share of each layer's outputs."""
    if values and values[0].field == "adapter.rank" and isinstance(values[0].value, float):
        return (values[0]._replace(value=Unknown("the rank is a share of each layer's outputs")),)
    return values


def _rate(document: Document, root: Node, keys: tuple[str, ...], field: str) -> tuple[Value, ...]:
    rates = _setting(document, root, keys, "lr", field)
    scaled = find(root, "train.scale_lr")
    if not rates or (scaled is not None and scaled.value.tag == "bool" and scaled.value.raw.lower() in ("false", "no")):
        return rates
    return (rates[0]._replace(value=Unknown(_SCALED)),)


def _batch(document: Document, root: Node) -> tuple[Value, ...]:
    """One batch of every data set goes into a step."""
    found = []
    for dotted, block in _blocks(root, "data"):
        pair = block.pair("batch_size")
        entry = Entry("batch.micro", f"{dotted}.batch_size", not_null)
        value = canonical(document, pair, entry, READER) if pair is not None else None
        found += [value] if value is not None else []
    sizes = [one.value for one in found if isinstance(one.value, int)]
    if not found or len(sizes) < len(found):
        return ()
    return (found[0]._replace(value=sum(sizes)),)


def partial(document: Document) -> str:
    """Why a key may stand elsewhere: the file builds on others."""
    bases = document.root.get("_base_") if document.root is not None else None
    return "it may come from the files that `_base_` names" if bases is not None and bases.items else ""


TABLE = (
    TASK,
    Entry("model.base", "model.pretrained_model_name_or_path", not_null),
    Entry("adapter.method", "", read=never, write=never),
    Entry("adapter.rank", "lora_unet[0].rank", read=never, write=never),
    Entry("adapter.alpha", "lora_unet[0].alpha", read=never, write=never),
    Entry("adapter.dropout", "lora_unet[0].dropout", read=never, write=never),
    Entry("optim.lr", "lora_unet[0].lr", read=never, write=never),
    Entry("optim.text_encoder_lr", "lora_text_encoder[0].lr", read=never, write=never),
    Entry("optim.name", "train.optimizer.type", _optimizer, never),
    Entry("optim.name", "train.optimizer._target_", _optimizer, never),
    Entry("optim.weight_decay", "train.optimizer.weight_decay", not_null),
    Entry("optim.max_grad_norm", "train.max_grad_norm", not_null),
    Entry("schedule.name", "train.scheduler.name", lower),
    Entry("schedule.warmup_steps", "train.scheduler.num_warmup_steps", not_null),
    Entry("batch.micro", "data.dataset1.batch_size", read=never, write=never),
    Entry("batch.accumulation", "train.gradient_accumulation_steps", not_null),
    Entry("train.max_steps", "train.train_steps", not_null),
    Entry("train.epochs", "train.train_epochs", not_null),
    Entry("train.seed", "seed", not_null),
    Entry("precision.bf16", "mixed_precision", mixed("bf16"), written_mixed("bf16")),
    Entry("precision.fp16", "mixed_precision", mixed("fp16"), written_mixed("fp16")),
    Entry("precision.tf32", "allow_tf32", not_null),
    Entry("checkpoint.output_dir", "exp_dir", not_null),
    Entry("checkpoint.save_steps", "train.save_step", positive),
    Entry("memory.gradient_checkpointing", "model.gradient_checkpointing", not_null),
)

READER = Reader(
    name="hcp-diffusion",
    title="HCP-Diffusion",
    dialect="omegaconf",
    table=TABLE,
    keys="",
    coerces=False,
    packages=("hcp-diffusion",),
    combine=combine,
    partial=partial,
    references=True,
)
