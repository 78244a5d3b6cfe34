"""Pairs and triples of keys at which axolotl's schema and those of its plugins stop.

Sources: axolotl 0.4 to 0.19, `utils/schemas/validation.py`, `utils/schemas/config.py` and `integrations/*/args.py`
(before 0.9 `utils/config/models/input/v0_4_1`); each row says the release that came with its check.
"""

from __future__ import annotations

from loralint.frameworks.refusals import Refusal, above, among, beyond, given, like, no, off, on, without

_LORA = among("lora", "qlora")
_YES = among(True)
_SPLIT = (("context_parallel_size", above(1)), ("use_glm_dsa_kernels", off))
_TENSORS = (("tensor_parallel_size", above(1)),)
_CUT = "axolotl.integrations.cut_cross_entropy"
_MISTRAL = (("tokenizer_use_mistral_common", on),)
_FSDP1 = (("fsdp_config", on), ("fsdp_version", among(1, "1")))

# Each of them replaces the loss; axolotl takes one.
_LOSSES = ("chunked_cross_entropy", "liger_cross_entropy", "liger_fused_linear_cross_entropy", "cut_cross_entropy")
_TWO_LOSSES = tuple(
    Refusal(
        key,
        on,
        f"`{other}` computes the loss as well",
        ((other, on),),
        "axolotl>=0.13.1",
        f"leave out {key} or {other}",
    )
    for index, key in enumerate(_LOSSES)
    for other in _LOSSES[index + 1 :]
)
_TOKENIZER = tuple(
    Refusal(key, on, "the tokenizer of mistral-common cannot be changed", _MISTRAL, "axolotl>=0.10",
            f"leave out {key}, or tokenizer_use_mistral_common")
    for key in ("chat_template", "special_tokens", "tokens", "added_tokens_overrides")
)  # fmt: skip
_RELORA = tuple(
    Refusal("relora", on, why, ((key, test),))
    for key, test, why in (
        ("fsdp_config", on, "ReLoRA does not run under FSDP"),
        ("deepspeed", on, "ReLoRA does not run under DeepSpeed"),
        ("lr_scheduler", among("one_cycle"), "ReLoRA restarts a schedule, and one_cycle cannot be restarted"),
    )
)

_EXPERTS = (
    Refusal("quantize_moe_experts", on, "`lora_target_linear` does not reach quantised experts",
            (("lora_target_linear", on),), "axolotl>=0.15",
            "name the experts in lora_target_parameters and leave lora_target_linear out"),
    Refusal("quantize_moe_experts", on, "experts are quantised like the rest of the base, and neither "
            "`load_in_4bit` nor `load_in_8bit` is on", (("load_in_4bit", off), ("load_in_8bit", off)), "axolotl>=0.15",
            "write load_in_4bit: true with adapter: qlora, or leave quantize_moe_experts out"),
    Refusal("quantize_moe_experts", on, "it is for an adapter on top", (("adapter", off),), "axolotl>=0.15"),
    Refusal("use_scattermoe", on, "`use_sonicmoe` is a second kernel for the experts", (("use_sonicmoe", on),),
            "axolotl>=0.15"),
)  # fmt: skip

_LOSS = (
    *_TWO_LOSSES,
    Refusal("chunked_cross_entropy", on, "the plugin for Cut Cross Entropy computes the loss already",
            (("plugins", like(_CUT)), ("cut_cross_entropy", without(False))), "axolotl>=0.12",
            "leave chunked_cross_entropy out, or the plugin"),
    Refusal("cut_cross_entropy", on, "it wants `bf16` or `fp16` to be on", (("bf16", off), ("fp16", off)),
            "axolotl>=0.6", "write bf16: true"),
    Refusal("liger_swiglu", given, "`liger_glu_activation` is its new name, and both are there",
            (("liger_glu_activation", given),), "axolotl>=0.5", "leave liger_swiglu out"),
    Refusal("tiled_mlp", on, "`liger_glu_activation` replaces the same layer", (("liger_glu_activation", on),
            ("tiled_mlp_use_original_mlp", off)), "axolotl>=0.12", "write tiled_mlp_use_original_mlp: true beside it"),
    Refusal("liger_use_token_scaling", on, "it scales `liger_fused_linear_cross_entropy`, which is not on",
            (("liger_fused_linear_cross_entropy", off),), "axolotl>=0.13"),
    Refusal("liger_rms_norm", on, "it does not go with tensor parallelism", _TENSORS, "axolotl>=0.12"),
    Refusal("liger_fused_linear_cross_entropy", on, "it does not go with tensor parallelism", _TENSORS,
            "axolotl>=0.12"),
)  # fmt: skip

