"""Which framework a file is for, told by the keys at its root.

Signatures are data: sets of keys, tried in order, the decisive ones first. No reader is imported to recognise a file.
"""

import os
import re
from importlib import import_module
from typing import NamedTuple

from loralint.frameworks.signatures import (
    COMPONENT,
    FLAT,
    JOB_KINDS,
    MAPPINGS,
    MARKS,
    NUMBERS,
    PLAIN_MAPPINGS,
    SIGNATURES,
    Signature,
)
from loralint.frameworks.table import Reader
from loralint.source.document import Document, Node

# What a user may write for --framework; the module is that of the framework's usual file.
NAMES = {
    "axolotl": "axolotl",
    "llamafactory": "llamafactory",
    "llamafactory-v1": "llamafactory_v1",
    "trl": "trl",
    "alignment-handbook": "alignment_handbook",
    "transformers": "transformers",
    "peft": "peft",
    "torchtune": "torchtune",
    "unsloth-studio": "unsloth_studio",
    "autotrain": "autotrain",
    "h2o-llmstudio": "h2o_llmstudio",
    "ludwig": "ludwig",
    "oumi": "oumi",
    "ms-swift": "ms_swift",
    "mlx-lm": "mlx_lm",
    "litgpt": "litgpt",
    "nemo-automodel": "nemo_automodel",
    "nemo-rl": "nemo_rl",
    "nemo": "nemo",
    "megatron-bridge": "megatron_bridge",
    "verl": "verl",
    "prime-rl": "prime_rl",
    "openrlhf": "openrlhf",
    "fms-hf-tuning": "fms_hf_tuning",
    "simpletuner": "simpletuner",
    "ai-toolkit": "ai_toolkit",
    "kohya-gui": "kohya_gui",
    "sd-scripts": "sd_scripts",
    "musubi-tuner": "musubi",
    "diffusers": "diffusers",
    "finetrainers": "finetrainers",
    "onetrainer": "onetrainer",
    "diffusion-pipe": "diffusion_pipe",
    "hcp-diffusion": "hcp_diffusion",
    "kubernetes": "kubernetes",
    "generic": "generic",
    "deepspeed": "deepspeed",
    "accelerate": "accelerate",
}
# Files that a trainer or its launcher reads besides its own config: no run of their own where another names them.
COMPANIONS = frozenset({"deepspeed", "accelerate"})
_ALIASES = {
    "llama-factory": "llamafactory", "llama-factory-v1": "llamafactory-v1", "lf": "llamafactory",
    "handbook": "alignment-handbook", "huggingface": "transformers", "hf": "transformers",
    "hf-trainer": "transformers", "trainer": "transformers", "adapter-config": "peft", "tune": "torchtune",
    "unsloth": "unsloth-studio", "autotrain-advanced": "autotrain", "h2o": "h2o-llmstudio",
    "llm-studio": "h2o-llmstudio", "swift": "ms-swift", "mlx": "mlx-lm", "lit-gpt": "litgpt",
    "automodel": "nemo-automodel", "nemo1": "nemo", "ostris": "ai-toolkit", "kohya": "sd-scripts",
    "kohya-ss": "kohya-gui", "musubi": "musubi-tuner", "fms": "fms-hf-tuning", "hcp": "hcp-diffusion",
    "hcpdiff": "hcp-diffusion", "k8s": "kubernetes", "manifest": "kubernetes", "homemade": "generic",
    "home-made": "generic",
}  # fmt: skip
_NUMBER = 12  # characters that no rate or rank needs
_HEAD = 256 * 1024  # characters of an unparsable text that are looked at
# Texts, not compiled: only a broken file needs them. All are used with re.MULTILINE.
_YAML_KEY = r"""^["']?([A-Za-z_][\w-]{0,60})["']?[ \t]*:(?![^\s])"""
_ANY_YAML_KEY = r"""^([ \t]*)["']?([A-Za-z_][\w-]{0,60})["']?[ \t]*:(?![^\s])"""
_JSON_KEY = r"""^([ \t]*)(?:\{[ \t]*)?"([A-Za-z_]\w{0,60})"[ \t]*:"""
_ANY_JSON_KEY = r""""([A-Za-z_]\w{0,60})"[ \t]*:"""
_COMPONENT_KEY = r"^[ \t]+_component_[ \t]*:"
# `key: {{ value }}` or `{% if ... %}`: the text is rendered before anybody loads it
_ARGO = r"\{\{(?:=[^{}]*|[ \t]*(?:workflow|inputs|outputs|item|steps|tasks|pod|node|retries)\b[^{}]*)\}\}"
_RENDERED = r"^[ \t]*(?:-[ \t]+)?(?:[\w.-]+[ \t]*:[ \t]*)?\{[{%]"
# `"key": BATCH_SIZE,` of JSON, which `sed` fills in
_BLANK = r"\"[ \t]*:[ \t]*[A-Z][A-Za-z0-9]*_\w*[ \t]*(?:[,}\]]|$)"


