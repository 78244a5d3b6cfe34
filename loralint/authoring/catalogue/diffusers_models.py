"""The denoising models of Diffusers by the family that a config names, at the sizes of the published checkpoint."""

from __future__ import annotations

from typing import Any

import diffusers

from loralint.authoring.catalogue.learn import learn
from loralint.authoring.catalogue.sample import Sample
from loralint.authoring.catalogue.trace import trace
from loralint.knowledge.structure import Fields

_SD = {"sample_size": 64, "cross_attention_dim": 768, "attention_head_dim": 8}
_XL = {
    "sample_size": 128, "in_channels": 4, "block_out_channels": [320, 640, 1280], "cross_attention_dim": 2048,
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
    "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
    "transformer_layers_per_block": [1, 2, 10], "attention_head_dim": [5, 10, 20], "use_linear_projection": True,
    "addition_embed_type": "text_time", "addition_time_embed_dim": 256, "projection_class_embeddings_input_dim": 2816,
}  # fmt: skip
# class and what a published config.json sets otherwise than the class; without a checkpoint the class's own defaults
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "sd15": ("UNet2DConditionModel", _SD),  # stable-diffusion-v1-5/stable-diffusion-v1-5 unet/config.json
    "sd2": (  # stabilityai/stable-diffusion-2-1 unet/config.json
        "UNet2DConditionModel",
        {"cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True},
    ),
    "sdxl": ("UNet2DConditionModel", _XL),  # stabilityai/stable-diffusion-xl-base-1.0 unet/config.json
    "sd3": ("SD3Transformer2DModel", {"num_layers": 24, "num_attention_heads": 24, "pos_embed_max_size": 192,
        "joint_attention_dim": 4096, "caption_projection_dim": 1536, "pooled_projection_dim": 2048}),
    "flux": ("FluxTransformer2DModel", {"guidance_embeds": True}),  # black-forest-labs/FLUX.1-dev config.json
    "flux2": ("Flux2Transformer2DModel", {}),
    "chroma": ("ChromaTransformer2DModel", {}),
    "pixart": ("PixArtTransformer2DModel", {"sample_size": 128, "caption_channels": 4096}),
    "auraflow": ("AuraFlowTransformer2DModel", {}),
    "sana": ("SanaTransformer2DModel", {}),
    "lumina2": ("Lumina2Transformer2DModel", {}),
    "hidream": ("HiDreamImageTransformer2DModel", {"caption_channels": [4096, 4096], "num_layers": 16,
        "num_single_layers": 32, "text_emb_dim": 2048, "llama_layers": list(range(32)), "patch_size": 2,
        "in_channels": 16, "attention_head_dim": 128, "num_attention_heads": 20, "num_routed_experts": 4,
        "num_activated_experts": 2,
        "axes_dims_rope": (64, 32, 32), "max_resolution": (128, 128)}),
    "qwen_image": ("QwenImageTransformer2DModel", {}),
    "z_image": ("ZImageTransformer2DModel", {}),
    "wan": ("WanTransformer3DModel", {}),
    "hunyuan_video": ("HunyuanVideoTransformer3DModel", {}),
    "hunyuan_video_1_5": ("HunyuanVideo15Transformer3DModel", {}),
    "hunyuan_image": ("HunyuanImageTransformer2DModel", {}),
    "cogvideox": ("CogVideoXTransformer3DModel", {}),
    "cogview4": ("CogView4Transformer2DModel", {}),
    "ltx": ("LTXVideoTransformer3DModel", {}),
    "ltx2": ("LTX2VideoTransformer3DModel", {}),
    "mochi": ("MochiTransformer3DModel", {}),
    "cosmos": ("CosmosTransformer3DModel", {}),
    "kandinsky5": ("Kandinsky5Transformer3DModel", {}),
    "krea2": ("Krea2Transformer2DModel", {}),
    "ideogram4": ("Ideogram4Transformer2DModel", {}),
}  # fmt: skip


def record(family: str) -> dict[str, Any]:
    """The record of one family; its modules do not follow from a config. Raises what the class raises."""
    name, given = FAMILIES[family]
    kind = getattr(diffusers, name)
    parts = trace(lambda: kind(**given), ("diffusers.models.",))
    sample = Sample({}, {}, {}, Fields({}, {}, {}), parts)
    structure = learn([sample], lambda one: one.modules)
    if structure.unsure:
        raise ValueError(f"the rows do not give back the modules of {name}")
    classes = {name: {"rows": structure.rows, "lists": structure.lists}}
    return {"tasks": {"base": name}, "classes": classes, "fields": {}, "aliases": {}, "canon": {}}
