"""What SimpleTuner's web interface saves: `_metadata`, and under `config` the flags of a run.

Source: simpletuner/simpletuner_sdk/server/app.py and services/config_store.py at bc8e6ab7.
"""

from __future__ import annotations

from loralint.frameworks.readers import simpletuner

READER = simpletuner.READER._replace(section="config")