_ATTENTION = (
    Refusal("scaling_softmax", on, "it is a part of flex attention",
            (("attn_implementation", without("flex_attention")), ("flex_attention", off)), "axolotl>=0.13.1",
            "write attn_implementation: flex_attention"),
    Refusal("batch_flattening", _YES, "rows that are packed already are not flattened again", (("sample_packing", on),),
            "axolotl>=0.7", "leave batch_flattening out"),
    Refusal("batch_flattening", _YES, "this attention has no form for flattened rows",
            (("attn_implementation", among("sdpa", "eager")),), "axolotl>=0.17",
            "write attn_implementation: flash_attention_2, or leave batch_flattening out"),
    Refusal("attn_implementation", among("sdpa", "eager", "xformers", "flex_attention"),
            "a sequence that is split over GPUs needs flash attention", _SPLIT, "axolotl>=0.17",
            "write attn_implementation: flash_attention_2"),
    Refusal("micro_batch_size", above(1), "packed rows that are split over GPUs pass one at a time",
            (*_SPLIT, ("sample_packing", on)), "axolotl>=0.12", "write micro_batch_size: 1"),
    Refusal("gemma4_hybrid_attn_impl", on, "its sliding windows run under flash_attention_2",
            (("attn_implementation", beyond("flash_attention_2")),), "axolotl>=0.17",
            "leave attn_implementation out, or write flash_attention_2"),
)  # fmt: skip

_MEMORY = (
    Refusal("selective_checkpointing", on, "reentrant checkpointing keeps nothing of a layer",
            (("gradient_checkpointing_kwargs.use_reentrant", on),), "axolotl>=0.18", "write use_reentrant: false"),
    Refusal("selective_checkpointing", on, "of offloading it takes `hidden_states` alone",
            (("activation_offloading", lambda value: bool(value) and value != "hidden_states"),), "axolotl>=0.18",
            "write activation_offloading: hidden_states"),
    Refusal("gradient_checkpointing", on, "MPT models cannot recompute", (("base_model", like("(?i)mpt")),)),
    Refusal("gradient_checkpointing", on, "Nemotron-H recomputes only where rows are packed",
            (("base_model", like("(?i)nemotron-h")), ("sample_packing", off)), "axolotl>=0.16",
            "write sample_packing: true, or gradient_checkpointing: false"),
    Refusal("unfrozen_parameters", on, "reentrant checkpointing loses the gradients of a model that is partly frozen",
            (("gradient_checkpointing_kwargs.use_reentrant", _YES),), advice="write use_reentrant: false"),
    Refusal("torch_compile_options", on, "`torch_compile` is not on", (("torch_compile", off),), "axolotl>=0.18",
            "write torch_compile: true"),
)  # fmt: skip

