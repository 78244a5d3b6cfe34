"""The file of settings that kohya's trainers are told: they read TOML, and write `.toml` behind any other name.

Sources: kohya-ss/sd-scripts 48d368f library/train_util.py (read_config_from_file); kohya-ss/musubi-tuner 30c658c
training/parser_common.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from loralint.frameworks.launched import Launch
from loralint.frameworks.observe import place
from loralint.frameworks.table import Observation

_OTHERS = (".yaml", ".yml", ".json")


def misnamed(launch: Launch) -> Iterator[Observation]:
    """A file of another format, for which they look under a name that it does not have."""
    pair = launch.flags.root.pair("config_file") if launch.flags.root is not None else None
    if pair is not None and pair.value.raw.lower().endswith(_OTHERS):
        name = pair.value.raw
        message = f"the trainer looks for `{name}.toml`, finds no such file, and exits"
        data = {"advice": f"write the settings as TOML, and name that file: {name.rpartition('.')[0]}.toml"}
        yield Observation("rejected", place(launch.flags, pair, "config_file"), "crash", message, data=data)
