"""fms-hf-tuning (3.1 read): the JSON that SFT_TRAINER_CONFIG_JSON_PATH names, flat names of TrainingArguments and PEFT.

Keys that no dataclass has are passed over. `peft_method` decides; without it every weight trains. Quantised bases are
GPTQ's by `auto_gptq`, or bitsandbytes' by `bnb_qlora`.
Sources: tuning/config/{configs,peft_config}.py, tuning/sft_trainer.py, tuning/config/acceleration_configs.
"""

from __future__ import annotations

from collections.abc import Callable

from loralint.frameworks.convert import dtype, long_dtype, never, not_null, one_to_list, words
from loralint.frameworks.lookup import find
from loralint.frameworks.observe import place
from loralint.frameworks.readers.argument_words import observe_words
from loralint.frameworks.readers.training_arguments import TRAINING_ARGUMENTS
from loralint.frameworks.table import SKIP, Entry, Look, Observation, Reader
from loralint.source.document import Document
from loralint.source.scalars import value

_METHODS = {"lora": "lora", "alora": "lora", "pt": "prompt_tuning", "none": "full", "None": "full"}


def _method(word: object) -> object:
    return "full" if word is None else _METHODS.get(str(word).lower(), word)


def _lora(answer: object) -> Callable[[Look], object]:
    return lambda look: answer if look.get("adapter.method").value == "lora" else SKIP


def _targets(names: object) -> object:
    """Read the list of one that means every linear layer."""
    return "all-linear" if names == ["all-linear"] else not_null(names)


def _written_targets(names: object) -> object:
    return ["all-linear"] if names == "all-linear" else names


def _bits(given: object) -> object:
    return 4 if given else SKIP


def observe_faults(document: Document, _: Look) -> list[Observation]:
    """Observe `padding_free` with FlashAttention off, or with packing, which the trainer refuses."""
    root = document.root
    pair = find(root, "padding_free") if root is not None else None
    if root is None or pair is None or pair.value.tag == "null":
        return []
    found = []
    for key, wrong, said in (
        ("use_flash_attn", False, "needs `use_flash_attn: true`"),
        ("packing", True, "excludes packing"),
    ):
        node = root.get(key)
        if node is not None and value(node, "json") is wrong:
            found.append(f"`padding_free` {said}")
    return [
        Observation("rejected", place(document, pair, "padding_free"), "crash", message, package="fms-hf-tuning")
        for message in found
    ]


OWN = (
    Entry("train.task", "", write=never, default="sft"),
    Entry("model.base", "model_name_or_path", not_null),
    Entry("model.dtype", "torch_dtype", dtype, long_dtype, "bf16"),
    Entry("model.attention", "use_flash_attn", words({True: "flash_attention_2", False: "sdpa"}),
          words({"flash_attention_2": True, "sdpa": False}), "flash_attention_2"),
    Entry("adapter.method", "peft_method", _method, lambda name: name if name == "lora" else SKIP, "full"),
    Entry("adapter.rank", "r", not_null, default=_lora(8)),
    Entry("adapter.alpha", "lora_alpha", not_null, default=_lora(32)),
    Entry("adapter.dropout", "lora_dropout", not_null, default=_lora(0.05)),
    Entry("adapter.bias", "bias", not_null, default=_lora("none")),
    Entry("adapter.targets", "target_modules", _targets, _written_targets),
    Entry("adapter.modules_to_save", "modules_to_save", not_null),
    Entry("adapter.rslora", "use_rslora", not_null, default=_lora(answer=False)),
    Entry("adapter.dora", "use_dora", not_null, default=_lora(answer=False)),
    Entry("adapter.init", "init_lora_weights", not_null, default=_lora("true")),
    Entry("quant.bits", "auto_gptq", _bits, never),
    Entry("quant.bits", "bnb_qlora", _bits, never),
    Entry("quant.method", "auto_gptq", lambda given: "gptq" if given else SKIP, never),
    Entry("quant.method", "bnb_qlora", lambda given: "bnb" if given else SKIP, never),
    Entry("optim.name", "optim", not_null, default="adamw_torch"),
    Entry("train.report_to", "report_to", one_to_list, never, []),
    Entry("data.datasets", "training_data_path", one_to_list, never),
    Entry("data.eval_dataset", "validation_data_path", one_to_list, never),
    Entry("data.sequence_len", "max_seq_length", not_null, default=4096),
    Entry("data.packing", "packing", not_null, default=False),
    Entry("data.padding_free", "padding_free", lambda given: True if given else SKIP, never),
    Entry("data.template", "chat_template", not_null),
    Entry("checkpoint.save_strategy", "save_strategy", not_null, default="epoch"),
)  # fmt: skip
TABLE = (*OWN, *TRAINING_ARGUMENTS)

READER = Reader(
    name="fms-hf-tuning",
    title="fms-hf-tuning",
    dialect="json",
    table=TABLE,
    keys="fms-hf-tuning",
    coerces=True,
    packages=("fms-hf-tuning", "transformers", "peft", "trl"),
    observe=(observe_faults, observe_words),
)
