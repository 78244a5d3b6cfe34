"""How the config says which modules get an adapter."""

from __future__ import annotations

from loralint.facts.need import known
from loralint.facts.scope import Scope, derived
from loralint.model import Value


def kind(scope: Scope) -> Value:
    """list, regex, all-linear, default (PEFT's own choice for the architecture) or none.

    A text is a regular expression to PEFT, whatever it looks like, except "all-linear" in any case.
    """
    if not known(scope, "lora.on"):
        return derived("none")
    targets = known(scope, "adapter.targets")
    if targets is None:
        return derived("default")
    if isinstance(targets, str):
        return derived("all-linear" if targets.lower() == "all-linear" else "regex")
    return derived("list" if targets else "none")


def names(scope: Scope) -> Value:
    """The names of a list, as given; empty for any other kind."""
    targets = known(scope, "adapter.targets")
    return derived(list(targets) if isinstance(targets, (list, tuple)) else [])


def embedding(scope: Scope) -> Value:
    """Whether rows of the input embedding train: in full, through an adapter, or by token index."""
    if known(scope, "adapter.trainable_tokens") is not None:
        return derived(True)
    lists = (known(scope, "adapter.modules_to_save"), known(scope, "adapter.targets"))
    listed = [str(name) for names in lists if isinstance(names, (list, tuple)) for name in names]
    return derived(any("emb" in name.rpartition(".")[2] or name.endswith("wte") for name in listed))
