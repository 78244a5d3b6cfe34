"""Which further files a launch names: its script and config, and those of its launchers."""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launch.serving import reader_for
from loralint.frameworks.launched import Launch
from loralint.model import Unknown
from loralint.source.command import Word
from loralint.source.document import Document, Node

_CONFIGS = (".yaml", ".yml", ".json", ".toml")
# Flags that name a file, by who takes them: "" for everybody else.
_LAUNCHER = {"config_file": "accelerate", "deepspeed_config_file": "deepspeed", "env_file": "env-file"}
_FLAGS = {
    "deepspeed": "deepspeed",
    "deepspeed_config": "deepspeed",
    "dataset_config": "dataset",
    "data_config_path": "dataset",
    "data_backend_config": "dataset",
    "config_path": "config",
    "preset_path": "preset",
    "config_file": "config",
    "config": "config",
    "c": "config",
    "cfg": "config",
    "accelerate_config": "accelerate",
}
# Programs whose `--config_file` and `--deepspeed_config_file` are accelerate's.
_ACCELERATES = frozenset({"trl"})
# Programs that read the config which they are given as YAML, whatever it is called: as a key of a ConfigMap may be.
_ANY_NAME = frozenset({"axolotl", "trl"})
_POSITIONAL = frozenset({"axolotl", "llamafactory-cli", "swift", "megatron", "python", "xtuner", "automodel", "nemo"})


def references(launch: Launch) -> list[tuple[str, Word]]:
    """(kind, word as written) of each file: config, preset (read before the config), accelerate, deepspeed, dataset,
    script or env-file.
    """
    found: list[tuple[str, Word]] = []
    if launch.script is not None:
        found.append(("script", launch.script))
    if launch.program in _POSITIONAL:
        found += [("config", word) for word in launch.positionals if word.raw.lower().endswith(_CONFIGS)]
    if launch.program in _ANY_NAME:
        found += [("config", word) for word in _without_ending(launch)]
    kinds = {**_FLAGS, **(_LAUNCHER if launch.program in _ACCELERATES else {})}
    found += _named(launch.flags, kinds)
    for launcher in launch.launchers:
        found += _named(launcher.flags, _LAUNCHER)
    reader = reader_for(launch)
    if reader is not None:
        from loralint.frameworks.companions.references import references as of_document

        texts = {word.raw for _, word in found}
        for one in of_document(launch.flags, reader):
            pair = launch.flags.root.pair(one.value.key) if launch.flags.root is not None else None
            if (
                pair is not None
                and one.path not in texts
                and one.kind in ("deepspeed", "accelerate", "dataset", "config")
            ):
                found.append((one.kind, _as_word(pair.value)))
    return found


def _without_ending(launch: Launch) -> Iterator[Word]:
    """The config of a launch that is a path from the root and has no ending; others may be words of other kinds."""
    root = launch.flags.root
    given = root.pair("config") if root is not None else None
    words = [_as_word(given.value)] if given is not None and given.value.kind == "scalar" else launch.positionals[:1]
    for word in words:
        if word.raw.startswith("/") and "." not in word.raw.rpartition("/")[2]:
            yield word


def _named(flags: Document, kinds: dict[str, str]) -> Iterator[tuple[str, Word]]:
    root = flags.root
    for pair in root.pairs if root is not None else ():
        kind = kinds.get(pair.key)
        if kind is not None and pair.value.kind == "scalar" and _is_file(pair.value, kind):
            yield kind, _as_word(pair.value)


def _is_file(node: Node, kind: str) -> bool:
    """Whether a value can name such a file: `--deepspeed` may be a switch, `--config llama3/8B_lora` is built in."""
    if node.tag == "bool" or isinstance(node.native, Unknown):
        return isinstance(node.native, Unknown) and node.raw.lower().endswith(_CONFIGS)
    return node.raw.lower().endswith(_CONFIGS) or kind == "env-file"


def _as_word(node: Node) -> Word:
    text = node.native if isinstance(node.native, Unknown) else node.raw
    return Word(text, node, start=node.start, end=node.end)
