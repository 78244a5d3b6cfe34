from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def rule() -> dict[str, Any]:
    """A whole rule as its YAML would load; tests change one thing of it."""
    return {
        "id": "LL901",
        "name": "rate-too-high",
        "since": "0.1.0",
        "applies": {"framework": ["axolotl"], "method": ["lora"], "task": ["sft"], "transformers": ">=4.46,<6"},
        "when": {"adapter.rank": {"gt": 0, "lt": 512}},
        "at": "optim.lr",
        "uses": "range",
        "with": {"field": "optim.lr", "max": 0.1, "suggest": 0.0002},
        "tier": "A",
        "message": "the loss blows up: {key} {value} is far beyond {get:lora.E}",
        "help": "write {key:optim.lr}: {suggest}",
        "fix": {"set": {"optim.lr": "{suggest}"}, "safe": False},
        "why": "An update of Adam is as large as the rate, whatever the gradient.",
        "sources": ["arXiv:2305.14314"],
        "examples": [
            {"bad": {"axolotl": "adapter: lora\nlearning_rate: 1.0\n"}, "finds": {"key": "learning_rate", "line": 2}},
            {"good": {"axolotl": "adapter: lora\nlearning_rate: 2e-4\n"}},
        ],
    }
