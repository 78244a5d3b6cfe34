"""Which model classes of Transformers belong to a model type, by the task that people train them for."""

from __future__ import annotations

from collections.abc import Iterator

import transformers
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

from loralint.authoring.catalogue.study import Subject

# the first task that a type has is its main one: that class is studied, the others are compared with it
_TASKS = {
    "image-text-to-text": "IMAGE_TEXT_TO_TEXT",
    "causal-lm": "CAUSAL_LM",
    "seq2seq": "SEQ_TO_SEQ_CAUSAL_LM",
    "speech-seq2seq": "SPEECH_SEQ_2_SEQ",
    "ctc": "CTC",
    "masked-lm": "MASKED_LM",
    "image-classification": "IMAGE_CLASSIFICATION",
    "audio-classification": "AUDIO_CLASSIFICATION",
    "text-to-waveform": "TEXT_TO_WAVEFORM",
    "sequence-classification": "SEQUENCE_CLASSIFICATION",
    "token-classification": "TOKEN_CLASSIFICATION",
    "question-answering": "QUESTION_ANSWERING",
    "multimodal": "MULTIMODAL_LM",
    "zero-shot-image": "ZERO_SHOT_IMAGE_CLASSIFICATION",
}
# convolutional networks, vocoders and what else hardly anybody adapts by LoRA; nllb-moe names every expert
_LEFT_OUT = {
    "nllb-moe",
    "align", "bark", "bit", "cvt", "donut-swin", "efficientnet", "fastspeech2_conformer_with_hifigan", "focalnet",
    "gradium_phonon_tts", "hgnet_v2", "hiera", "levit", "mobilenet_v1", "mobilenet_v2", "mobilevit", "mobilevitv2",
    "pocket_tts", "poolformer", "pp_lcnet", "pvt", "pvt_v2", "regnet", "resnet", "swiftformer", "textnet", "tipsv2",
    "videoprism", "vits",
}  # fmt: skip
_ALSO = {"clip": "CLIPModel", "clip_text_model": "CLIPTextModel", "clip_vision_model": "CLIPVisionModel",
    "siglip": "SiglipModel", "siglip_vision_model": "SiglipVisionModel", "siglip2": "Siglip2Model",
    "t5gemma": "T5GemmaForConditionalGeneration", "dinov2": "Dinov2Model", "esm": "EsmForMaskedLM"}  # fmt: skip


def types() -> list[str]:
    """All model types that have a class for one of the tasks."""
    tables = [getattr(modeling_auto, f"MODEL_FOR_{table}_MAPPING_NAMES", {}) for table in _TASKS.values()]
    return sorted({name for table in tables for name in table if name in CONFIG_MAPPING_NAMES} - _LEFT_OUT | set(_ALSO))


def subjects(model_type: str) -> dict[str, Subject]:
    """The classes of one type by task, the main one first; the bare model comes last."""
    config = getattr(transformers, CONFIG_MAPPING_NAMES[model_type])
    found: dict[str, Subject] = {}
    for task, name in _names(model_type):
        model = getattr(transformers, name, None)
        if model is not None and getattr(model, "config_class", config) in (config, None):
            found[task] = Subject(config, model)
    return found


def _names(model_type: str) -> Iterator[tuple[str, str]]:
    for task, table in _TASKS.items():
        names = getattr(modeling_auto, f"MODEL_FOR_{table}_MAPPING_NAMES", {}).get(model_type)
        if names:
            yield task, names if isinstance(names, str) else names[0]
    if model_type in _ALSO:
        yield "also", _ALSO[model_type]
    bare = modeling_auto.MODEL_MAPPING_NAMES.get(model_type)
    if bare:
        yield "base", bare if isinstance(bare, str) else bare[0]
