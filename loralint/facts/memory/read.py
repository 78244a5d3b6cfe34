"""The plan that a config amounts to. Where it leaves something open that decides little, there are two: lean and rich.

What decides much and is not known ends the reading with the reason.
"""

from __future__ import annotations

from loralint.facts.memory.of_base import base
from loralint.facts.memory.of_pass import step
from loralint.facts.memory.of_shards import shards
from loralint.facts.memory.of_trained import trained
from loralint.facts.memory.plan import Pass, Plan, Trained
from loralint.facts.need import Missing, known
from loralint.facts.scope import Scope

_IDLE = Pass(
    0, 0, 2, autocast=False, attention="fused", masked=False, dropout=False, checkpointed=False, offloaded=False,
    kernels=1, fused_loss=True, passes=1,
)  # fmt: skip
_NOTHING = Trained(full=False, rank=0, targets=(), saved=0, width=4, states=0, evicted=True, master=0, scratch=0)


def plan(scope: Scope, *, rich: bool) -> Plan:
    """The whole of it. `rich`: what is left open is taken to cost more. Raises Missing with what is not known."""
    own = base(scope, rich=rich)
    if own.shape.untold:
        raise Missing(own.shape.untold)
    if own.shape.counted and (known(scope, "adapter.target_parameters") or known(scope, "targets.packed")):
        raise Missing("how much memory adapters on packed experts take is not known here")
    return Plan(own, trained(scope, own, rich=rich), step(scope, rich=rich), shards(scope, rich=rich))


def standing(scope: Scope, *, rich: bool) -> Plan:
    """Without the pass, of which nothing needs to be known."""
    own = base(scope, rich=rich)
    return Plan(own, trained(scope, own, rich=rich), _IDLE, shards(scope, rich=rich))


def frozen(scope: Scope, *, rich: bool) -> Plan:
    """Without what trains either."""
    return Plan(base(scope, rich=rich), _NOTHING, _IDLE, shards(scope, rich=rich))
