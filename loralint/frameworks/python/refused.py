"""What reaches a trainer, or what makes its batches, and cannot be used there.

Sources: transformers 5.24.0 trainer.py, data/data_collator.py and tokenization_utils_base.py (pad), torch 2.13.0
nn/parallel/data_parallel.py; run here on a small Llama.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.python.classes import of
from loralint.frameworks.python.parts import Parts
from loralint.frameworks.python.rows import reads
from loralint.frameworks.python.syntax import says
from loralint.frameworks.python.trace import argument, last, makers
from loralint.frameworks.table import Look, Observation
from loralint.model import Value
from loralint.source.script import Argument, Call, Script, Thing

# tokenizers whose files name no token for padding, as they are on the hub
_WITHOUT_PADDING = re.compile(
    r"(?i)(?:openai-community/)?(?:distil)?gpt2(?:-(?:medium|large|xl))?"
    r"|meta-llama/(?:Llama-2-|Meta-Llama-3-|(?:Meta-)?Llama-3\.[12]-)(?!.*(?:Vision|Guard))[\w.-]+"
    r"|codellama/CodeLlama-[\w.-]+"
    r"|mistralai/(?:Mistral-7B|Mixtral-8x7B)-(?:Instruct-)?v0\.[12]|EleutherAI/gpt-(?:neo-(?:125m|1\.3B|2\.7B)|j-6b)"
    r"|tiiuae/falcon-(?:7b|40b)(?:-instruct)?|microsoft/phi-(?:1|1_5|2)"
)
# whatever may choose one, and libraries that do so by themselves
_CHOOSES = ("pad_token", "add_special_tokens", "setup_chat_format", "unsloth", "pad_id")
_PADS = re.compile(r"\bpadding\s*=\s*(?:True|\\?[\"'](?:max_length|longest)\\?[\"'])")
_COLLATORS = frozenset({"DataCollatorForLanguageModeling", "DataCollatorWithPadding", "DataCollatorForSeq2Seq",
                        "DataCollatorForTokenClassification"})  # fmt: skip
# what may leave columns out
_LEAVES_OUT = (
    "remove_columns", "set_format", "with_format", "select_columns", "rename_column", "with_transform", ".pop("
)  # fmt: skip
_DELETES = re.compile(r"\bdel ")
_KEEPS_COLUMNS = re.compile(r"\bremove_unused_columns\s*=\s*False\b")
_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel"})
_SAVES = frozenset({"save_pretrained", "push_to_hub"})


def of_refused(script: Script, parts: Parts, _: Look) -> Iterator[Observation]:
    """All of that in one start."""
    yield from _unpadded(script, parts)
    yield from _texts(script, parts)
    if parts.trainer is not None:
        yield from _spread(script, parts.trainer)
        yield from _before_wrapping(script, parts.trainer)


def _unpadded(script: Script, parts: Parts) -> Iterator[Observation]:
    """A tokenizer without a token for padding, in a program that pads and chooses none."""
    what = of(parts.trainer) if parts.trainer is not None else None
    if says(_CHOOSES, script.text) or (what is not None and what.package != "transformers"):
        return
    pads = says(_PADS, script.text) or any(last(call) in _COLLATORS for call in script.calls)
    loads = [call for call in script.calls if pads and (known := of(call)) and known.role == "load-tokenizer"]
    names = [_name(call) for call in loads]
    if loads and all(name and _WITHOUT_PADDING.fullmatch(name) for name in names):  # else another one may pad
        advice = "once the tokenizer is loaded write tokenizer.pad_token = tokenizer.unk_token, or a reserved token"
        yield _told("padding-missing", loads[0], "pad_token", {"model": names[0], "advice": advice})


def _name(call: Call) -> str:
    """What a tokenizer is loaded from; empty where nobody knows, or where more is said of it."""
    given = call.arg("pretrained_model_name_or_path", 0)
    name = given.node.native if given is not None and not call.open else None
    return name if isinstance(name, str) else ""


def _texts(script: Script, parts: Parts) -> Iterator[Observation]:
    """Columns of text that reach a collator which makes tensors of all that it gets."""
    if not reads(script.text) or says(_LEAVES_OUT, script.text) or says(_DELETES, script.text):
        return
    what = of(parts.trainer) if parts.trainer is not None else None
    if parts.trainer is not None and what is not None:
        whole = what.package == "transformers" and says(_KEEPS_COLUMNS, script.text)
        calls = [(parts.trainer, argument(parts.trainer, "train_dataset", what), "data_collator")] if whole else []
    else:
        loaders = [call for call in script.calls if last(call) == "DataLoader"]
        calls = [(call, call.arg("dataset", 0), "collate_fn") for call in loaders]
    for call, rows, name in calls:
        made = call.arg(name)
        by = made.thing.made if made is not None and made.thing is not None else None
        if by is not None and last(by) in _COLLATORS and rows is not None and _mapped(rows.thing):
            yield _told("texts-kept", call, f"{last(call)}.{name}", {"collator": last(by)}, made)
            return


def _mapped(rows: Thing | None) -> bool:
    """Whether rows are those of a file or of the hub with columns added, or one split of them."""
    through = False
    for _ in range(20):
        made = rows.made if rows is not None else None
        if made is None or (rows is not None and rows.either):
            return False
        if last(made) == "load_dataset":
            return through
        if last(made) not in ("map", "filter", "shuffle", "select", "__getitem__", "train_test_split"):
            return False
        through = through or last(made) == "map"
        rows = made.on
    return False


def _spread(script: Script, trainer: Call) -> Iterator[Observation]:
    """A model that was spread over the cards before a trainer, which does that itself, gets it."""
    model = argument(trainer, "model", of(trainer))
    thing = model.thing if model is not None else None
    several = thing.either or (thing,) if thing is not None else ()
    by = next((one.made for one in several if one.made is not None and last(one.made) in _WRAPPERS), None)
    if by is not None and not says(_KEEPS_COLUMNS, script.text):
        yield _told("model-spread", by, last(by), {"trainer": last(trainer), "wrapper": last(by), "sure": by.sure})


def _before_wrapping(script: Script, trainer: Call) -> Iterator[Observation]:
    """The model from before get_peft_model, which changed it in place, where nobody saves the wrapped one."""
    model = argument(trainer, "model", of(trainer))
    thing = model.thing if model is not None else None
    config = argument(trainer, "peft_config", of(trainer))
    wraps = trainer.open or (config is not None and config.node.tag != "null")  # then the trainer does it once more
    if thing is None or thing.either or wraps or makers(thing, "wrap")[0]:
        return
    for call in script.calls:
        what = of(call)
        given = argument(call, "model", what) if what is not None and what.role == "wrap" else None
        if what is None or what.package != "peft" or given is None or given.thing is None or not call.sure:
            continue
        saved = any(one.on is call.result and last(one) in _SAVES for one in script.calls)
        kept = any(last(one) == "__setattr__" and one.args[1].thing is call.result for one in script.calls)
        if given.thing is thing and not saved and not kept:
            data: dict[str, object] = {"trainer": last(trainer), "function": last(call)}
            yield _told("model-unwrapped", trainer, f"{last(trainer)}.model", data, model)
            return


def _told(
    kind: str, call: Call, key: str, data: dict[str, object], given: Argument | None = None
) -> Observation:  # fmt: skip
    span = given.name_span if given is not None and given.name_span is not None else call.name_span
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    return Observation(kind, where, "crash", "", data={"sure": call.sure, **data})
