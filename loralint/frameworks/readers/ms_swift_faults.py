"""What ms-swift refuses or passes over where one key alone does not tell, and what it makes of a null.

Every value of a file becomes the text of a command-line argument, so that null arrives as "None" (since 4.1; before,
no such file was read for `swift sft`). Sources: ms-swift 4.1.0 to 4.6.0 `cli/main.py`, `arguments/sft_args.py`,
`arguments/base_args/`, `trainers/arguments.py`; 3.3.0 to 3.7.0 `llm/model/register.py` (Unsloth).
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.key_list import key_list
from loralint.frameworks.lookup import loader
from loralint.frameworks.observe import place
from loralint.frameworks.readers.ms_swift_refusals import REFUSALS
from loralint.frameworks.readers.training_arguments import observe_strategies
from loralint.frameworks.refusals import refused
from loralint.frameworks.table import Look, Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template, plain

_FLASH = ("flash_attn", "flash_attention_2", "flash_attention_3", "flash_attention_4")
_TUNERS = ("tuner_type", "train_type")
_ADAPTERS = ("lora", "adalora", "longlora", "boft", "vera", "bone")
_NO_BITS_NEEDED = ("fp8", "awq", "gptq", "gptq_v2")
_VALIDATION = ("val_dataset", "cached_val_dataset", "split_dataset_ratio", "eval_dataset")


def observe_faults(document: Document, look: Look) -> list[Observation]:
    """Observe nulls, pairs of keys that contradict each other, and keys that another one replaces."""
    root = document.root
    if root is None or not look.version_is("ms-swift>=3"):
        return []
    return [
        *(_nulls(document, root) if look.version_is("ms-swift>=4.1") else ()),
        *_strategies(document, root, look),
        *_quantisation(document, root),
        *_targets(document, root),
        *_refused(document, root, look),
        *refused(document, look, REFUSALS, "ms-swift stops before it loads anything", "pyyaml", "ms-swift"),
        *_unfrozen(document, root),
        *(_whole(document, root) if look.version_is("ms-swift>=3.4,<3.6") else ()),
    ]


def _value(root: Node, key: str) -> object:
    """What a key holds; None also where it is absent, the node's text where it is filled in later."""
    pair = root.pair(key)
    if pair is None:
        return None
    node = pair.value
    return node.raw if node.kind == "scalar" and is_template(node.raw) else plain(node, loader(pair, "pyyaml"))


def _at(
    document: Document,
    key: str,
    kind: str,
    effect: str,
    message: str,
    to: str = "",
    rewrite: str = "",
    package: str = "",
) -> Observation:
    pair = document.root.pair(key) if document.root is not None else None
    assert pair is not None
    return Observation(kind, place(document, pair, key), effect, message, to, rewrite, package)


def _nulls(document: Document, root: Node) -> Iterator[Observation]:
    texts = key_list("ms-swift")["texts"]
    for pair in root.pairs:
        if pair.key in texts and pair is root.pair(pair.key) and plain(pair.value, "pyyaml") is None:
            message = "ms-swift takes null for the text None, which is not the same as no value"
            yield _at(document, pair.key, "coerced", "changed", message, "", "remove", "ms-swift")


def _strategies(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    """An unquoted `no`; that of evaluation is replaced by "no" anyway where there is nothing to evaluate on."""
    for one in observe_strategies(document, look):
        if not one.value.key.startswith("eval") or any(_value(root, key) for key in _VALIDATION):
            yield one


def _quantisation(document: Document, root: Node) -> Iterator[Observation]:
    bits, method = _value(root, "quant_bits"), _value(root, "quant_method")
    if bits is not None and method is None:
        message = "without `quant_method: bnb` beside it nothing is quantised"
        yield _at(document, "quant_bits", "ignored", "lost", message)
    elif method is not None and bits is None and method not in _NO_BITS_NEEDED:
        message = "`quant_bits` has to say how many bits"
        yield _at(document, "quant_method", "rejected", "crash", message)
    elif method == "bnb" and str(bits) not in ("4", "8") and not is_template(str(bits)):
        yield _at(document, "quant_bits", "rejected", "crash", "bitsandbytes quantises to 4 or 8 bits", "4", "value")


def _targets(document: Document, root: Node) -> Iterator[Observation]:
    named = _value(root, "target_modules")
    if _value(root, "target_regex") and named not in (None, [], "all-linear", ["all-linear"]):
        message = "`target_regex` takes its place"
        yield _at(document, "target_modules", "ignored", "lost", message, "", "remove")


def _unfrozen(document: Document, root: Node) -> Iterator[Observation]:
    """Names of parameters to train, which only a run without adapters looks at."""
    tuned = next((word for key in _TUNERS if (word := _value(root, key)) is not None), None)
    for key in ("trainable_parameters", "trainable_parameters_regex", "freeze_parameters", "freeze_parameters_ratio"):
        if _value(root, key) and tuned in _ADAPTERS:
            message = f"under {tuned} only the adapter trains, and nothing reads `{key}`"
            fault = _at(document, key, "ignored", "lost", message)
            yield fault._replace(data={"advice": "name whole modules that are to train, too, in modules_to_save"})


def _whole(document: Document, root: Node) -> Iterator[Observation]:
    """An adapter by Unsloth on a base that is not quantised, which these releases ask Unsloth to train in full."""
    tuned = next(((key, word) for key in _TUNERS if (word := _value(root, key)) is not None), None)
    if tuned is None or tuned[1] not in _ADAPTERS or _value(root, "tuner_backend") != "unsloth":
        return
    if root.pair("quant_bits") is None and root.pair("quant_method") is None:
        message = "Unsloth is told to train the whole model, as it is not quantised, and makes no adapter then"
        data = {"advice": "write tuner_backend: peft, or take ms-swift 3.6.4 or a later one"}
        yield _at(document, tuned[0], "ignored", "changed", message, "", "", "ms-swift")._replace(data=data)


def _refused(document: Document, root: Node, look: Look) -> Iterator[Observation]:
    """Pairs at which SftArguments raises. What the launch line adds is not known, and an absent key may stand there."""
    if _value(root, "packing") is True and _value(root, "lazy_tokenize") is True:
        yield _at(document, "packing", "rejected", "crash", "packing and `lazy_tokenize` exclude each other")
    kernel = _value(root, "attn_impl")
    flash = kernel in _FLASH or is_template(str(kernel))
    for key in ("packing", "padding_free"):
        if _value(root, key) is True and not flash and look.version_is("ms-swift>=3.7"):
            message = f"`{key}` needs `attn_impl: flash_attn`, or another of the FlashAttention kernels"
            yield _at(document, key, "rejected", "crash", message, "", "", "ms-swift")
    if _value(root, "fsdp") and _value(root, "deepspeed"):
        yield _at(document, "fsdp", "rejected", "crash", "FSDP and `deepspeed` exclude each other")
    if _value(root, "warmup_ratio") and _value(root, "warmup_steps") and look.version_is("ms-swift>=4.6"):
        message = "`warmup_ratio` and `warmup_steps` exclude each other"
        yield _at(document, "warmup_ratio", "rejected", "crash", message, "", "remove", "ms-swift")
