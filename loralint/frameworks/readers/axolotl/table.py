"""The rows of an axolotl config: canonical field <-> key, read in the sources of 0.17 to 0.21 and of older tags.

Defaults are those of the schema (`axolotl/utils/schemas`), where it leaves a key empty those of
`axolotl/core/builders`, and below both those of Transformers. A null is an absent key almost everywhere; where it is
not, the row says so.
"""

from __future__ import annotations

from loralint.frameworks.convert import (
    dtype,
    long_dtype,
    lower,
    never,
    not_null,
    one_to_list,
    rope,
    true_for,
    when_true,
    words,
)
from loralint.frameworks.readers.axolotl.defaults import (
    adapter_dtype,
    autocast,
    best_at_end,
    eval_strategy,
    fsdp_version,
    fused_lora,
    isolated,
    model_dtype,
    of,
    of_four_bits,
    optimizer,
    padded,
    reentrant,
    save_strategy,
    task_type,
    tf32,
    warmup_ratio,
)
from loralint.frameworks.readers.axolotl.values import (
    METHODS,
    checkpoint_method,
    checkpointing,
    classifier,
    empty_as_off,
    first,
    fused_by_plugin,
    init,
    kept_dtype,
    non_empty,
    offloaded,
    offloading,
    optim_args,
    paths,
    qlora,
    quantised_checkpoint,
    strategy,
    task,
    when_filled,
    written_bits,
    written_method,
    written_rl,
    written_tracker,
)
from loralint.frameworks.readers.training_arguments import path, zero_stage
from loralint.frameworks.table import Entry

ATTENTION_SWITCHES = {  # in the order in which axolotl tries them
    "xformers_attention": "xformers",
    "sage_attention": "sage",
    "flex_attention": "flex_attention",
    "flash_attention": "flash_attention_2",
    "sdp_attention": "sdpa",
    "eager_attention": "eager",
    "gemma4_hybrid_attn_impl": "flash_attention_2",
}
LIGER = (
    "liger_fused_linear_cross_entropy", "liger_rms_norm", "liger_rope", "liger_glu_activation", "liger_swiglu",
    "liger_layer_norm", "liger_cross_entropy",
)  # fmt: skip
PIECEWISE = ("cut_cross_entropy", "liger_fused_linear_cross_entropy", "chunked_cross_entropy")
TRACKERS = {
    "use_wandb": "wandb",
    "wandb_project": "wandb",
    "use_mlflow": "mlflow",
    "mlflow_experiment_name": "mlflow",
    "use_tensorboard": "tensorboard",
    "use_comet": "comet_ml",
    "comet_project_name": "comet_ml",
    "use_trackio": "trackio",
    "trackio_project_name": "trackio",
    "use_swanlab": "swanlab",
}
_BNB = "bnb_config_kwargs"


def fixed(field: str, value: object) -> Entry:
    """Make the row of what axolotl has no key for and always does."""
    return Entry(field, "", never, never, value)


