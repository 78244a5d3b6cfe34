"""Names that a program imports of a training library, and that the library has in other letters.

The names were looked up in transformers 5.24.0 and peft 0.21.2 as installed, and in trl 0.11.4 and 1.16.0.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from loralint.frameworks.python.syntax import Tree, once, place, statements
from loralint.frameworks.table import Observation
from loralint.model import Value

_PEFT = """
LoraConfig AdaLoraConfig LoHaConfig LoKrConfig IA3Config OFTConfig BOFTConfig VeraConfig LoftQConfig PeftConfig
PromptTuningConfig PrefixTuningConfig PromptEncoderConfig PeftModel PeftMixedModel TaskType PeftType AutoPeftModel
PeftModelForCausalLM PeftModelForSeq2SeqLM PeftModelForSequenceClassification PeftModelForTokenClassification
AutoPeftModelForCausalLM AutoPeftModelForSeq2SeqLM AutoPeftModelForSequenceClassification get_peft_model
get_peft_config get_peft_model_state_dict set_peft_model_state_dict inject_adapter_in_model
prepare_model_for_kbit_training
"""
_TRANSFORMERS = """
AutoModel AutoModelForCausalLM AutoModelForSeq2SeqLM AutoModelForSequenceClassification AutoConfig AutoTokenizer
AutoModelForTokenClassification AutoModelForQuestionAnswering AutoModelForMaskedLM AutoProcessor AutoFeatureExtractor
AutoModelForImageTextToText AutoModelForSpeechSeq2Seq AutoModelForImageClassification BitsAndBytesConfig
TrainingArguments Trainer Seq2SeqTrainer Seq2SeqTrainingArguments HfArgumentParser DataCollatorForLanguageModeling
DataCollatorForSeq2Seq DataCollatorWithPadding DataCollatorForTokenClassification TrainerCallback GenerationConfig
EarlyStoppingCallback LlamaForCausalLM LlamaTokenizer LlamaConfig
"""
_TRL = """
SFTTrainer SFTConfig DPOTrainer DPOConfig GRPOTrainer GRPOConfig KTOTrainer KTOConfig ORPOTrainer ORPOConfig CPOTrainer
CPOConfig PPOTrainer PPOConfig RLOOTrainer RLOOConfig BCOTrainer BCOConfig GKDTrainer GKDConfig XPOTrainer XPOConfig
PRMTrainer PRMConfig NashMDTrainer NashMDConfig OnlineDPOTrainer OnlineDPOConfig RewardTrainer RewardConfig ModelConfig
ScriptArguments TrlParser AutoModelForCausalLMWithValueHead AutoModelForSeq2SeqLMWithValueHead
DataCollatorForCompletionOnlyLM setup_chat_format get_peft_config get_kbit_device_map get_quantization_config
"""
_NAMES: dict[str, frozenset[str]] = {
    "peft": frozenset(_PEFT.split()),
    "transformers": frozenset(_TRANSFORMERS.split()),
    "trl": frozenset(_TRL.split()),
}
# modules of theirs, which differ by capitals alone
_MODULES = frozenset({"peft_model", "trainer", "trainer_callback", "auto_model"})
_LONG = 16  # letters of a name to which none comes as near as one letter in any release
_NUMBERED = ("Llama",)


# what stands behind `import`, in a notebook's file too
_CLAUSE = re.compile(r"from\s+(peft|transformers|trl)\s+import\s+(\([^()]{0,4000}\)|[^\n]*(?:\\\n[^\n]*)*)")


def _worth(text: str) -> bool:
    """Whether a name that is imported is none of those known."""
    clauses = _CLAUSE.findall(text.replace("\\n", "\n"))
    return any(_meant(name, _NAMES[package]) for package, names in clauses for name in re.findall(r"\w+", names))


@once(_worth)
def of_imported(found: tuple[Tree, ...]) -> Iterator[Observation]:
    """Observe them where the program imports them, unless it is ready for their absence."""
    for tree in found:
        nodes = [node for node in statements(tree.body) if isinstance(node, ast.Try | ast.If | ast.ImportFrom)]
        ready = {id(one) for node in nodes for one in statements(_spared(node))}
        for node in nodes:
            if not isinstance(node, ast.ImportFrom) or node.level or id(node) in ready or not node.module:
                continue
            own = re.search(rf"\bgit\+\S*/{re.escape(node.module)}\b", tree.document.text)  # a fork is installed
            names = frozenset() if own else _NAMES.get(node.module, frozenset())
            for one in node.names:
                meant = _meant(one.name, names)
                if meant:
                    yield _told(tree, node.module, one.name, meant)


def _spared(node: ast.stmt) -> list[ast.stmt]:
    """What of a statement may fail, or never runs: a `try`, and the body of `if False:`."""
    if isinstance(node, ast.If):
        return node.body if isinstance(node.test, ast.Constant) and not node.test.value else []
    return [node] if isinstance(node, ast.Try) else []


@lru_cache(maxsize=1024)
def _meant(name: str, names: frozenset[str]) -> str:
    """The library's name that another one stands for; empty for a name of its own, or for none that is near."""
    if name in names or name in _MODULES or name == "*":
        return ""
    bare, letters = _bare(name), sorted(name)
    for one in sorted(names):
        if _bare(one) == bare or (len(one) == len(name) and one[0] == name[0] and sorted(one) == letters):
            return one
    long = [one for one in sorted(names) if len(one) >= _LONG and not one.startswith(_NUMBERED)]
    return next((one for one in long if _one_letter(one, name)), "")


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def _one_letter(one: str, other: str) -> bool:
    """Whether one letter more makes the same of both."""
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _told(tree: Tree, package: str, name: str, meant: str) -> Observation:
    span = place(tree.document, rf"\bimport\b[^#]*?\b({name})\b") or tree.document.span_at(0, 0)
    key = f"{package}.{name}"
    where = Value(None, key=key, pointer=f"/{key}", span=span, key_span=span)
    data = {"package": package, "name": name, "meant": meant}
    return Observation("import-missing", where, "crash", "", package=package, data=data)
