"""Fixtures for the whole suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine draws examples says nothing of what is tested; what must be fast has tests of its own.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The read-only material that lies beside a developer's checkout; tests that need it are skipped without it."""
    path = Path(__file__).resolve().parent.parent.parent / "shared"
    if not path.is_dir():
        pytest.skip("the folder ../shared is not here")
    return path