class Detection(NamedTuple):
    """framework: name that rules and users know. module: its reader's. reason: the keys that said so, for people."""

    framework: str
    module: str
    reason: str


class _Shape(NamedTuple):
    """Keys at the root. `telling` leaves out those whose value is a mapping where every framework of ours has none."""

    order: list[str]
    keys: frozenset[str]
    telling: frozenset[str]
    flat: bool


def detect(document: Document) -> Detection | None:
    """Recognise the framework of a file; None for everything that is no run of one of ours."""
    root = document.root
    if root is not None and root.pair("apiVersion") is not None and root.pair("kind") is not None:
        return _manifest(document)
    if root is not None and _explains(root):
        return None
    found = _match(_shape(root), os.path.basename(document.name)) if root is not None else None
    return found or _sectioned(document) or _data(document) or _homemade(document)


def _explains(root: Node) -> bool:
    """Whether the keys stand before words about them, as in the texts of a trainer's window."""
    said = [pair.value for pair in root.pairs if pair.key in NUMBERS]
    return len(said) > 1 and all(
        one.kind == "scalar" and one.tag == "str" and len(one.raw) > _NUMBER and not one.raw[:1].isdigit()
        and "{" not in one.raw and "$" not in one.raw
        for one in said
    )  # fmt: skip


def _data(document: Document) -> Detection | None:
    """A file that lists the training data of a diffusion trainer, which its config or command line names."""
    root = document.roots[0] if document.roots else None
    if root is None or (root.kind != "sequence" and not any(root.pair(key) for key in ("datasets", "directory"))):
        return None
    from loralint.frameworks.datasets import dataset_file

    found = dataset_file(root)
    return Detection(found.framework, found.module, f"`{found.key}`") if found else None


def _sectioned(document: Document) -> Detection | None:
    """TOML for a trainer to which sections mean nothing."""
    if document.format != "toml":
        return None
    from loralint.frameworks.flat import flattened

    root = flattened(document).root
    found = _match(_shape(root)) if root is not None else None
    return found if found is not None and found.framework in FLAT else None


def is_template_text(text: str) -> bool:
    """Whether a text is rendered before anybody loads it: whole lines are what a template makes. What Argo fills in
    itself, in the texts of a workflow, is none.
    """
    if "{{" in text and "argoproj.io/" in text:
        text = re.sub(_ARGO, "x", text)
    return ("{{" in text or "{%" in text) and re.search(_RENDERED, text, re.MULTILINE) is not None


def _manifest(document: Document) -> Detection | None:
    """A training job among the objects of a manifest; every other manifest is nobody's run."""
    kinds = [kind.raw for one in document.roots if one.kind == "mapping" and (kind := one.get("kind")) is not None]
    if JOB_KINDS.isdisjoint(kinds) or is_template_text(document.text):
        return None
    from loralint.frameworks.readers.kubernetes.training import jobs

    found = jobs(document)
    return Detection("kubernetes", "kubernetes", f"`kind: {found[0].kind}`") if found else None


def _homemade(document: Document) -> Detection | None:
    """Known names in a nesting of the author's own; asked last, and only of a text that speaks of LoRA."""
    if "lora" not in document.own.lower():
        return None
    from loralint.frameworks.leaves import homemade

    keys = homemade(document)
    return Detection("generic", "generic", _reason(list(keys))) if keys else None


def reader(module: str) -> Reader:
    """Import the reader of a module named by `detect` or `by_name`."""
    found: Reader = import_module(f"loralint.frameworks.readers.{module}").READER
    return found


