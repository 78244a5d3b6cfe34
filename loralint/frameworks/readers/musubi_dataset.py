"""musubi-tuner's file of `dataset_config` (30c658c4 read): datasets of pictures or of videos, without subsets."""

from __future__ import annotations

from loralint.frameworks.readers.sd_scripts_dataset import READER as SD_SCRIPTS

READER = SD_SCRIPTS._replace(
    name="musubi-tuner", title="musubi-tuner", keys="musubi_dataset", packages=("musubi-tuner",)
)
