"""Which reader serves a launch: by its program, its script's name, else by the names of its flags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import NamedTuple

from loralint.frameworks.detect import detect
from loralint.frameworks.detect import reader as reader_named
from loralint.frameworks.flags import as_flags
from loralint.frameworks.launch.faults import misplaced, observed
from loralint.frameworks.launch.programs import ONLY, TRAINS
from loralint.frameworks.launch.settled import ADDED
from loralint.frameworks.launched import Launch
from loralint.frameworks.leaves import TRAINING as _TRAINING
from loralint.frameworks.signatures import SURE_HF
from loralint.frameworks.table import Look, Observation, Reader
from loralint.source.document import Document


class Served(NamedTuple):
    """module: the reader's. guessed: only names of flags spoke for it, so others are the script's own. family: the
    module with readers by script, which has a better one.
    """

    module: str
    guessed: bool = False
    family: str = ""


_PROGRAMS = {
    "axolotl": "axolotl",
    "llamafactory-cli": "llamafactory",
    "swift": "ms_swift",
    "megatron": "ms_swift_megatron",
    "trl": "trl",
    "tune": "torchtune",
    "litgpt": "litgpt",
    "oumi": "oumi",
    "mlx_lm": "mlx_lm",
    "autotrain": "autotrain",
    "ludwig": "ludwig",
    "simpletuner": "simpletuner",
    "automodel": "nemo_automodel",
    "nemo": "nemo",
    "verl": "verl",
}
_MODULES = (
    (r"verl\.trainer\.(?:fsdp_sft_trainer|sft_trainer\w*)", "verl_sft"),
    (r"verl\..*", "verl"),
    (r"openrlhf\.cli\.train_\w+", "openrlhf"),
    (r"tuning\.sft_trainer", "fms_hf_tuning"),
    (r"nemo_automodel\..*", "nemo_automodel"),
    (r"ludwig\.(?:train|experiment)", "ludwig"),
    (r"h2o_llmstudio\.train|llm_studio\.train", "h2o_llmstudio"),
    (r"mlx_lm_lora\.\w+", "mlx_lm"),
)
# Those whose names a module of another package shares, which knows more.
_ALIKE = frozenset({"mlx_lm"})
# Scripts that belong to one trainer by name, or by the folder before it.
_SCRIPTS = (
    (r"(?:.*/)?src/train(?:_bash|_sft|_web)?\.py|(?:.*/)?train_bash\.py", "llamafactory"),
    (r"(?:.*/)?(?:llamafactory/launcher)\.py", "llamafactory"),
    (r"(?:.*/)?swift/cli/(?:sft|rlhf|pt)\.py|(?:.*/)?llm_sft\.py", "ms_swift"),
    (
        r"(?:.*/)?trl/scripts/\w+\.py|(?:.*/)?examples/scripts/(?:sft|dpo|kto|orpo|reward\w*|grpo|cpo|rloo)\w*\.py",
        "trl",
    ),
    (r"(?:.*/)?finetrainers/train\.py", "finetrainers"),
    (r"(?:.*/)?openrlhf/cli/train_\w+\.py", "openrlhf"),
    (r"(?:.*/)?tuning/sft_trainer\.py|(?:.*/)?accelerate_launch\.py", "fms_hf_tuning"),
    (r"(?:.*/)?simpletuner/train\.py", "simpletuner"),
    (r"(?:.*/)?scripts/training/run_recipe\.py", "megatron_bridge"),
)
# Trainers whose scripts are many, each with flags of its own: modules with `reader_of(script)`.
_FAMILIES = ("musubi", "sd_scripts_flags", "diffusers")
_MODULE_OF = {"sd_scripts_flags": "sd_scripts"}
# Trainers with one set of flags, whose subcommands and scripts differ in what they train.
_BY_NAME = frozenset({"trl", "autotrain", "llamafactory", "litgpt"})
# Where the readers of these stand, and of those whose first word names a recipe.
_READERS_OF = {
    "trl": "trl", "autotrain": "autotrain_flags", "torchtune": "torchtune_recipe", "llamafactory": "llamafactory",
    "litgpt": "litgpt",
}  # fmt: skip
# Formats whose dotted names nobody else has.
_DOTTED = frozenset(
    {"nemo_rl", "nemo_automodel", "megatron_bridge", "nemo", "verl", "verl_sft", "torchtune", "openrlhf"}
)
# Names that any script around Transformers may have.
_COMMON = frozenset({"trl", "alignment_handbook", "peft", "generic", "transformers", "fms_hf_tuning", "axolotl"})
# Programs with configs of their own, by name; and those whose flags only change what a recipe says.
_BY_RECIPE = frozenset({"torchtune", "verl", "nemo_automodel"})
_RECIPES = frozenset({"megatron_bridge", "nemo_rl", "nemo", "nemo_automodel"})
_ADAPTER = re.compile(r"lora|peft|adapter")
_FACTORY = re.compile(r"llama_?factory|llmtuner", re.IGNORECASE)
_OF_LIBRARIES = re.compile(r"TrainingArguments|HfArgumentParser|H4ArgumentParser|TrlParser|Trainer\(")


def reader_of(launch: Launch) -> str | None:
    """The module of the reader that serves a launch, or None for a program that is nobody's."""
    served = _served(launch)
    return served.module if served is not None else None


