"""What the caller says about a run beyond its files."""

from collections.abc import Mapping
from typing import NamedTuple


class Options(NamedTuple):
    """gpu: as given, "T4" or "A100-80GBx8". rows: of training data. targets: package -> version. framework: a name.

    companions: files that every run reads besides those that it names. env: variables that every run gets. configmaps:
    name of a ConfigMap -> the file or folder that it is made of. model_configs: base model -> its config.json or the
    folder that holds it, "" for every base model. meant: those that the caller named for just these runs, so that one
    which no run has is a slip. model_cache: folder of a Hugging Face cache.
    """

    gpu: str = ""
    rows: int | None = None
    targets: Mapping[str, str] = {}
    framework: str = ""
    companions: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    configmaps: Mapping[str, str] = {}
    model_configs: Mapping[str, str] = {}
    meant: tuple[str, ...] = ()
    model_cache: str = ""
