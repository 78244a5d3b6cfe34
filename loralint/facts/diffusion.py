"""What the name of a base model says of a diffusion model, where no setting does."""

from __future__ import annotations

import re

from loralint.facts.need import Missing, text
from loralint.facts.scope import Scope, derived
from loralint.model import Value

# tried in order, on the id or path in lower case
_FAMILIES = (
    ("sdxl", r"sd[-_]?xl|stable-diffusion-xl|(?<![a-z])xl(?![a-z])"),
    ("sd3", r"stable-diffusion-3|(?<![a-z])sd[-_]?3(?:[._-]?5)?(?![0-9])"),
    ("flux", r"flux[._-]?1(?![0-9])|flux[._-]?1?[._-]?(?:dev|schnell)"),
    ("sd2", r"stable-diffusion-2|(?<![0-9a-z])v2-[01]_|768-v-ema|512-base-ema|(?<![a-z])sd[-_]?v?2[._-][01]"),
    ("flux2", r"flux[._-]?2(?![0-9])"),
    ("qwen_image", r"qwen[-_]image"),
    ("hunyuan_video", r"hunyuan[-_]?video"),
    ("wan", r"(?<![a-z])wan[-_]?2[._-][12]"),
    ("ltx", r"ltx[-_](?:video|2)"),
    ("cogvideox", r"cogvideox"),
    ("pixart", r"pixart"),
    ("sana", r"(?<![a-z])sana[-_]"),
    ("z_image", r"(?<![a-z])z[-_]image"),
    ("hidream", r"hidream"),
    ("lumina2", r"lumina[-_]image[-_]2"),
    ("chroma", r"lodestones/chroma|(?<![a-z])chroma1[-_]"),
    ("sd15", r"stable-diffusion-v1|(?<![0-9a-z])v1-[45]|(?<![a-z])sd[-_]?v?1[._-]?[45]"),
)
_OTHERS = r"deepfloyd|(?<![a-z])if-i+-"  # cascades in pixels, whose sizes are M, L and XL
_V_PREDICTION = r"v[-_]?pred|stable-diffusion-2(?:-1)?/?$|v2-[01]_768|768-v-ema"
_DTYPE = r"(?<![a-z0-9])(?:bf16|bfloat16|fp16|float16|fp8|float8)(?![0-9])"
_EPSILON = r"stable-diffusion-xl-base|sd_xl_base|stable-diffusion-v1-[45]|(?<![0-9a-z])v1-[45]-pruned|2(?:-1)?-base"


def named_family(scope: Scope) -> Value:
    """The architecture, as model.diffusion_family has it, where the base model's name says so."""
    name = _name(scope)
    for family, pattern in _FAMILIES:
        if re.search(pattern, name) and not re.search(_OTHERS, name):
            return derived(family)
    raise Missing(f"the name `{name}` does not say which architecture it is")


def named_prediction(scope: Scope) -> Value:
    """What it predicts, epsilon or v_prediction, where the base model is a published one or its name says so."""
    name = _name(scope)
    if re.search(_V_PREDICTION, name):
        return derived("v_prediction")
    if re.search(_EPSILON, name):
        return derived("epsilon")
    raise Missing(f"the name `{name}` does not say what the model predicts")


def named_dtype(scope: Scope) -> Value:
    """The format of the weights, bf16, fp16 or fp8, where the name of their file says it."""
    name = _name(scope).rpartition("/")[2]
    found = re.search(_DTYPE, name)
    if found is None:
        raise Missing(f"the name `{name}` does not say which format its weights have")
    return derived("fp8" if found[0] in ("fp8", "float8") else "bf16" if "bf" in found[0] else "fp16")


def _name(scope: Scope) -> str:
    return text(scope, "model.base", "the config names no base model").lower().replace("\\", "/")
