"""The base model's class with every module that it has, where its sizes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loralint.facts.model import found as model_of
from loralint.facts.need import Missing
from loralint.facts.reach import type_of
from loralint.facts.scope import Scope, derived
from loralint.knowledge import catalogue
from loralint.knowledge.structure import SIZES, Unsolved
from loralint.model import Value

if TYPE_CHECKING:
    from loralint.knowledge.models import ModelFacts

_SIZES = {**SIZES, "tied": "tie_word_embeddings"}
_TASKS = {"cls": "sequence-classification", "rm": "sequence-classification"}


def built(scope: Scope, version: str = "5") -> catalogue.Architecture:
    """The class that the run trains, as this generation of Transformers makes it.

    By the model's own config.json, else by the sizes that the catalogue has of it. Raises Missing where they do not
    suffice.
    """
    task = _TASKS.get(str(scope.get("train.task").value))
    path = scope.get("run.model_config").value
    try:
        if isinstance(path, str):
            from loralint.knowledge.local_model import architecture

            return architecture(path, task, version)
        return catalogue.from_sizes(type_of(scope), _sizes(scope), task, version)
    except Unsolved as unsolved:
        more = "" if isinstance(path, str) else " (give --model-config)"
        raise Missing(f"{unsolved}{more}") from None


def _sizes(scope: Scope) -> dict[str, object]:
    model = _model(scope)
    if model.id is None:
        raise Missing("the sizes of the base model are not known")
    from loralint.knowledge.models import config_of

    return {theirs: getattr(model, ours) for ours, theirs in _SIZES.items()} | config_of(model.id)


def _model(scope: Scope) -> ModelFacts:
    model = model_of(scope)
    if model is None:
        raise Missing("the base model is not in the catalogue")
    return model


def vocabulary(scope: Scope) -> Value:
    """Rows of the embedding as published."""
    rows = _model(scope).vocab_size
    if rows is None:
        raise Missing("the number of rows of the model's embedding is not known")
    return derived(rows)


def shape(scope: Scope) -> Value:
    """encoder, decoder or encoder-decoder, by the classes that the catalogue has of the type."""
    tasks = catalogue.tasks(type_of(scope))
    if "seq2seq" in tasks or "speech-seq2seq" in tasks:
        return derived("encoder-decoder")
    if "masked-lm" in tasks:
        return derived("encoder")
    if "causal-lm" in tasks or "image-text-to-text" in tasks:
        return derived("decoder")
    raise Missing("whether the model is an encoder or a decoder is not known")
