"""sd-scripts' trainers as a command line starts them: what the name of the script decides.

argparse refuses a flag that the script lacks, and makes numbers of texts.
"""

from __future__ import annotations

from functools import cache

from loralint.frameworks.readers.script import started
from loralint.frameworks.readers.sd_scripts import READER as FILE
from loralint.frameworks.table import Reader

_FAMILIES = {
    "train_network": "sd15", "sdxl_train_network": "sdxl", "flux_train_network": "flux", "sd3_train_network": "sd3",
    "lumina_train_network": "lumina2", "anima_train_network": "anima",
    "hunyuan_image_train_network": "hunyuan_image", "train_textual_inversion": "sd15",
    "sdxl_train_textual_inversion": "sdxl", "train_db": "sd15", "fine_tune": "sd15", "sdxl_train": "sdxl",
    "flux_train": "flux", "sd3_train": "sd3", "lumina_train": "lumina2", "anima_train": "anima",
}  # fmt: skip


def reader_of(script: str) -> Reader | None:
    """The reader of the flags of `sdxl_train_network`; None for a script of another trainer."""
    return _reader(script) if script in _FAMILIES else None


@cache
def _reader(script: str) -> Reader:
    fixed = {"model.diffusion_family": _FAMILIES[script], "train.script": script}
    if not script.endswith("_network"):
        fixed["adapter.method"] = "embedding" if script.endswith("inversion") else "full"
    return started(FILE._replace(keys=f"sd_scripts_flags:{script}", flat=False), fixed)
