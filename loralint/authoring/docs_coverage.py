"""docs/coverage.md: which canonical field is which key of which framework, from the readers' own tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from loralint.authoring.markdown import code, table
from loralint.canonical.fields import FIELDS
from loralint.frameworks.convert import never
from loralint.frameworks.detect import NAMES, reader
from loralint.frameworks.table import NO_DEFAULT, Entry, Reader
from loralint.knowledge.versions import newest
from loralint.render.page import escaped

_WIDTH = 7  # frameworks beside one another in a table
# which files are meant, where the framework's name does not say it
_FILES = {
    "deepspeed": "JSON that a trainer or accelerate is given; checked with the run that names it, and alone",
    "accelerate": "YAML or JSON of `accelerate launch --config_file`; checked with the run that names it, and alone",
    "axolotl": "YAML",
    "llamafactory": "YAML or JSON of `llamafactory-cli train`",
    "llamafactory-v1": "YAML of `llamafactory-cli` with `USE_V1=1`",
    "trl": "YAML of `trl sft` and its kin",
    "alignment-handbook": "recipe, YAML",
    "transformers": "`TrainingArguments` as YAML or JSON, read by a script of the user's own",
    "peft": "`adapter_config.json`, and `training_params.json` of PEFT's method comparison",
    "torchtune": "recipe config, YAML",
    "unsloth-studio": "YAML or JSON of `unsloth train --config`, and the studio's defaults by model",
    "autotrain": "YAML of `autotrain --config`, and flags of `autotrain llm`",
    "h2o-llmstudio": "YAML of an experiment",
    "ludwig": "YAML with `model_type: llm`",
    "oumi": "YAML of `oumi train`",
    "ms-swift": "YAML or JSON of `swift sft`, `swift pt` and `swift rlhf`",
    "mlx-lm": "YAML of `mlx_lm.lora --config`, and the `adapter_config.json` that it saves",
    "litgpt": "YAML of `litgpt finetune_lora --config` and its kin",
    "nemo-automodel": "YAML of a recipe",
    "nemo-rl": "YAML of `run_sft.py`, `run_grpo.py` and their kin",
    "nemo": "Hydra YAML of NeMo's language and speech language models",
    "megatron-bridge": "YAML of overrides for a recipe",
    "verl": "Hydra YAML of the SFT and RL trainers",
    "prime-rl": "TOML of `rl @` and `sft @`",
    "openrlhf": "its flags as YAML or JSON, dotted or nested; OpenRLHF itself reads no file",
    "fms-hf-tuning": "JSON that `SFT_TRAINER_CONFIG_JSON_PATH` names",
    "simpletuner": "`config.json` or `config.toml`, keys with or without `--`, and what its web interface saves",
    "ai-toolkit": "YAML or JSON with `job: extension`; of several processes the first is read",
    "kohya-gui": "JSON preset of the kohya_ss window; what it leaves out is not judged",
    "sd-scripts": "flags of sd-scripts' trainers, and TOML of `--config_file`",
    "musubi-tuner": "flags of musubi-tuner's trainers, and TOML of `--config_file`",
    "diffusers": "flags of the LoRA scripts in its examples; the keys are those of `train_dreambooth_lora_sdxl.py`",
    "finetrainers": "flags of `train.py`",
    "onetrainer": "JSON preset or saved config",
    "diffusion-pipe": "TOML of `train.py --config`",
    "hcp-diffusion": "YAML of `train_ac.py --cfg`; what `_base_` names is not followed",
    "kubernetes": "manifests of training jobs, YAML or JSON, several objects a file; the key is its usual place",
    "generic": "home-made YAML or JSON with the names of PEFT and TrainingArguments in any nesting; no finding is S",
}
_DIALECTS = {
    "pyyaml": "PyYAML (`2e-4` is a text, `on` is true)",
    "omegaconf": "OmegaConf (`2e-4` is a number)",
    "mlx": "PyYAML with mlx-lm's floats (`2e-4` is a number)",
    "jsonargparse": "jsonargparse (`2e-4` is a number)",
    "json": "JSON",
    "toml": "TOML",
    "flags": "argparse",
}
# what becomes of an unknown key where the readers' lists do not say it in one word
_UNKNOWN = {
    "peft": "PEFT warns once and goes on without it",
    "transformers": "not judged: a script may have keys of its own; only arguments that the Trainer lost are told",
    "nemo-automodel": "in `peft` and `step_scheduler` the run stops; elsewhere only slips are told",
    **dict.fromkeys(("nemo-rl", "nemo", "megatron-bridge", "verl"), "legal; only slips of known keys are told"),
    "openrlhf": "argparse refuses them, but a launcher may read them; only slips of known flags are told",
    "fms-hf-tuning": "passed over, and not judged",
    "kohya-gui": "passed over, and not judged",
    "diffusion-pipe": "passed over, and not judged",
    "sd-scripts": "argparse refuses a flag; of a file nobody reads it, and only slips of known keys are told",
    "musubi-tuner": "argparse refuses a flag; of a file nobody reads it, and only slips of known keys are told",
    "diffusers": "argparse refuses it",
    "ai-toolkit": "dropped without a word; of a process's own keys only slips are told",
    "onetrainer": "dropped without a word; only slips of known keys are told",
    "generic": "not judged",
    "kubernetes": "not judged",
    "torchtune": "at the top nobody reads it, in a section the run stops; only slips of known keys are told at the top",
}
_EFFECTS = {"crash": "the run stops at start", "lost": "dropped without a word"}


def coverage(data: Mapping[str, Any]) -> Iterator[str]:
    """The page. data: the compiled parts by name."""
    readers = {name: reader(module) for name, module in NAMES.items()}
    yield "# Coverage\n"
    yield "What loralint understands of each framework. Files are recognised by their keys; `--framework` overrides.\n"
    yield "## Frameworks\n"
    header = ("`--framework`", "files", "loaded by", "unknown keys", "fields", "known release", "key list from")
    yield table(header, (_framework(name, one, data) for name, one in readers.items()))
    yield "## Fields and keys\n"
    yield (
        "The first key of a cell is the one that messages and fixes use. A version in brackets says where a key is"
        ' read; "default only" means that the framework decides it without a key. Rules and the golden list speak of'
        " the fields by the names on the left; [vocabulary.md](vocabulary.md) says what each means.\n"
    )
    for section, several in groupby(FIELDS, lambda field: field.partition(".")[0]):
        fields = list(several)
        yield f"### {section}\n"
        for start in range(0, len(readers), _WIDTH):
            some = dict(list(readers.items())[start : start + _WIDTH])
            rows = [(f"`{field}`", *(_cell(field, one) for one in some.values())) for field in fields]
            yield table(("field", *some), [row for row in rows if any(row[1:])])


def keys(field: str, one: Reader) -> list[str]:
    """The keys that a reader takes for a field, the one it would write first; with versions where that is needed."""
    entries = [entry for entry in one.table if entry.field == field and entry.key and entry.read is not never]
    ordered = sorted(entries, key=lambda entry: entry.write is never)
    return list(dict.fromkeys(_versioned(entry, entries) for entry in ordered))


def _versioned(entry: Entry, entries: list[Entry]) -> str:
    """A key that several rows read, each for some versions, is taken to be read by all."""
    specs = {other.when for other in entries if other.key == entry.key}
    return f"{entry.key} ({entry.when})" if len(specs) == 1 and entry.when else entry.key


def _cell(field: str, one: Reader) -> str:
    known = keys(field, one)
    decided = any(entry.field == field and entry.default is not NO_DEFAULT for entry in one.table)
    return code(known) if known else "default only" if decided else ""


def _framework(name: str, one: Reader, data: Mapping[str, Any]) -> tuple[str, ...]:
    lists = data.get(f"keys-{one.keys or name}", {})
    fields = len({entry.field for entry in one.table})
    unknown = _UNKNOWN.get(name) or _EFFECTS.get(_of_base(lists, data).get("unknown", ""), "not judged")
    inside = [f"in `{where}` {_EFFECTS[effect]}" for where, effect in lists.get("inside", {}).items()]
    loaded = _DIALECTS[one.dialect] + (", numbers in quotes become numbers" if one.coerces else "")
    release = newest(one.packages[0]) or ""
    return (
        f"`{name}`", _FILES.get(name, one.title), loaded, "; ".join([unknown, *inside]), str(fields), release,
        escaped(lists.get("version", "")),
    )  # fmt: skip


def _of_base(lists: Mapping[str, Any], data: Mapping[str, Any]) -> Mapping[str, Any]:
    return _of_base(data[f"keys-{lists['extends']}"], data) if "extends" in lists else lists