def by_name(framework: str, document: Document | None = None) -> str:
    """Give the module of a framework that a user named; the document decides where a framework has two formats.

    Raises ValueError, which lists the names, for an unknown one.
    """
    name = framework.strip().lower().replace("_", "-").replace(" ", "-")
    name = _ALIASES.get(name, name)
    if name not in NAMES:
        raise ValueError(f"unknown framework {framework!r}; choose one of {', '.join(NAMES)}")
    found = detect(document) if document is not None else None
    return found.module if found is not None and found.framework == name else NAMES[name]


def looks_like_run(text: str) -> str:
    """Name the framework of a text that does not parse, or give "" when it is not clearly a run.

    Only keys at the start of a line count, so the answer takes time linear in the text and survives any broken value.
    """
    text = text[:_HEAD]
    if is_template_text(text) or re.search(_BLANK, text, re.MULTILINE):
        return ""
    keys = (
        _json_keys(text)
        if text.lstrip("\ufeff \t\r\n").startswith("{")
        else [*re.findall(_YAML_KEY, text, re.MULTILINE), *_marks(text)]
    )
    if re.search(_COMPONENT_KEY, text, re.MULTILINE):
        keys.append(COMPONENT)
    present = frozenset(keys)
    found = _match(_Shape(keys, present, present, flat=True))
    return found.framework if found else ""


def _json_keys(text: str) -> list[str]:
    """Keys on the least indented lines, which are the root's; of a text in one line all keys."""
    found = re.findall(_JSON_KEY, text, re.MULTILINE)
    if len(found) < 2:
        return re.findall(_ANY_JSON_KEY, text, re.MULTILINE)
    least = min(len(indent) for indent, _ in found)
    return [key for indent, key in found if len(indent) == least]


def _marks(text: str) -> list[str]:
    """Keys below a section at the root, as `section.key`, where they are a sign, however deep they stand."""
    section, found = "", []
    for indent, key in re.findall(_ANY_YAML_KEY, text, re.MULTILINE):
        if not indent:
            section = key
        elif f"{section}.{key}" in MARKS:
            found.append(f"{section}.{key}")
    return found


def _match(shape: _Shape, file: str = "") -> Detection | None:
    for signature in SIGNATURES:
        if _fits(signature, shape) and file.endswith(signature.file):
            said = (signature.every | signature.some | signature.also) & shape.telling
            reason = _reason([key for key in shape.order if key in said])
            return Detection(signature.framework, signature.module, reason)
    return None


def _fits(signature: Signature, shape: _Shape) -> bool:
    return (
        signature.every <= shape.telling
        and len(signature.some & shape.telling) >= signature.least
        and len(signature.also & shape.telling) >= signature.also_least
        and signature.none.isdisjoint(shape.keys)
        and (shape.flat or not signature.flat)
    )


def _reason(keys: list[str]) -> str:
    quoted = [f"`{key}`" for key in dict.fromkeys(keys)][:3]
    return " and ".join(quoted) if len(quoted) < 3 else f"{quoted[0]}, {quoted[1]} and {quoted[2]}"


def _shape(root: Node) -> _Shape:
    mappings = {pair.key for pair in root.pairs if pair.value.kind == "mapping"}
    is_object = root.pair("kind") is not None  # one key alone must not hide a config
    order = [pair.key for pair in root.pairs if is_object or pair.key != "apiVersion"] + _inside(root)
    keys = frozenset(order)
    return _Shape(order, keys, keys - (mappings - MAPPINGS), flat=mappings <= PLAIN_MAPPINGS)


def _inside(root: Node) -> list[str]:
    """Find the marks of frameworks whose root keys alone are nobody's."""
    sections = [pair for pair in root.pairs if pair.value.kind == "mapping"]
    marks = [f"{section.key}.{pair.key}" for section in sections for pair in section.value.pairs]
    marks += [f"{section.key}.{mark}" for section in sections for mark in _in_lists(section.value)]
    components = [COMPONENT for section in sections if section.value.get(COMPONENT) is not None]
    return [mark for mark in marks if mark in MARKS] + components


def _in_lists(section: Node) -> list[str]:
    """Keys of the first item of each list of mappings, as `list[].key`."""
    lists = [(pair.key, pair.value.items[0]) for pair in section.pairs if pair.value.items]
    return [f"{key}[].{pair.key}" for key, item in lists for pair in item.pairs]