_SHARDS = (
    Refusal("fsdp", on, "FSDP does not take Falcon models", (("base_model", like("(?i)falcon")),)),
    Refusal("fp8_enable_fsdp_float8_all_gather", on, "it is for FSDP2", (("fsdp_version", without(2, "2")),
            ("fsdp_config.fsdp_version", without(2, "2"))), "axolotl>=0.12", "write fsdp_version: 2"),
    Refusal("fsdp_config.cpu_offload_pin_memory", no, "only FSDP2 can leave memory unpinned",
            (("fsdp_version", without(2, "2")),), "axolotl>=0.13", "write fsdp_version: 2"),
    Refusal("fsdp_config.cpu_offload_pin_memory", no, "nothing is offloaded", (("fsdp_config.offload_params", off),),
            "axolotl>=0.13", "write offload_params: true, or leave cpu_offload_pin_memory out"),
    Refusal("fsdp_config.auto_wrap_policy", among("SIZE_BASED_WRAP"), "`min_num_params` says from which size on",
            (("fsdp_config.min_num_params", off),), "axolotl>=0.18"),
    Refusal("optimizer", among("muon"), "Muon does not run under DeepSpeed", (("deepspeed", on),), "axolotl>=0.8"),
    Refusal("optimizer", among("muon"), "Muon runs under FSDP2 only", _FSDP1, "axolotl>=0.13.1",
            "write fsdp_version: 2"),
    Refusal("fp32_norms", on, "it is for FSDP2", (("fsdp_config", off),), "axolotl>=0.17"),
    Refusal("fp32_norms", on, "it is for FSDP2", (("fsdp_version", beyond(2, "2")),), "axolotl>=0.17",
            "write fsdp_version: 2"),
    *(Refusal(key, on, "the kernels for LoRA do not run under FSDP1", _FSDP1, "axolotl>=0.9", f"write {key}: false")
      for key in ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel")),
)  # fmt: skip

_ROWS = (
    Refusal("streaming", on, "streams of several datasets are not packed", (("sample_packing", on),
            ("datasets", lambda value: isinstance(value, list) and len(value) > 1)), "axolotl>=0.13",
            "write sample_packing: false, or name one dataset"),
    Refusal("include_tokens_per_second", on, "it does not go with `pretraining_dataset`",
            (("pretraining_dataset", on),), "axolotl>=0.11", "leave include_tokens_per_second out"),
    *(Refusal("dataset_exact_deduplication", on, "a stream cannot be searched for duplicates", ((key, on),),
              "axolotl>=0.13", "leave dataset_exact_deduplication out")
      for key in ("streaming", "pretraining_dataset")),
    Refusal("chat_template", among("jinja"), "`chat_template_jinja` has to hold the template",
            (("chat_template_jinja", off),), "axolotl>=0.5"),
    Refusal("do_bench_eval", on, "neither `evals_per_epoch` nor `eval_steps` says when",
            (("evals_per_epoch", off), ("eval_steps", off)), "axolotl>=0.5", "write evals_per_epoch: 1"),
    Refusal("do_causal_lm_eval", on, "it generates from rows that are not packed", (("eval_sample_packing", on),),
            "axolotl>=0.5", "write eval_sample_packing: false"),
    Refusal("image_resize_algorithm", beyond("bilinear", "bicubic", "lanczos", "BILINEAR", "BICUBIC", "LANCZOS"),
            "it knows bilinear, bicubic and lanczos", (("image_resize_algorithm", like("^[a-z]+$")),), "axolotl>=0.8"),
)  # fmt: skip

_METHOD = (
    Refusal("unfrozen_parameters", on, "`peft_layers_to_transform` chooses layers as well",
            (("adapter", on), ("peft_layers_to_transform", on))),
    Refusal("use_onebitllms", on, "1-bit models take no LoRA", (("adapter", _LORA),), "axolotl>=0.17"),
    Refusal("optimizer", among("q_galore_adamw8bit"), "Q-GaLore is for training the whole model", (("adapter", on),),
            "axolotl>=0.17", "leave adapter out, or write optimizer: adamw_torch_8bit"),
    Refusal("trl.use_liger_loss", on, "GRPO with Liger's loss does not split sequences", (("rl", among("grpo")),
            ("context_parallel_size", above(1))), "axolotl>=0.12"),
    Refusal("trl.multi_objective_aggregation", among("sum_then_normalize"), "that makes GDPO a GRPO",
            (("rl", among("gdpo")),), "axolotl>=0.13.2", "write normalize_then_sum"),
    Refusal("save_safetensors", no, "Transformers 5 writes safetensors only", when="axolotl>=0.14",
            advice="leave save_safetensors out"),
)  # fmt: skip

REFUSALS = (
    *_EXPERTS, *_LOSS, *_TOKENIZER, *_RELORA, *_ATTENTION, *_MEMORY, *_SHARDS, *_ROWS, *_METHOD,
)  # fmt: skip
