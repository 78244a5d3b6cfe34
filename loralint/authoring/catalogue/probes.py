"""Values for the config classes whose own defaults make no model; sizes of a published checkpoint, or small ones."""

from typing import Any

PROBES: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [9, 18, 27]},
    "dots1": {"n_routed_experts": 128, "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1},
    "gemma4_text": {"num_experts": 128, "moe_intermediate_size": 704, "top_k_experts": 8},  # none are made by default
    "gpt_neo": {"attention_types": [[["global"], 24]]},
    "granitemoehybrid": {"layer_types": [*["mamba"] * 5, "attention", "mamba", "mamba"] * 4},
    "hunyuan_v1_dense": {"head_dim": 128},
    "hunyuan_v1_moe": {"head_dim": 128},
    "lfm2_moe": {"layer_types": ["conv", "conv", *["full_attention", "conv", "conv"] * 10]},
    "ministral": {"head_dim": 128},
    "nemotron": {"head_dim": 128},
    "nemotron_h": {
        "layers_block_type": ["mamba", "moe", "mamba", "attention", "moe", "mamba", "mlp", "mamba", "moe"],
    },
    "qwen3_vl_moe": {"text_config": {"rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20]}}},
    "reformer": {"is_decoder": True},
    "phimoe": {"num_local_experts": 16},
}  # fmt: skip

# read by the model with a fallback, and given by published configs though the config class has no such field
READ_IF_GIVEN = {"head_dim": "hidden_size,num_attention_heads,//"}
