"""What the tests behind docs/claims.md share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loralint.canonical.fields import FIELDS
from loralint.facts import FACTS
from loralint.facts.scope import Scope, derived
from loralint.model import Value

ADAMW = {"adapter.method": "lora", "optim.name": "adamw_torch"}


class _Config:
    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def get(self, field: str) -> Value:
        given = field in self._values
        return Value(self._values.get(field), origin="set" if given else "absent", field=field)


@pytest.fixture(scope="session")
def lora() -> Callable[..., Any]:
    """lora("lora.E", adapter__rank=8, ...): a fact of a LoRA run with AdamW, as loralint computes it.

    A fact's name among the values, such as model__hidden, gives that fact.
    """

    def fact(name: str, **values: Any) -> Any:
        config = ADAMW | {key.replace("__", "."): value for key, value in values.items()}
        scope = Scope(_Config({field: value for field, value in config.items() if field in FIELDS}), FACTS)
        for given in config.keys() - FIELDS.keys():
            scope.bind(given, derived(config[given]))
        return scope.get(name).value

    return fact
