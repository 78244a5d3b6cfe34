"""What is known of the base model that the config names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from loralint.facts.need import Missing, known, text
from loralint.facts.scope import Scope, derived
from loralint.model import Value

if TYPE_CHECKING:
    from loralint.knowledge.models import ModelFacts

# diffusion models: kohya-ss/musubi-tuner#26 and kohya-ss/sd-scripts#1571 and #1707, NaN in fp16 or an empty adapter
_OVERFLOWING = frozenset({"hunyuan_video", "flux"})


def family(scope: Scope) -> Value:
    """The family, such as llama or qwen2; of a diffusion model its architecture."""
    diffusion = scope.get("model.diffusion_family").value
    if _diffusion(scope):
        return derived(diffusion) if isinstance(diffusion, str) else scope.get("model.named_family")
    return derived(_model(scope).family)


def hidden(scope: Scope) -> Value:
    """Width of the residual stream, which is the input width n of most adapted modules."""
    model = _model(scope)
    return derived(_told(scope, model, "width", model.hidden_size))


def layers(scope: Scope) -> Value:
    """Number of transformer blocks."""
    model = _model(scope)
    return derived(_told(scope, model, "number of layers", model.num_layers))


def billions(scope: Scope) -> Value:
    """Parameters in billions, by the catalogue or else by the name."""
    from loralint.knowledge.models import size_from_name

    base = _base(scope)
    model = found(scope) if not _diffusion(scope) else None
    size = (model and model.params) or size_from_name(base)
    if size is None:
        raise Missing(f"the size of base model `{base}` is unknown")
    return derived(size)


def native_dtype(scope: Scope) -> Value:
    """Format that the weights were published in: bf16, fp16 or fp32."""
    model = _model(scope)
    return derived(_told(scope, model, "dtype", model.dtype))


def context(scope: Scope) -> Value:
    """Context length as published, in tokens."""
    model = _model(scope)
    return derived(_told(scope, model, "context length", model.context))


def modules(scope: Scope) -> Value:
    """Names of the linear layers inside a block, as a target would name them; unknown where the catalogue has none."""
    model = _model(scope)
    names = list(model.modules) or _in_blocks(_paths(scope, model))
    return derived(_told(scope, model, "module names", names or None))


def paths(scope: Scope) -> Value:
    """Paths of the layers that can get an adapter, `*` for the number of a layer; unknown outside the catalogue."""
    model = _model(scope)
    return derived(_told(scope, model, "module paths", list(_paths(scope, model)) or None))


def normalised(scope: Scope) -> Value:
    """Paths of the layers that read what a norm gives, `*` for the number of a layer; of others nothing is said."""
    from loralint.knowledge import catalogue

    model = _model(scope)
    model_type = catalogue.type_of(model.family)
    known_ones = list(catalogue.normalised(model_type)) if model_type else []
    return derived(_told(scope, model, "layers behind norms", known_ones or None))


def _paths(scope: Scope, model: ModelFacts) -> tuple[str, ...]:
    from loralint.knowledge import catalogue

    model_type = catalogue.type_of(model.family)
    several = catalogue.adaptable(model_type) if model_type else ()
    if several is None and (config := _config(scope)):  # a part is a model of another type, which the config names
        from loralint.knowledge.local_model import adaptable

        return adaptable(config)
    return several or ()


def _in_blocks(found: tuple[str, ...]) -> list[str]:
    """The last names of layers inside the blocks."""
    return list(dict.fromkeys(path.rpartition(".")[2] for path in found if ".*." in path))


def tied(scope: Scope) -> Value:
    """Whether the output head is the embedding matrix."""
    model = _model(scope)
    return derived(_told(scope, model, "tying of the output head", model.tied))


def kind(scope: Scope) -> Value:
    """What the name says it is, base or instruct; a chat model counts as instruct."""
    said = _model(scope).kind
    if said is None:
        raise Missing(f"the name `{_base(scope)}` does not say whether the model is a base or an instruct model")
    return derived("base" if said == "base" else "instruct")


def vision(scope: Scope) -> Value:
    """Whether its family takes images."""
    return derived(_model(scope).vision)


def moe(scope: Scope) -> Value:
    """Whether its family has experts."""
    return derived(_model(scope).moe)


def fp16_unsafe(scope: Scope) -> Value:
    """Whether its family is known to overflow in fp16."""
    diffusion = known(scope, "model.diffusion_family")
    if isinstance(diffusion, str):
        return derived(diffusion in _OVERFLOWING)
    return derived(_model(scope).fp16_unsafe)


def prequantized(scope: Scope) -> Value:
    """How the published weights are quantised (awq, gptq, bnb-4bit, mxfp4 ...), by the config or the name; or none."""
    from loralint.knowledge import models

    method = known(scope, "quant.method")
    if method in ("gptq", "awq"):  # only weights that were quantised before are loaded this way
        return derived(method)
    if known(scope, "model.base") is None or _diffusion(scope):
        return derived("none")
    model = found(scope)
    return derived((model.quantized if model else models.prequantized(_base(scope))) or "none")


def found(scope: Scope) -> ModelFacts | None:
    """All that is known of a language model, by its own config.json or by its name; None where nothing is.

    Raises Missing where no base model is named and no config.json given, or where that cannot be read.
    """
    config = _config(scope)
    if config is None:
        from loralint.knowledge.models import find

        return find(_base(scope))
    from loralint.knowledge.local_model import facts
    from loralint.knowledge.structure import Unsolved

    base = scope.get("model.base").value
    try:
        return facts(config, base if isinstance(base, str) else "")
    except Unsolved as unsolved:
        raise Missing(str(unsolved)) from None


def _config(scope: Scope) -> str | None:
    """The path of the model's own config.json, if there is one on this machine."""
    path = scope.peek("run.model_config").value
    return path if isinstance(path, str) else None


