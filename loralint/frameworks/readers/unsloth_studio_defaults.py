"""The defaults that Unsloth Studio's web interface keeps by model: no run of their own, but what a run starts from.

They share the sections of the file that `unsloth train` reads, with keys that only the interface has, and targets
stand as a list. `num_epochs: 0` beside `max_steps: 30` is how all of them limit a trial.
"""

from __future__ import annotations

from loralint.frameworks.readers.unsloth_studio import READER as COMMAND

READER = COMMAND._replace(keys="unsloth_studio_defaults", observe=())
