"""The way to a cluster's API server, as a file of the user says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lightkube import KubeConfig


def way(read: Callable[[], KubeConfig]) -> KubeConfig:
    """What a read gives. Raises ConfigError, or OSError, also where the file is something else than a kubeconfig."""
    from lightkube.core.exceptions import ConfigError

    try:
        return read()
    except (ConfigError, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - lightkube takes the file as it comes, and fails wherever it does not fit
        raise ConfigError(f"the kubeconfig cannot be used ({type(error).__name__})") from None
