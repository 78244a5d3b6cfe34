"""How much of a row a picture takes."""

from __future__ import annotations

from loralint.facts.need import known, positive
from loralint.facts.scope import Scope, derived
from loralint.model import Value

# Pixels that become one token: the side of a patch, times the patches that are merged into one, squared.
# Sources: transformers 5.24 image_processing of each family; Pixtral's patches are of 16 pixels and not merged.
_PIXELS = {"qwen2_vl": 28 * 28, "qwen2_5_vl": 28 * 28, "qwen3_vl": 32 * 32, "qwen3_vl_moe": 32 * 32}
_BY_NAME = {"pixtral": 16 * 16}
# Models that scale every picture to one size: (336 / 14) squared.
_FIXED = {"llava-1.5": 576}


def tokens(scope: Scope) -> Value:
    """Tokens of a picture as large as pictures are left; 0 for models that see none, or that nothing is known of."""
    name, family = str(known(scope, "model.base")).lower(), str(known(scope, "model.family"))
    fixed = next((count for word, count in _FIXED.items() if word in name), None)
    if fixed is not None:
        return derived(fixed)
    each = next((size for word, size in _BY_NAME.items() if word in name), _PIXELS.get(family))
    return derived(int(positive(scope, "data.picture_pixels")) // each if each else 0)
