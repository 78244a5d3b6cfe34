"""Which trainer of diffusion models a script on a command line is, told by its name and, of a `train.py`, its flags."""

from __future__ import annotations

from collections.abc import Collection

_FINETRAINERS = frozenset({"training_type", "model_name"})
_SIMPLETUNER = frozenset({"model_family", "model_type"})


def module_of(script: str, flags: Collection[str]) -> str:
    """The module of its reader, as `detect.reader` takes it; empty for a script of anybody else.

    script: as written, such as `sd-scripts/sdxl_train_network.py`. flags: names as argparse would store them.
    """
    name = script.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    if name == "train":
        return "finetrainers" if {*flags} >= _FINETRAINERS else "simpletuner" if {*flags} >= _SIMPLETUNER else ""
    if not name.startswith(("train_", "fine_tune")) and not name.endswith(("train", "train_network", "_self_flow")):
        return ""
    from loralint.frameworks.readers import diffusers, musubi, sd_scripts_flags

    for module in (sd_scripts_flags, musubi, diffusers):
        if module.reader_of(name) is not None:
            return f"{module.__name__.rpartition('.')[2]}:{name}"
    return ""
