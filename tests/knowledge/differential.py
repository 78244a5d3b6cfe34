"""A model built by Transformers beside the catalogue's, and LoRA settings to give to both PEFT and ours."""

from __future__ import annotations

import json
from typing import Any

import torch
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model

from loralint.authoring.catalogue import configs
from loralint.authoring.catalogue.mappings import subjects
from loralint.knowledge import catalogue, peft

_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers",
    "num_decoder_layers", "text_config.num_hidden_layers", "vision_config.num_hidden_layers",
    "vision_config.depth")  # fmt: skip
_WHOLE = ("lm_head", "embed_tokens", "norm", "score", "classifier", "wte", "shared", "embed_in", "embed_out",
    "word_embeddings", "ln_f", "final_layer_norm", "qa_outputs")  # fmt: skip


class Pair:
    """One architecture with few layers: how to build it, and what the catalogue says of the same config."""

    def __init__(self, model_type: str) -> None:
        task, self.subject = next(iter(subjects(model_type).items()))
        self.config = self._small()
        tree = json.loads(json.dumps(self.config.to_dict()))
        self.ours = catalogue.from_config({**tree, "architectures": None}, task)

    def _small(self) -> Any:
        usual = configs.made(self.subject.config, {}, self.subject.given)
        known = dict(configs.flat(usual))
        small = {name: 3 for name in _LAYERS if isinstance(known.get(name), int)}
        try:
            config = configs.made(self.subject.config, small, self.subject.given)
            self._build(config)
        except Exception:  # noqa: BLE001 - whatever a config class raises at a length that it does not take
            return usual
        return config

    def _build(self, config: Any) -> Any:
        with torch.device("meta"):
            return self.subject.model(config)

    def real(self, spec: dict[str, Any]) -> tuple[Any, ...] | None:
        """Adapted modules and weights and the number of trainable parameters by PEFT; None where it raises."""
        model = self._build(self.config)
        with torch.device("meta"):
            config = LoraConfig(
                r=spec["rank"],
                target_modules=_listed(spec["modules"]),
                exclude_modules=_listed(spec["exclude"]),
                layers_to_transform=_listed(spec["layers"]),
                layers_pattern=_listed(spec["layers_pattern"]),
                rank_pattern=dict(spec["rank_pattern"]),
                target_parameters=list(spec["parameters"]) or None,
                modules_to_save=list(spec["saved"]) or None,
                trainable_token_indices=_by_name(spec["tokens"]),
                bias=spec["bias"],
                use_dora=spec["dora"],
                lora_dropout=spec["dropout"],
            )
            try:
                made = get_peft_model(model, config)
            except Exception:  # noqa: BLE001 - PEFT raises of many types, and that it raises is what counts
                return None
        modules, weights = made.base_model.targeted_module_names, made.base_model.targeted_parameter_names
        return set(modules), set(weights), sum(one.numel() for one in made.parameters() if one.requires_grad)

    def told(self, spec: dict[str, Any]) -> tuple[Any, ...] | None:
        """The same by us."""
        ours = self.ours
        model = peft.Model(ours.modules, ours.model_type, ours.head, ours.embedding, ours.tied, ours.experts)
        try:
            made = peft.adapt(model, peft.Targets(**spec))
        except peft.Refused:
            return None
        return set(made.modules), set(made.parameters), made.total

    def specs(self) -> st.SearchStrategy[dict[str, Any]]:
        """Settings, most of which name something that is there."""
        able = [module.path for module in self.ours.modules if module.kind in peft.SUPPORTED]
        linear = [module.path for module in self.ours.modules if module.kind in peft.LINEAR] or able
        last = sorted({_end(path, 1) for path in able})
        whole = sorted({_end(m.path, 1) for m in self.ours.modules if _end(m.path, 1) in _WHOLE})
        packed = [
            f"{module.path}.{name}"
            for module in self.ours.modules
            for name, shape in module.weights
            if shape and module.kind not in peft.SUPPORTED and len(shape) in (2, 3)
        ]
        name = st.one_of(
            st.builds(_end, st.sampled_from(linear), st.sampled_from([1, 1, 1, 2, 9])),
            st.builds(_end, st.sampled_from(able), st.sampled_from([1, 2])),
            st.just("q_porj"),
        )
        expression = st.one_of(
            st.lists(st.sampled_from(last), min_size=1, max_size=3).map(lambda names: rf".*\.({'|'.join(names)})"),
            st.tuples(st.sampled_from(last), st.sampled_from(["0", "1", "[01]", r"\d+"])).map(
                lambda pair: rf".*\.{pair[1]}\..*{pair[0]}"
            ),
            st.sampled_from(
                [".*proj.*", r".*(self_attn|mlp|attention)\..*", r"model\.layers\..*(q|v)_proj", ".*[qkv]$"]
            ),
        )
        names = st.lists(name, min_size=1, max_size=4).map(tuple)
        weights = st.lists(st.builds(_end, st.sampled_from(packed), st.sampled_from([1, 2, 3])), max_size=2).map(tuple)
        nothing = st.none()
        rows = st.lists(st.integers(0, 50), min_size=1, max_size=3, unique=True).map(tuple)
        embeddings = sorted({_end(m.path, 1) for m in self.ours.modules if m.kind == "Embedding"})
        return st.fixed_dictionaries(
            {
                "modules": st.one_of(names, names, expression, st.sampled_from(["all-linear", "ALL-LINEAR"])),
                "rank": st.integers(1, 16),
                "exclude": st.one_of(nothing, nothing, st.lists(name, min_size=1, max_size=2).map(tuple), expression),
                "layers": st.one_of(nothing, st.integers(0, 3), st.lists(st.integers(0, 3), max_size=3).map(tuple)),
                "layers_pattern": st.one_of(
                    nothing, st.sampled_from(["layers", "layer", "h", "block", ("layers", "h")])
                ),
                "rank_pattern": st.one_of(
                    st.dictionaries(name, st.integers(1, 64), max_size=2),
                    st.sampled_from(last).map(lambda one: {rf".*\.1\..*{one}": 3}),
                ),
                "parameters": st.one_of(st.just(()), weights) if packed else st.just(()),
                "saved": st.lists(st.sampled_from(whole), max_size=2, unique=True).map(tuple) if whole else st.just(()),
                "tokens": st.one_of(
                    nothing,
                    nothing,
                    rows,
                    st.dictionaries(st.sampled_from(embeddings), rows, min_size=1, max_size=1) if embeddings else rows,
                ),
                "bias": st.sampled_from(["none", "none", "none", "all", "lora_only"]),
                "dora": st.sampled_from([False, False, False, True]),
                "dropout": st.sampled_from([0.0, 0.0, 0.05]),
            }
        ).map(_allowed)


def _allowed(spec: dict[str, Any]) -> dict[str, Any]:
    """PEFT refuses layers beside an expression and a pattern without layers before it looks at the model."""
    if isinstance(spec["modules"], str) or spec["layers"] is None:
        spec = {**spec, "layers_pattern": None}
    return {**spec, "layers": None} if isinstance(spec["modules"], str) else spec


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _by_name(value: Any) -> Any:
    return {name: list(rows) for name, rows in value.items()} if isinstance(value, dict) else _listed(value)


def _end(path: str, words: int) -> str:
    return ".".join(path.split(".")[-words:])
