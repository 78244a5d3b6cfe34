"""Templates of LLaMA-Factory whose marks are those of one family, and the tuned models of which each is the own.

Templates with the same marks count as one. Base models have no template of their own, and general ones (`default`,
`alpaca`, `vicuna`, `chatml`) belong to nobody. Source: hiyouga/LlamaFactory@ff6d4d12 src/llamafactory/data/template.py
(format_user) and extras/constants.py (register_model_group).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from loralint.frameworks.observe import place
from loralint.model import Observation
from loralint.source.document import Document, Node
from loralint.source.scalars import is_template

# One line for each kind of marks.
_CHATML = """qwen qwen3 qwen3_nothink qwen2_audio qwen2_omni qwen3_omni qwen3_omni_nothink qwen2_vl qwen3_vl
qwen3_vl_nothink qwen3_5 qwen3_5_nothink qwen3_6 yi intern2 intern_vl intern_s1 smollm smollm2 keye_vl lfm2 lfm2_vl mimo
mimo_v2 mimo_vl minicpm_v minicpm_v_4_6 minicpm_o cpm4 opencoder falcon_h1 moss_vl llava_next_qwen llava_next_yi"""
_KINDS = tuple(
    frozenset(one.split())
    for one in (
        _CHATML,
        "llama2 llama2_zh mistral mistral_small ministral ministral3 pixtral llava_next_mistral breeze",
        "llama3 mllama llava_next_llama3",
        "llama4",
        "gemma gemma2 gemma3 gemma3n",
        "gemma4 gemma4n",
        "glm4 glm4_moe glm4v glm4_5v glm4_7 glm_ocr glmz1 chatglm3",
        "phi phi_small phi4_mini",
        "phi4",
        "cohere",
        "granite3 granite4",
        "gpt_oss",
        "deepseek3 deepseekr1",
    )
)
# The last part of a model's name -> its template. The first that fits counts; one line a family.
_OWN = tuple(
    (re.compile(pattern, re.IGNORECASE), template)
    for pattern, template in (
        (r"qwen2-audio-.*instruct", "qwen2_audio"),
        (r"qwen2(\.5)?-vl-.*instruct", "qwen2_vl"),
        (r"qwen3-vl-.*instruct", "qwen3_vl_nothink"),
        (r"qwen3-vl-.*thinking", "qwen3_vl"),
        (r"qwen3-.*instruct", "qwen3_nothink"),
        (r"qwen3-[\d.]+b(-a\d+b)?(-thinking.*|-(awq|gptq|fp8|int4|int8).*)?$", "qwen3"),
        (r"qwen3\.5-[\d.]+b(-a\d+b)?$", "qwen3_5"),
        (r"qwen((1\.5|2|2\.5)-.*(instruct|chat)|-[\d.]+b-chat)", "qwen"),
        (r"llama-3\.2-\d+b-vision-instruct", "mllama"),
        (r"(meta-)?llama-3(\.[123])?-\d+b-instruct", "llama3"),
        (r"llama-4-.*instruct", "llama4"),
        (r"llama-2-\d+b-chat", "llama2"),
        (r"mistral-small-.*instruct", "mistral_small"),
        (r"ministral-3-.*instruct", "ministral3"),
        (r"(ministral-8b|mistral-nemo)-instruct", "ministral"),
        (r"mi[sx]tral-[\dx]+b-instruct", "mistral"),
        (r"gemma-3n-.*-it$", "gemma3n"),
        (r"gemma-3-(4|12|27)b-it", "gemma3"),
        (r"gemma-(2-\d+b|3-(270m|1b))-it", "gemma2"),
        (r"(code)?gemma-(1\.1-)?\d+b-it", "gemma"),
        (r"gemma-4-.*-it$", "gemma4"),
        (r"glm-4-(9b-chat|\d+b-0414)", "glm4"),
        (r"chatglm3-6b(-32k|-128k)?$", "chatglm3"),
        (r"phi-3-small-.*instruct", "phi_small"),
        (r"phi-3(\.5)?-(mini|medium)-.*instruct", "phi"),
        (r"phi-4-mini-instruct", "phi4_mini"),
        (r"yi-((1\.5|coder)-)?[\d.]+b-chat", "yi"),
        (r"internlm(2|2_5|3)-.*(chat|instruct)", "intern2"),
        (r"smollm2-.*instruct", "smollm2"),
        (r"smollm-.*instruct", "smollm"),
        (r"granite-3\.\d-.*instruct", "granite3"),
        (r"gpt-oss-\d+b", "gpt_oss"),
    )
)


def foreign(document: Document, root: Node) -> Iterator[Observation]:
    """A template with the marks of another family than that of the tuned model, where turns are trained with it."""
    template, model = root.pair("template"), root.get("model_name_or_path")
    if template is None or model is None or template.value.kind != "scalar" or _is_open(model):
        return
    if _says(root, "stage") == "pt" or _says(root, "resize_vocab") == "true":
        return
    name = model.raw.rstrip("/").rpartition("/")[2]
    own = next((one for pattern, one in _OWN if pattern.match(name)), "")
    given = next((one for one in _KINDS if template.value.raw in one), frozenset())
    if own and given and own not in given:
        said = f"{name} was tuned with the marks of `{own}`"
        yield Observation("foreign-template", place(document, template, "template"), "changed", said, own, "value")


def _is_open(model: Node) -> bool:
    return model.kind != "scalar" or is_template(model.raw) or "$" in model.raw


def _says(root: Node, key: str) -> str:
    node = root.get(key)
    return node.raw.lower() if node is not None and node.kind == "scalar" else ""