def guessed(launch: Launch) -> bool:
    """Whether only the names of the flags say whose they are."""
    served = _served(launch)
    return served is not None and served.guessed


def reader_for(launch: Launch, programs: Iterable[str] = ()) -> Reader | None:
    """The reader of a launch's flags, which also observes what is wrong with the command line.

    Of a script with flags of its own it is one that knows them. Where only names speak for it, unknown flags are the
    script's own, nothing is certain, and nothing absent is known but for the defaults of a library. programs: texts of
    the script where it is at hand, and starts nothing known: without the library's parser its names are its own.
    """
    served = _served(launch)
    if served is None:
        return None
    texts = tuple(programs)
    own = served.guessed and served.module in _COMMON and _parses_itself(launch, texts)
    # a predecessor of LLaMA-Factory and what was made of it have its scripts' names
    own = own or (served.module == "llamafactory" and bool(texts) and not any(map(_FACTORY.search, texts)))
    served = Served("generic", guessed=True) if own else served
    name = (served.module in _BY_NAME and launch.subcommand) or _recipe(launch) or _named(launch, served)
    reader = (_of_script(served.family, name) if served.family else None) or as_flags(reader_named(served.module))
    if served.guessed:
        reader = reader._replace(keys="", guessed=True)
    if launch.filled:  # its parser is judged by its own flags
        reader = reader._replace(own=reader.own.union(one.lstrip("-") for one in launch.takes))
    # a script around a library has the library's defaults
    strange = own or (served.guessed and served.module not in _COMMON)
    hidden = (
        "what the script itself takes for it is not known"
        if strange or launch.filled
        else _elsewhere(launch, served.module)
    )
    # with a config beside them, what flags alone do not say is no fault of theirs
    observe = () if served.guessed or hidden or _names_config(launch) else reader.observe
    return watched(reader._replace(observe=observe, partial=(lambda _document: hidden) if hidden else None), launch)


def _parses_itself(launch: Launch, programs: tuple[str, ...]) -> bool:
    """Whether a script makes its options itself and names no trainer of a library, whose scripts take DeepSpeed's file
    as `--deepspeed`.
    """
    if launch.flags.root is not None and launch.flags.root.pair("deepspeed_config") is not None:
        return True
    makes = any("ArgumentParser(" in text for text in programs)
    return makes and not any(_OF_LIBRARIES.search(text) for text in programs)


def watched(reader: Reader, launch: Launch) -> Reader:
    """A reader of a launch's flags that observes what is wrong with the command line too."""

    def faults(_document: Document, _look: Look) -> list[Observation]:
        return list(observed(launch, reader.keys, reader.packages[0]))

    return reader._replace(own=reader.own | ADDED, observe=(*reader.observe, faults))


def _elsewhere(launch: Launch, module: str) -> str:
    """Where the settings stand that are no flags, when that is no file that could be read; "" where flags are all."""
    root = launch.flags.root
    named = [pair.value for pair in root.pairs if pair.key in ("config", "config_name", "recipe")] if root else []
    if module in _BY_RECIPE and named and "." not in named[-1].raw:
        return f"it may stand in `{named[-1].raw}`, which comes with the program"
    return "it may stand in the program's own recipe" if module in _RECIPES else ""


@cache
def _of_script(family: str, stem: str) -> Reader | None:
    found: Reader | None = import_module(f"loralint.frameworks.readers.{family}").reader_of(stem)
    return found


def _recipe(launch: Launch) -> str:
    return launch.positionals[0].raw if launch.program == "tune" and launch.positionals else ""


def _named(launch: Launch, served: Served) -> str:
    """The script's name; of LLaMA-Factory's with its ending, which tells it from a command of the program."""
    stem = _stem(launch)
    return f"{stem}.py" if served.module == "llamafactory" and launch.script is not None else stem


def _stem(launch: Launch) -> str:
    if launch.script is not None:
        name = launch.script.raw.replace("\\", "/").rpartition("/")[2]
        return name.removesuffix(".py") if name.endswith(".py") else ""
    return launch.module.rpartition(".")[2]