ROWS: tuple[Entry, ...] = (
    # the base model
    Entry("model.base", "base_model", not_null),
    Entry("model.class", "model_type", non_empty),
    Entry("model.class", "type_of_model", non_empty, never),
    Entry("model.dtype", "bf16", never, true_for("bf16"), model_dtype),
    Entry("model.dtype", "fp16", never, true_for("fp16")),
    Entry("model.dtype", "float16", when_true("fp16"), never),
    Entry("model.attention", "attn_implementation", non_empty, default="auto"),
    *(Entry("model.attention", key, when_true(name), never) for key, name in ATTENTION_SWITCHES.items()),
    Entry("model.trust_remote_code", "trust_remote_code", not_null, default=False),
    Entry("model.max_position", "overrides_of_model_config.max_position_embeddings", not_null),
    Entry("model.max_position", "model_config.max_position_embeddings", not_null),
    Entry("model.rope_scaling", "overrides_of_model_config.rope_scaling", rope, never),
    Entry("model.rope_scaling", "model_config.rope_scaling", rope, never),
    Entry("model.freeze_vision", "freeze_mm_modules", not_null, default=False),
    fixed("model.resize_vocab", True),
    Entry("model.new_tokens", "tokens", non_empty),
    # the adapter
    Entry("adapter.method", "adapter", words(METHODS), written_method, "full"),
    Entry("adapter.qlora", "adapter", qlora, words({True: "qlora", False: "lora"}), False),
    Entry("adapter.rank", "lora_r", not_null),
    Entry("adapter.alpha", "lora_alpha", not_null),
    Entry("adapter.dropout", "lora_dropout", not_null, default=0.0),
    fixed("adapter.bias", "none"),
    Entry("adapter.targets", "lora_target_linear", when_true("all-linear"), true_for("all-linear")),
    Entry("adapter.targets", "lora_target_modules", non_empty),
    Entry("adapter.target_parameters", "lora_target_parameters", lambda value: one_to_list(non_empty(value))),
    Entry("adapter.modules_to_save", "lora_modules_to_save", non_empty),
    Entry("adapter.trainable_tokens", "peft_trainable_token_indices", non_empty),
    Entry("adapter.layers", "peft_layers_to_transform", non_empty),
    Entry("adapter.layers_pattern", "peft_layers_pattern", first, lambda pattern: [pattern]),
    Entry("adapter.rank_pattern", "lora_rank_pattern", non_empty),
    Entry("adapter.alpha_pattern", "lora_alpha_pattern", non_empty),
    Entry("adapter.rslora", "peft_use_rslora", not_null, default=False),
    Entry("adapter.dora", "peft_use_dora", not_null, default=False),
    Entry("adapter.init", "peft_init_lora_weights", init, default=True),
    Entry("adapter.init", "peft.loftq_config", when_filled("loftq"), never),
    Entry("adapter.loftq_bits", "peft.loftq_config.loftq_bits", not_null),
    Entry("adapter.loraplus_ratio", "loraplus_lr_ratio", not_null),
    Entry("adapter.dtype", "peft_autocast_adapter_dtype", kept_dtype, true_for("fp32"), adapter_dtype),
    Entry("adapter.task_type", "model_type", never, never, task_type),
    Entry("adapter.fan_in_fan_out", "lora_fan_in_fan_out", not_null, default=False),
    Entry("adapter.resume_from", "lora_model_dir", non_empty),
    Entry("adapter.merge_on_save", "merge_lora", not_null, default=False),
    # quantisation of the base
    Entry("quant.bits", "load_in_8bit", when_true(8), written_bits(8)),
    Entry("quant.bits", "load_in_4bit", when_true(4), written_bits(4), 16),
    Entry("quant.bits", "gptq", when_true(4), never),
    Entry("quant.bits", "model_quantization_config", quantised_checkpoint, never),
    Entry("quant.method", "gptq", when_true("gptq"), true_for("gptq")),
    Entry("quant.method", "load_in_4bit", when_true("bnb"), true_for("bnb")),
    Entry("quant.method", "load_in_8bit", when_true("bnb"), never),
    Entry(
        "quant.method",
        "model_quantization_config",
        checkpoint_method,
        never,
    ),
    Entry("quant.type", f"{_BNB}.bnb_4bit_quant_type", not_null, default=of_four_bits("nf4")),
    Entry("quant.double", f"{_BNB}.bnb_4bit_use_double_quant", not_null, default=of_four_bits(True)),
    Entry("quant.compute_dtype", f"{_BNB}.bnb_4bit_compute_dtype", dtype, long_dtype, of_four_bits(of("model.dtype"))),
    Entry("quant.storage_dtype", f"{_BNB}.bnb_4bit_quant_storage", dtype, long_dtype, of_four_bits("bf16")),
    Entry("quant.experts", "quantize_moe_experts", not_null, default=False),
    Entry("quant.exllama_off", "gptq_disable_exllama", not_null),
    # optimizer
    Entry("optim.name", "optimizer", lambda value: lower(non_empty(value)), default=optimizer),
    Entry("optim.lr", "learning_rate", not_null),
    Entry("optim.weight_decay", "weight_decay", not_null, default=0.0),
    Entry("optim.beta1", "adam_beta1", not_null, default=0.9),
    Entry("optim.beta2", "adam_beta2", not_null, default=0.999),
    Entry("optim.eps", "adam_epsilon", not_null, default=1e-8),
    Entry("optim.momentum", "optim_args.momentum", not_null),
    Entry("optim.args", "optim_args", optim_args),
    Entry("optim.max_grad_norm", "max_grad_norm", not_null, default=1.0),
    # schedule
    Entry("schedule.name", "lr_scheduler", lambda value: lower(non_empty(value)), default="cosine"),
    Entry("schedule.warmup_steps", "warmup_steps", not_null),
    Entry("schedule.warmup_ratio", "warmup_ratio", not_null, default=warmup_ratio),
    Entry("schedule.min_lr_ratio", "cosine_min_lr_ratio", not_null),
    Entry("schedule.min_lr_ratio", "lr_scheduler_kwargs.min_lr_rate", not_null, never),
    Entry("schedule.min_lr", "lr_scheduler_kwargs.min_lr", not_null),
    # batch and length of the run; `batch_size` sets nothing, see axolotl_faults
    Entry("batch.micro", "micro_batch_size", not_null, default=1),
    Entry("batch.accumulation", "gradient_accumulation_steps", not_null, default=1),
    Entry("batch.eval_micro", "eval_batch_size", not_null, default=of("batch.micro")),
    Entry("batch.drop_last", "dataloader_drop_last", not_null, default=False),
    Entry("train.task", "rl", task, written_rl),
    Entry("train.task", "reward_model", when_true("rm"), true_for("rm")),
    Entry("train.task", "process_reward_model", when_true("prm"), true_for("prm")),
    Entry("train.task", "kd_trainer", when_true("kd"), true_for("kd")),
    Entry("train.task", "pretraining_dataset", when_filled("pt"), never),
    Entry("train.task", "model_type", classifier, never, "sft"),
    Entry("train.epochs", "num_epochs", not_null, default=1.0),
    Entry("train.max_steps", "max_steps", not_null),
    Entry("train.seed", "seed", not_null, default=42),
    Entry("train.early_stopping_patience", "early_stopping_patience", not_null),
    Entry("train.neftune_alpha", "neftune_noise_alpha", not_null),
    Entry("train.neftune_alpha", "noisy_embedding_alpha", not_null, never),
    *(
        Entry("train.report_to", key, when_filled([name]), written_tracker(name) if key[:4] == "use_" else never, [])
        for key, name in TRACKERS.items()
    ),
    Entry("train.logging_steps", "logging_steps", not_null),
    Entry("batch.shrinks", "auto_find_batch_size", not_null, default=False),
    Entry("train.group_by_length", "group_by_length", not_null, default=False),
    Entry("train.unfrozen", "unfrozen_parameters", non_empty),
    # precision; an empty `bf16:` is no absent one, it turns the default `auto` off
    Entry("precision.bf16", "bfloat16", when_true(True), never),
    Entry("precision.bf16", "bf16", empty_as_off, default=autocast),
    Entry("precision.fp16", "fp16", not_null, default=False),
    Entry("precision.tf32", "tf32", empty_as_off, default=tf32),
    Entry("precision.fp8", "fp8", not_null, default=False),
    # data
    Entry("data.datasets", "datasets", paths, never),
    Entry("data.datasets", "pretraining_dataset", paths, never),
    Entry("data.sequence_len", "sequence_len", not_null, default=512),
    Entry("data.packing", "sample_packing", not_null, default=False),
    Entry("data.eval_packing", "eval_sample_packing", not_null, default=of("data.packing")),
    Entry("data.packing_isolated", "attn_implementation", never, never, isolated),
    Entry("data.padding_free", "batch_flattening", not_null),
    Entry("data.padding_free", "dpo_padding_free", not_null, never, False),
    Entry("data.pad_to_len", "pad_to_sequence_len", not_null, default=padded),
    Entry("data.train_on_inputs", "train_on_inputs", not_null, default=False),
    Entry("data.template", "chat_template", non_empty),
    Entry("data.val_size", "val_set_size", not_null, default=0.0),
    Entry("data.eval_dataset", "test_datasets", paths, never),
    Entry("data.streaming", "streaming", when_true(True)),
    Entry("data.streaming", "pretraining_dataset", when_filled(True), never, False),
    Entry("data.remove_unused_columns", "remove_unused_columns", not_null),
    # evaluation and checkpoints
    Entry("eval.strategy", "eval_strategy", strategy, default=eval_strategy),
    Entry("eval.strategy", "evaluation_strategy", strategy, never),
    Entry("eval.steps", "eval_steps", not_null),
    Entry("eval.per_epoch", "evals_per_epoch", not_null),
    Entry("checkpoint.output_dir", "output_dir", not_null, default="./model-out"),
    Entry("checkpoint.save_strategy", "save_strategy", strategy, default=save_strategy),
    Entry("checkpoint.save_steps", "save_steps", not_null),
    Entry("checkpoint.saves_per_epoch", "saves_per_epoch", not_null),
    Entry("checkpoint.save_total_limit", "save_total_limit", not_null, default=4),
    Entry("checkpoint.save_only_model", "save_only_model", not_null, default=False),
    Entry("checkpoint.load_best", "load_best_model_at_end", not_null, default=best_at_end),
    Entry("checkpoint.metric", "metric_for_best_model", not_null),
    Entry("checkpoint.greater_is_better", "greater_is_better", not_null),
    Entry("checkpoint.resume_from", "resume_from_checkpoint", non_empty),
    # memory and devices
    Entry("memory.gradient_checkpointing", "gradient_checkpointing", checkpointing, default=False),
    Entry("memory.reentrant", "gradient_checkpointing_kwargs.use_reentrant", not_null, default=reentrant),
    Entry("memory.activation_offload", "activation_offloading", offloaded),
    Entry("memory.activation_offload", "gradient_checkpointing", offloading, never, False),
    Entry("dist.deepspeed", "deepspeed", path),
    Entry("dist.zero_stage", "deepspeed.zero_optimization.stage", not_null, never),
    Entry("dist.zero_stage", "deepspeed", zero_stage, never),
    Entry("dist.fsdp", "fsdp_config", when_filled(True), never),
    Entry("dist.fsdp", "fsdp", when_filled(True), never, False),
    Entry("dist.fsdp_version", "fsdp_version", not_null, default=fsdp_version),
    Entry("dist.fsdp_version", "fsdp_config.fsdp_version", not_null, never),
    Entry("dist.fsdp_version", "fsdp_config.version", not_null, never),
    *(
        Entry(field, f"fsdp_config.{prefix}{key}", not_null, never if prefix else lambda value: value)
        for field, key in (
            ("dist.fsdp_wrap_class", "transformer_layer_cls_to_wrap"),
            ("dist.fsdp_use_orig_params", "use_orig_params"),
            ("dist.fsdp_offload", "offload_params"),
            ("dist.fsdp_cpu_ram_efficient", "cpu_ram_efficient_loading"),
        )
        for prefix in ("", "fsdp_")
    ),
    Entry("dist.device_map", "device_map", path),
    Entry("dist.ddp_find_unused", "ddp_find_unused_parameters", not_null, default=False),
    Entry("dist.tensor_parallel", "tensor_parallel_size", not_null, default=1),
    Entry("dist.context_parallel", "context_parallel_size", not_null),
    Entry("dist.context_parallel", "sequence_parallel_degree", not_null, never, 1),
    # the keys of a plugin, which has to be listed as well: no key of theirs is enough
    *(Entry("kernel.liger", key, when_true(True), never, False) for key in LIGER),
    *(Entry("kernel.fused_loss", key, when_true(True), never, False) for key in PIECEWISE),
    Entry("kernel.fused_loss", "plugins", fused_by_plugin, never),
    Entry("kernel.compile", "torch_compile", not_null, default=False),
    *(
        Entry("kernel.lora", key, not_null, default=fused_lora)
        for key in ("lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel")
    ),
    # preference and RL
    Entry("pref.beta", "trl.beta", not_null, never),
    Entry("pref.beta", "rl_beta", not_null),
    Entry("pref.beta", "orpo_alpha", not_null, never),
    Entry("pref.beta", "dpo_beta", not_null, never),
    Entry("pref.loss", "dpo_loss_type", first, lambda loss: [loss]),
    Entry("pref.label_smoothing", "dpo_label_smoothing", not_null),
    Entry("rl.num_generations", "trl.num_generations", not_null),
    Entry("rl.generation_batch", "trl.generation_batch_size", not_null),
    Entry("rl.steps_per_generation", "trl.steps_per_generation", not_null),
)
