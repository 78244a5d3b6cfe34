"""Which trainer of diffusion models a script on a command line is, told by its name and, of a `train.py`, its flags."""

from __future__ import annotations

from collections.abc import Collection

from loralint.frameworks.table import Reader


def reader_of(script: str, flags: Collection[str]) -> Reader | None:
    """The reader of its flags; None for a script of anybody else.

    script: as written, such as `sd-scripts/sdxl_train_network.py`. flags: names as argparse would store them.
    """
    name = script.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    if name == "train":
        return _by_flags(flags)
    if not name.startswith(("train_", "fine_tune")) and not name.endswith(("train", "train_network", "_self_flow")):
        return None
    from loralint.frameworks.readers import diffusers, musubi, sd_scripts_flags

    readers = (module.reader_of(name) for module in (sd_scripts_flags, musubi, diffusers))
    return next((reader for reader in readers if reader is not None), None)


def _by_flags(flags: Collection[str]) -> Reader | None:
    if "training_type" in flags and "model_name" in flags:
        from loralint.frameworks.readers.finetrainers import READER as FINETRAINERS

        return FINETRAINERS
    if "model_family" in flags and ("data_backend_config" in flags or "model_type" in flags):
        from loralint.frameworks.readers.simpletuner import READER as SIMPLETUNER

        return SIMPLETUNER
    return None