def _served(launch: Launch) -> Served | None:
    if launch.program in _PROGRAMS and launch.program != "verl":
        module = _PROGRAMS[launch.program]
        return Served(module, family=_READERS_OF.get(module, ""))
    for pattern, module in _MODULES if launch.module else ():
        if re.fullmatch(pattern, launch.module):
            return Served(module, guessed=module in _ALIKE)
    path = launch.script.raw.replace("\\", "/") if launch.script is not None else ""
    for pattern, module in _SCRIPTS if path else ():
        if re.fullmatch(pattern, path) and not (module == "llamafactory" and _of_others(launch, path)):
            return Served(module, family=_READERS_OF[module] if module in _BY_NAME else "")
    if _is_pipe(launch):
        return Served("diffusion_pipe")
    stem = _stem(launch)
    for family in _FAMILIES if stem else ():
        if _of_script(family, stem) is not None and _fits(launch, family):
            return Served(_MODULE_OF.get(family, family), family=family)
    return _by_flags(launch)


def _of_others(launch: Launch, path: str) -> bool:
    """Whether a script called as one of LLaMA-Factory's is another project's, which may have a `src/train.py` too."""
    return _is_hydra(launch) or (path.endswith("train.py") and not _mostly(launch, "llamafactory"))


def _is_hydra(launch: Launch) -> bool:
    """Whether Hydra reads the words, which LLaMA-Factory has no use for."""
    given = [pair.key for pair in launch.flags.root.pairs] if launch.flags.root else []
    given += [word.raw.partition("=")[0] for word in launch.positionals if "=" in word.raw]
    names = [one.lstrip("-+~").replace("-", "_") for one in given]
    return any(name in ("config_name", "config_path") or not name.isidentifier() for name in names)


def _is_pipe(launch: Launch) -> bool:
    """Whether it is diffusion-pipe's: DeepSpeed starts `train.py --deepspeed --config FILE.toml`."""
    root = launch.flags.root
    switch, config = (root.get("deepspeed"), root.get("config")) if root is not None else (None, None)
    started = _stem(launch) == "train" and any(one.name == "deepspeed" for one in launch.launchers)
    return (
        started and switch is not None and switch.tag == "bool" and config is not None and config.raw.endswith(".toml")
    )


def _fits(launch: Launch, family: str) -> bool:
    """Whether a script of a common name is that trainer's: nearly all of its flags are known there."""
    reader = _of_script(family, _stem(launch))
    root = launch.flags.root
    if reader is None or root is None or not reader.keys:
        return reader is not None
    return bool(root.pairs) and _mostly(launch, reader.keys)


def _mostly(launch: Launch, keys: str) -> bool:
    """Whether a list knows nearly all of the flags; of none it does."""
    from loralint.frameworks.key_list import key_list, top_keys

    names = {pair.key for pair in launch.flags.root.pairs} if launch.flags.root is not None else set()
    strange = len(names - top_keys(keys) - key_list(keys).get("moved", {}).keys())
    return strange <= max(2, len(names) // 4) and strange * 2 <= len(names)


def _by_flags(launch: Launch) -> Served | None:
    """By the keys that tell files apart; a script of nobody known needs several names, one of them of an adapter."""
    if launch.filled:
        return Served(launch.filled, guessed=not launch.takes)
    root = launch.flags.root
    found = detect(launch.flags) if root is not None and root.pairs else None
    if found is not None and (launch.program != "python" or found.module in _DOTTED):
        return Served(found.module)
    if found is not None and found.module not in _COMMON:
        return Served(found.module, guessed=True)
    names = [pair.key for pair in root.pairs] if root is not None else []
    if found is not None or (any(map(_ADAPTER.search, names)) and sum(map(_TRAINING.__contains__, names)) > 1):
        return Served("transformers" if any(name in SURE_HF for name in names) else "generic", guessed=True)
    return Served("generic", guessed=True) if _launched(launch) else None


def _launched(launch: Launch) -> bool:
    """Whether a launcher starts a training of which nothing else is known: its own options may still be wrong."""
    if not any(launcher.name in ONLY for launcher in launch.launchers) or _names_config(launch):
        return False
    if launch.faults or misplaced(launch):
        return True
    said = [launch.flags, *(launcher.flags for launcher in launch.launchers)]
    told = launch.env or any(one.root is not None and one.root.pairs for one in said)
    return TRAINS.search(_stem(launch)) is not None and bool(told)


def _names_config(launch: Launch) -> bool:
    root = launch.flags.root
    texts = [word.raw for word in launch.positionals]
    texts += [pair.value.raw for pair in root.pairs if pair.key.startswith(("config", "cfg"))] if root else []
    return any(text.lower().endswith((".yaml", ".yml", ".json", ".toml")) for text in texts)