def _diffusion(scope: Scope) -> bool:
    """Whether the trainer is one of diffusion models, which all say so: an unknown task is one of a language model."""
    return scope.get("train.task").value == "diffusion"


def _base(scope: Scope) -> str:
    return text(scope, "model.base", "the config names no base model")


def since(scope: Scope) -> Value:
    """The release of Transformers that knows the model, where that in force does not yet; else None.

    The lists are those of model types in the releases' own configuration_auto.py; of a type that is older than all of
    them, or comes with code of its own, nothing is said.
    """
    from loralint.knowledge.data import part
    from loralint.knowledge.versions import satisfies

    lists: Any = part("keys-model_types")
    base, family_name = _base(scope).lower(), known(scope, "model.family")
    named = next((one["since"] for one in lists["names"] if re.search(one["pattern"], base)), "")
    first = named or lists["since"].get(family_name, "")
    return derived(first if first and satisfies(scope.version("transformers"), f"<{first}") else None)


def assumed(scope: Scope) -> Value:
    """Whether the base model is what a script's option has by default, in whose place the command line may give any."""
    known(scope, "model.base")
    return derived(scope.get("model.base").origin == "inherited")


def _model(scope: Scope) -> ModelFacts:
    model = None if _diffusion(scope) else found(scope)  # a language model of like name would be another one
    if model is None:
        raise unlisted(scope)
    return model


def unlisted(scope: Scope) -> Missing:
    """Why nothing is known of the base model; the config.json of a diffusion model names no type to know it by."""
    if _diffusion(scope):
        return Missing("the catalogue holds language models only")
    return Missing(f"base model `{_base(scope)}` is not in the catalogue (give --model-config)")


def _told(scope: Scope, model: ModelFacts, what: str, value: object) -> object:
    """The value, unless only the family was recognised or the catalogue leaves it open."""
    if value is not None:
        return value
    if model.unsolved is not None:
        raise Missing(model.unsolved)
    if model.id is None:
        raise unlisted(scope)
    raise Missing(f"the catalogue does not say the {what} of `{_base(scope)}`")
