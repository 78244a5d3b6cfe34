"""The keys that tell frameworks apart. Order matters: the first signature that fits decides."""

from typing import NamedTuple

COMPONENT = "_component_"  # a mapping at the root has this key
LORA_MODEL = "model.lora_attn_modules"


def _keys(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Kubernetes objects that may start a training, and what may hold one.
JOB_KINDS = _keys("""
    Job CronJob PyTorchJob TFJob XGBoostJob PaddleJob JAXJob MPIJob TrainJob TrainingRuntime ClusterTrainingRuntime
    JobSet RayJob HyperPodPyTorchJob Workflow WorkflowTemplate ClusterWorkflowTemplate CronWorkflow AppWrapper List Pod
    Deployment StatefulSet LeaderWorkerSet KaiwoJob Workspace
""")
# Keys of files that hand commands to a cloud or a runner: each has one of them, see `frameworks.tasks`.
TASK_SIGNS = _keys("""
    run commands command services stages tasks jobs workerPoolSpecs worker_pool_specs entrypoint
    program
""")
# Keys that take a number wherever they are known.
NUMBERS = _keys("""
    learning_rate unet_lr network_dim network_alpha lora_r lora_rank lora_alpha lora_dropout max_train_epochs
    max_train_steps num_train_epochs per_device_train_batch_size gradient_accumulation_steps
""")
# Keys of other trainers and of files that are no run: one of them and the file is none of ours.
FOREIGN = _keys("""
    input_features output_features merge_method slices fine_tune_type lora_parameters lora_layers iters steps_per_eval
    compute_environment distributed_type zero_optimization train_micro_batch_size_per_gpu
    tuner_type train_type sft_type rlhf_type llm_backbone params hub lora_query lora_key lora_value lora_projection
    step_scheduler _target_ defaults hydra policy actor_rollout_ref training_data_path peft_method use_slow_tokenizer
    training lora verlConfig llamaFactoryConfig
    pretrained_model_name_or_path model_family data_backend_config network_module network_dim LoRA_type train_data_dir
    max_train_steps checkpointing_steps instance_prompt base_model_name training_method mixed_precision vae unet
    apiVersion services openapi swagger jobs $schema asyncapi
    architectures hidden_size num_hidden_layers transformers_version tokenizer_class added_tokens_decoder
    log_history total_flos global_step wandb_version _wandb
""")

# transformers.TrainingArguments, releases 4.30 to 5.x. The first group is nobody else's.
SURE_HF = _keys("""
    per_device_train_batch_size per_device_eval_batch_size num_train_epochs lr_scheduler_type lr_scheduler_kwargs
    load_best_model_at_end metric_for_best_model greater_is_better eval_strategy evaluation_strategy save_strategy
    logging_strategy save_total_limit save_only_model gradient_checkpointing_kwargs remove_unused_columns
    ddp_find_unused_parameters auto_find_batch_size bf16_full_eval fp16_full_eval eval_accumulation_steps
    neftune_noise_alpha dataloader_pin_memory dataloader_drop_last overwrite_output_dir eval_on_start logging_first_step
    include_num_input_tokens_seen optim_target_modules predict_with_generate per_gpu_train_batch_size hub_strategy
    torch_empty_cache_steps group_by_length optim_args eval_delay save_safetensors fsdp_config
""")
HF = SURE_HF | _keys("""
    output_dir learning_rate weight_decay max_steps warmup_steps warmup_ratio max_grad_norm adam_beta1 adam_beta2
    adam_epsilon gradient_accumulation_steps gradient_checkpointing logging_steps logging_dir eval_steps save_steps
    seed data_seed bf16 fp16 tf32 optim report_to run_name deepspeed fsdp do_train do_eval do_predict push_to_hub
    hub_model_id torch_compile ddp_timeout label_names label_smoothing_factor use_liger_kernel disable_tqdm
    log_level fp16_opt_level local_rank length_column_name use_cpu no_cuda model_name_or_path dataloader_num_workers
    resume_from_checkpoint
""")

_TRAINING = SURE_HF | _keys("""
    learning_rate max_steps gradient_accumulation_steps gradient_checkpointing optim warmup_steps
""")

AXOLOTL = _keys("""
    micro_batch_size sequence_len sample_packing eval_sample_packing pad_to_sequence_len lora_target_linear val_set_size
    dataset_prepared_path adapter lora_mlp_kernel lora_qkv_kernel lora_o_kernel evals_per_epoch saves_per_epoch
    flash_attention xformers_attention sdp_attention flex_attention lora_model_dir lora_fan_in_fan_out
    lora_target_parameters peft_use_dora peft_use_rslora peft_init_lora_weights pretraining_dataset
    max_packed_sequence_len base_model_config s2_attention flash_attn_cross_entropy eval_table_size
    shuffle_merged_datasets cosine_min_lr_ratio
""")
_WITH_BASE_MODEL = AXOLOTL | _keys("datasets test_datasets num_epochs gptq rl special_tokens train_on_inputs plugins")
_WITH_ADAPTER = _keys("lora_r lora_alpha lora_dropout lora_target_modules load_in_4bit load_in_8bit base_model")

SURE_LLAMAFACTORY = _keys("""
    cutoff_len lora_target neat_packing disable_gradient_checkpointing pref_loss pref_beta additional_target
    adapter_name_or_path pissa_init plot_loss double_quantization quantization_bit mask_history train_on_prompt
    freeze_trainable_layers freeze_trainable_modules upcast_layernorm create_new_adapter shift_attn
    mixture_of_depths use_galore use_badam use_apollo oft_target
""")
LLAMAFACTORY = SURE_LLAMAFACTORY | _keys("""
    stage template dataset_dir overwrite_cache val_size max_samples flash_attn use_unsloth enable_liger_kernel
    pure_bf16 lora_rank preprocessing_num_workers model_name_or_path per_device_train_batch_size learning_rate
    do_train export_dir quantization_method
""")
_V1_PARTS = _keys("peft_config kernel_config dist_config quant_config optim_config init_config")
_V1 = _V1_PARTS | _keys("model_class")

SURE_TRL = _keys("""
    use_peft dataset_train_split dataset_test_split dataset_text_field assistant_only_loss completion_only_loss
    packing_strategy padding_free eval_packing max_prompt_length max_completion_length num_generations
    chat_template_path use_bnb_nested_quant reward_funcs vllm_mode precompute_ref_log_probs desirable_weight
    undesirable_weight lora_task_type packing dataset_num_proc dataset_mixer dataset_mixture
""")
TRL = SURE_TRL | _keys("""
    dataset_name lora_target_modules lora_r lora_alpha lora_dropout lora_modules_to_save chat_template max_length
    max_seq_length beta loss_type load_in_4bit load_in_8bit torch_dtype attn_implementation use_flash_attention_2
    use_vllm truncation_mode bnb_4bit_quant_type use_dora use_rslora
""")
# keys of scripts around TRL that take more than its own: LMFlow's, Open R1's, home-made ones
_OWN_SCRIPT = _keys("""
    initial_iter_idx reward_model_inference_batch_size dataset_prompt_column code_language dataset_id_or_path
    tokenizer_name_or_path use_lora use_qlora use_peft_lora lora_path train_file validation_file data_path block_size
    dataset_config_name use_fast_tokenizer max_source_length text_column tokenizer_name peft train_files val_files
    finetune_mode prediction_length pass_rate_min output_dataset_name src_length tensor_parallel_degree
""")
# alpaca-lora's script, its descendants and LLaMA-LoRA Tuner share names with axolotl and LLaMA-Factory
_ALPACA = FOREIGN | _keys("data_path prompt_template_name hf_model_name load_from_hf evaluate_data_percentage")
_MIXTURE = _keys("dataset_mixer dataset_mixture")
_LORA_KWARGS = _keys("target_modules task_type lora_dropout use_rslora use_dora init_lora_weights modules_to_save")

# Frameworks whose root holds sections only are told by `section.key`.
_OUMI = _keys("""
    training.trainer_type training.use_peft training.enable_gradient_checkpointing data.train peft.lora_r peft.q_lora
    peft.lora_target_modules
""")
_STUDIO = _keys("""
    training.training_type training.train_on_completions training.random_seed data.format_type data.local_dataset
    lora.use_loftq lora.vision_all_linear lora.finetune_language_layers lora.finetune_vision_layers
    logging.enable_wandb logging.enable_tensorboard
""")
_STUDIO_LORA = _keys("lora.lora_r lora.lora_alpha lora.target_modules training.max_seq_length training.load_in_4bit")
_STUDIO_COMMAND = _keys("model training.training_type training.load_in_4bit training.output_dir")
_AUTOTRAIN = _keys("project_name backend log params.peft params.lr params.epochs params.batch_size")
# ms-swift: each generation names the tuner otherwise; without it only its own names beside `model` and `dataset` tell
_SWIFT_TUNER = _keys("tuner_type train_type sft_type")
_SWIFT_NAMES = _keys("""
    split_dataset_ratio target_regex freeze_vit freeze_aligner freeze_llm vit_lr aligner_lr lorap_lr_ratio attn_impl
    truncation_strategy model_author loss_scale val_dataset cached_dataset add_version rlhf_type agent_template
    external_plugins lora_dropout_p template_type check_dataset_strategy train_dataset_sample dataset_test_ratio
""")
_SWIFT_RUN = (
    SURE_HF
    | _SWIFT_NAMES
    | _keys("""
    model model_id_or_path model_type dataset learning_rate lora_rank lora_alpha output_dir max_length quantization_bit
    target_modules lora_target_modules batch_size torch_dtype micro_batch_size
""")
)
_MEGATRON = _keys("""
    micro_batch_size global_batch_size tensor_model_parallel_size pipeline_model_parallel_size lr_warmup_fraction
    expert_model_parallel_size context_parallel_size recompute_granularity train_iters lr_decay_style moe_grouped_gemm
    cross_entropy_loss_fusion no_save_optim mcore_model attention_backend
""")
_SWIFT_SCRIPT = _keys("args.sft_type")
_SWIFT_ROLES = _keys("train.gpus rollout.gpus teacher.gpus train.tuner_type")
_NO_SWIFT = _keys(
    "apiVersion finetuning_type base_model model_name_or_path pretrained_model_name_or_path _target_ params"
)
# mlx-lm: `iters` alone is everybody's
_MLX = _keys(
    "lora_parameters fine_tune_type lora_layers num_layers grad_checkpoint mask_prompt resume_adapter_file adapter_file"
)
_MLX_RUN = _MLX | _keys("""
    model data train iters batch_size steps_per_eval steps_per_report val_batches save_every adapter_path test_batches
    max_seq_length learning_rate grad_accumulation_steps
""")
_MLX_STEPS = _keys("steps_per_eval steps_per_report val_batches save_every adapter_path") | _MLX
_MLX_FLAGS = frozenset(key.replace("_", "-") for key in _MLX_RUN if "_" in key)  # as flags, which no config is read by
_LITGPT_SWITCHES = _keys("lora_query lora_key lora_value lora_projection lora_mlp lora_head")
_LITGPT_SECTIONS = _keys("""
    train.global_batch_size train.micro_batch_size train.lr_warmup_steps train.epochs train.max_seq_length
    train.save_interval data.class_path
""")
_LITGPT = _LITGPT_SWITCHES | _LITGPT_SECTIONS | _keys("lora_r quantize")
# NVIDIA's trainers and verl
_AUTOMODEL = _keys("""
    step_scheduler.global_batch_size step_scheduler.local_batch_size step_scheduler.ckpt_every_steps
    step_scheduler.max_steps step_scheduler.num_epochs
""")
_AUTOMODEL_ALSO = _keys("""
    peft._target_ dist_env.backend model._target_ optimizer._target_ peft.dim dataset._target_ recipe
""")
_NEMO_RL = _keys("""
    policy.dtensor_cfg policy.megatron_cfg policy.train_global_batch_size policy.max_total_sequence_length
    loss_fn.reference_policy_kl_penalty grpo.num_prompts_per_step grpo.adv_estimator sft.max_num_steps dpo.max_num_steps
    data_plane.backend
""")
_NEMO_RL_ALSO = _keys("""
    defaults policy.model_name policy.tokenizer checkpointing.checkpoint_dir checkpointing.enabled
    cluster.gpus_per_node policy.generation
""")
_NEMO = _keys("""
    exp_manager.exp_dir exp_manager.explicit_log_dir exp_manager.create_checkpoint_callback exp_manager.resume_if_exists
    exp_manager.name resume.resume_if_exists
""")
_NEMO_MODEL = _keys("""
    model.peft model.lora model.pretrained_llm model.llm model.answer_only_loss model.megatron_amp_O2
    inference.tokens_to_generate
""")
_NEMO_TRAINER = _keys("trainer.devices trainer.precision trainer.max_steps trainer.num_nodes")
_BRIDGE = _keys("train.train_iters scheduler.lr_warmup_iters checkpoint.pretrained_checkpoint scheduler.lr_decay_style")
_BRIDGE_ALSO = _keys("""
    peft.dim optimizer.min_lr train.global_batch_size train.micro_batch_size model.tensor_model_parallel_size
    ddp.grad_reduce_in_fp32 checkpoint.pretrained_checkpoint
""")
_PRIME_RL = _keys("trainer.model trainer.optim orchestrator.batch_size orchestrator.train orchestrator.sampling")
_PRIME_SFT = _keys("model.lora model.name optim.lr data.seq_len data.name data.micro_batch_size")
_VERL_RL = _keys("actor_rollout_ref.model actor_rollout_ref.actor actor_rollout_ref.rollout")
_VERL = _keys("""
    model.partial_pretrain model.lora_rank trainer.total_epochs trainer.default_local_dir trainer.n_gpus_per_node
    data.micro_batch_size_per_gpu data.train_batch_size optim.lr_warmup_steps_ratio optim.clip_grad
""")
# trainers of diffusion models; SimpleTuner's keys may be flags
_SIMPLETUNER = _keys("model_family --model_family")
_SIMPLETUNER_ALSO = _keys("""
    data_backend_config model_flavour lora_type lycoris_config base_model_precision train_batch_size max_train_steps
    validation_resolution validation_prompt validation_num_inference_steps checkpoint_step_interval resolution_type
    flow_schedule_shift caption_dropout_probability minimum_image_size pretrained_transformer_model_name_or_path
""")
_SIMPLETUNER_ALSO |= frozenset(f"--{key}" for key in _SIMPLETUNER_ALSO)
_SIMPLETUNER_SAVED = _keys("config.model_family config.--model_family")
_SIMPLETUNER_SAVED_ALSO = frozenset(f"config.{key}" for key in _SIMPLETUNER_ALSO) | _keys("""
    config.model_type config.--model_type config.learning_rate config.--learning_rate
""")
_LYCORIS = _keys("linear_dim linear_alpha multiplier full_matrix bypass_mode")
# the last two only serve a text that does not parse, where a key counts however deep it stands
_AI_TOOLKIT = _keys("config.process[].train config.process config.train")
_KOHYA_GUI = _keys("""
    LoRA_type max_resolution lr_warmup stop_text_encoder_training stop_text_encoder_training_pct noise_offset_type
    sdxl_no_half_vae sdxl_cache_text_encoder_outputs sdxl_checkbox flux1_checkbox LyCORIS_preset model_list
""")
_KOHYA_GUI_ALSO = _keys("""
    network_dim unet_lr text_encoder_lr train_batch_size caption_extension bucket_reso_steps keep_tokens epoch optimizer
    optimizer_args sdxl v_parameterization save_precision mixed_precision enable_bucket min_snr_gamma shuffle_caption
    train_data_dir pretrained_model_name_or_path
""")
_SD_SCRIPTS = _keys("""
    pretrained_model_name_or_path dit train_data_dir dataset_config network_dim network_alpha network_args unet_lr
    text_encoder_lr optimizer_type optimizer_args max_train_steps max_train_epochs learning_rate output_name
    train_batch_size lr_scheduler save_every_n_epochs save_model_as mixed_precision
""")
_MUSUBI = _keys("network_module dataset_config dit_dtype discrete_flow_shift timestep_sampling")
_SD_SCRIPTS_ONLY = _keys("network_dim train_data_dir dataset_config unet_lr optimizer_type max_train_epochs")
_ONETRAINER = _keys("""
    base_model_name output_model_format output_model_destination learning_rate_scheduler concept_file_name concepts unet
    transformer text_encoder workspace_dir layer_filter_preset lora_rank peft_type train_dtype
""")
# Of a preset of lora-scripts' form, what it changes.
_FORM = _keys("""
    data.network_module data.network_dim data.network_alpha data.unet_lr data.learning_rate data.optimizer_type
    data.lr_scheduler data.train_batch_size data.max_train_epochs data.resolution data.enable_bucket data.model_type
    data.timestep_sampling data.mixed_precision
""")
_FORM_METADATA = _keys("metadata.name metadata.version")
_HCP = _keys("_base_ lora_unet lora_text_encoder")
_HCP_ALSO = _keys("""
    model.tokenizer_repeats model.ema_unet model.ema_text_encoder model.clip_skip train.train_steps train.save_step
    train.scale_lr train.cfg_scale tokenizer_pt.train data.dataset1
""")
_PIPE = _keys("model.type optimizer.type micro_batch_size_per_gpu")
_PIPE_ALSO = _keys("""
    dataset epochs output_dir save_every_n_epochs save_every_n_steps save_every_n_examples save_dtype
    activation_checkpointing eval_every_n_epochs partition_method
""")
_FMS = _keys("""
    use_flash_attn save_model_dir response_template data_formatter_template dataset_text_field auto_gptq bnb_qlora
    fused_lora fast_kernels fast_moe padding_free multipack trackers data_config_path instruction_template
""")
# Companions: files that a trainer or its launcher reads besides its own config
_DEEPSPEED = _keys("zero_optimization train_micro_batch_size_per_gpu")
_ACCELERATE = _keys("""
    compute_environment num_processes num_machines machine_rank main_training_function deepspeed_config fsdp_config
    downcast_bf16 use_cpu rdzv_backend
""")
_A_TRAINER = _keys("apiVersion model base_model model_name_or_path model_name pretrained_model_name_or_path datasets")
# GPT-NeoX keeps DeepSpeed's keys among its own
_NEOX = _keys("pipe_parallel_size pipe-parallel-size num_layers num-layers")
_NVIDIA = _AUTOMODEL | _AUTOMODEL_ALSO | _NEMO_RL | _NEMO_RL_ALSO | _NEMO | _NEMO_MODEL | _NEMO_TRAINER
_NESTED = _NVIDIA | _BRIDGE | _BRIDGE_ALSO | _VERL_RL | _VERL
_OPENRLHF = _keys("""
    ds.lora ds.lora.rank ds.lora.alpha ds.zero_stage ds.param_dtype ds.load_in_4bit ds.packing_samples ds.zpg
""")
_OPENRLHF_ALSO = _keys("""
    adam.lr train.micro_batch_size train.batch_size train.max_epochs model.model_name_or_path actor.model_name_or_path
    data.max_len ckpt.output_dir
""")
_NESTED |= _OPENRLHF | _OPENRLHF_ALSO | _PRIME_RL | _PRIME_SFT
MARKS = (
    frozenset(mark for mark in _NESTED if "." in mark)
    | _OUMI
    | _STUDIO
    | _STUDIO_LORA
    | _STUDIO_COMMAND
    | _AUTOTRAIN
    | {LORA_MODEL, "model.model_name"}
)
MARKS |= _SWIFT_SCRIPT | _SWIFT_ROLES | _LITGPT_SECTIONS | _AI_TOOLKIT | {"model.type", "optimizer.type"}
_KAITO = _keys("training_config.LoraConfig training_config.TrainingArguments training_config.ModelConfig")
MARKS |= (
    _FORM
    | _FORM_METADATA
    | _KAITO
    | {"model.pretrained_model_name_or_path"}
    | _HCP_ALSO
    | _SIMPLETUNER_SAVED
    | _SIMPLETUNER_SAVED_ALSO
)

# Keys whose value is a mapping where they are a sign; any other mapping at the root is no sign.
MAPPINGS = (
    _V1_PARTS
    | _MIXTURE
    | _keys("lora_parameters")
    | _keys("optimizer_kwargs special_tokens lr_scheduler_kwargs gradient_checkpointing_kwargs fsdp_config")
    | _keys("zero_optimization deepspeed_config")
)
# Trainers of which a TOML file may have sections of any name: their keys count as keys of the root.
FLAT = _keys("sd-scripts")
# Mappings that TrainingArguments itself takes, so that the file still counts as flat.
PLAIN_MAPPINGS = _keys("""
    lr_scheduler_kwargs gradient_checkpointing_kwargs fsdp_config deepspeed accelerator_config optim_args
    label_names parallelism_config liger_kernel_config
""")


class Signature(NamedTuple):
    """All of `every`, at least `least` of `some` and `also_least` of `also`, none of `none`.

    flat: no mappings; file: how its name ends.
    """

    framework: str
    module: str
    every: frozenset[str] = frozenset()
    some: frozenset[str] = frozenset()
    least: int = 0
    also: frozenset[str] = frozenset()
    also_least: int = 0
    none: frozenset[str] = FOREIGN
    flat: bool = False
    file: str = ""


SIGNATURES = (
    Signature("peft", "peft", _keys("peft_type"), none=_keys("fine_tune_type lora_parameters apiVersion")),
    Signature("peft", "peft_comparison", _keys("optimizer_kwargs"), file="training_params.json"),
    Signature("peft", "peft_comparison", _keys("optimizer_kwargs"),
              _keys("model_id optimizer_type batch_size_eval grad_norm_clip autocast_adapter_dtype"), 2),
    Signature("transformers", "kaito", some=_KAITO, least=2),
    Signature("torchtune", "torchtune", _keys(COMPONENT), none=_keys("apiVersion")),
    Signature("torchtune", "torchtune", _keys(LORA_MODEL)),
    Signature("h2o-llmstudio", "h2o_llmstudio", _keys("llm_backbone problem_type"), none=_keys("apiVersion")),
    Signature("ludwig", "ludwig", _keys("base_model input_features"), none=_keys("apiVersion")),
    Signature("autotrain", "autotrain", _keys("task base_model"), _AUTOTRAIN, 1, none=_keys("apiVersion")),
    Signature("oumi", "oumi", _keys("model.model_name"), _OUMI, 2, none=_keys("apiVersion")),
    Signature("unsloth-studio", "unsloth_studio", some=_STUDIO_COMMAND, least=1, also=_STUDIO, also_least=2,
              none=_keys("apiVersion")),
    Signature("unsloth-studio", "unsloth_studio_defaults", some=_STUDIO, least=2, also=_STUDIO_LORA, also_least=1,
              none=_keys("apiVersion")),
    Signature("nemo-automodel", "nemo_automodel", some=_AUTOMODEL, least=1, also=_AUTOMODEL_ALSO, also_least=1,
              none=_keys("apiVersion")),
    Signature("nemo-automodel", "nemo_automodel", _keys("peft._target_"), _keys("peft.dim peft.alpha"), 1,
              none=_keys("apiVersion")),
    Signature("nemo-rl", "nemo_rl", some=_NEMO_RL, least=1, also=_NEMO_RL_ALSO, also_least=1, none=_keys("apiVersion")),
    Signature("nemo", "nemo", some=_NEMO, least=1, also=_NEMO_MODEL, also_least=1, none=_keys("apiVersion")),
    Signature("nemo", "nemo", some=_NEMO_TRAINER, least=1, also=_NEMO_MODEL, also_least=1, none=_keys("apiVersion")),
    Signature("openrlhf", "openrlhf", some=_OPENRLHF, least=1, also=_OPENRLHF_ALSO, also_least=1,
              none=_keys("apiVersion")),
    Signature("prime-rl", "prime_rl", some=_keys("trainer.model trainer.optim"), least=1, file=".toml",
              also=_keys("orchestrator.batch_size orchestrator.train orchestrator.sampling"), also_least=1),
    Signature("prime-rl", "prime_rl_sft", _keys("model.lora model.name optim.lr"), file=".toml",
              also=_keys("data.seq_len data.name data.micro_batch_size"), also_least=2),
    Signature("verl", "verl", some=_VERL_RL, least=1, none=_keys("apiVersion")),
    Signature("verl", "verl_sft", some=_VERL, least=3, none=_keys("apiVersion")),
    Signature("megatron-bridge", "megatron_bridge", some=_BRIDGE, least=1, also=_BRIDGE_ALSO, also_least=2,
              none=_keys("apiVersion checkpoint_dir")),
    Signature("simpletuner", "simpletuner", some=_SIMPLETUNER, least=1, also=_SIMPLETUNER_ALSO, also_least=1,
              none=_keys("apiVersion")),
    Signature("simpletuner", "simpletuner_saved", some=_SIMPLETUNER_SAVED, least=1, also=_SIMPLETUNER_SAVED_ALSO,
              also_least=1, none=_keys("apiVersion")),
    Signature("simpletuner", "simpletuner_lycoris", _keys("algo"), _LYCORIS, 2,
              none=_keys("apiVersion network_module")),
    Signature("ai-toolkit", "ai_toolkit", _keys("job config.process[].train"), none=_keys("apiVersion")),
    Signature("ai-toolkit", "ai_toolkit", _keys("job config.process config.train"), none=_keys("apiVersion")),
    Signature("musubi-tuner", "musubi", _keys("dit"), _MUSUBI, 1, _SD_SCRIPTS, 3,
              _keys("apiVersion pretrained_model_name_or_path train_data_dir")),
    Signature("sd-scripts", "sd_scripts", _keys("network_module"), _SD_SCRIPTS, 1, none=_keys("apiVersion LoRA_type")),
    Signature("kohya-gui", "kohya_gui", some=_KOHYA_GUI, least=1, also=_KOHYA_GUI_ALSO, also_least=4,
              none=_keys("apiVersion")),
    Signature("sd-scripts", "sd_scripts", _keys("pretrained_model_name_or_path"), _SD_SCRIPTS, 4, _SD_SCRIPTS_ONLY, 1,
              _keys("apiVersion")),
    Signature("sd-scripts", "lora_scripts_preset", _FORM_METADATA, _FORM, 1, none=_keys("apiVersion")),
    Signature("onetrainer", "onetrainer", _keys("training_method model_type"), _ONETRAINER, 1,
              none=_keys("apiVersion")),
    Signature("hcp-diffusion", "hcp_diffusion", _keys("model.pretrained_model_name_or_path"), _HCP, 1, _HCP_ALSO, 3,
              _keys("apiVersion")),
    Signature("diffusion-pipe", "diffusion_pipe", _PIPE, none=_keys("apiVersion")),
    Signature("diffusion-pipe", "diffusion_pipe", _keys("model.type optimizer.type"), _PIPE_ALSO, 4,
              none=_keys("apiVersion")),
    Signature("finetrainers", "finetrainers", _keys("training_type model_name"),
              _keys("dataset_config pretrained_model_name_or_path train_steps lora_alpha rank"), 2,
              none=_keys("apiVersion")),
    Signature("fms-hf-tuning", "fms_hf_tuning", some=_keys("training_data_path peft_method"), least=1, also=_FMS,
              also_least=1, none=_keys("apiVersion training_method finetuning_type")),
    Signature("ms-swift", "ms_swift_ray", _keys("rlhf_type"), _SWIFT_ROLES, 1, _MEGATRON | _SWIFT_NAMES, 2, _NO_SWIFT),
    Signature("ms-swift", "ms_swift_megatron", frozenset(), _MEGATRON, 3, _SWIFT_TUNER | _SWIFT_NAMES, 1,
              _NO_SWIFT),
    Signature("ms-swift", "ms_swift", some=_SWIFT_TUNER, least=1, also=_SWIFT_RUN, also_least=2, none=_NO_SWIFT),
    Signature("ms-swift", "ms_swift", _keys("model dataset"), _SWIFT_NAMES, 1, _SWIFT_RUN, 4, _NO_SWIFT),
    Signature("ms-swift", "ms_swift_script", _SWIFT_SCRIPT, none=_NO_SWIFT),
    Signature("mlx-lm", "mlx_lm", some=_keys("lora_parameters fine_tune_type lora_layers"), least=1, also=_MLX_RUN,
              also_least=2, none=_NO_SWIFT),
    Signature("mlx-lm", "mlx_lm", _keys("iters model"), _MLX_STEPS, 2, _MLX_RUN, 4, _NO_SWIFT),
    Signature("mlx-lm", "mlx_lm", _keys("iters model"), _MLX_FLAGS, 3, none=_NO_SWIFT),
    Signature("litgpt", "litgpt", _keys("checkpoint_dir"), _LITGPT, 2, none=_keys("apiVersion model_name")),
    Signature("litgpt", "litgpt", some=_LITGPT_SWITCHES, least=2, none=_keys("apiVersion")),
    Signature("llamafactory", "llamafactory", _keys("finetuning_type"), none=_keys("apiVersion sft_type tuner_type")),
    Signature("llamafactory", "llamafactory_v1", _keys("model"), _V1, 1),
    Signature("llamafactory", "llamafactory_v1", _keys("peft_config"),
              _V1 | _keys("micro_batch_size cutoff_len train_dataset"), 2),
    Signature("llamafactory", "llamafactory", frozenset(), SURE_LLAMAFACTORY, 1, LLAMAFACTORY, 2,
              _ALPACA | _keys("train_on_inputs")),
    Signature("llamafactory", "llamafactory", _keys("stage template model_name_or_path")),
    Signature("axolotl", "axolotl", _keys("base_model"), _WITH_BASE_MODEL, 1, none=_ALPACA),
    Signature("axolotl", "axolotl", _keys("adapter"), _WITH_ADAPTER, 1),
    Signature("axolotl", "axolotl", some=AXOLOTL, least=2, none=_ALPACA | _keys("model model_name_or_path")),
    Signature("alignment-handbook", "alignment_handbook", some=_MIXTURE, least=1, also=HF, also_least=1),
    Signature("trl", "trl", _keys("use_peft"), also=HF | TRL, also_least=2, none=FOREIGN | _OWN_SCRIPT),
    Signature("trl", "trl", _keys("model_name_or_path"), TRL, 1, _TRAINING, 1, none=FOREIGN | _OWN_SCRIPT),
    Signature("trl", "trl", some=SURE_TRL, least=1, also=HF, also_least=2, none=FOREIGN | _OWN_SCRIPT),
    Signature("trl", "trl", some=SURE_TRL, least=2, none=FOREIGN | _OWN_SCRIPT),
    Signature("transformers", "transformers", some=SURE_HF, least=1, also=HF, also_least=3, flat=True),
    Signature("transformers", "transformers", _keys("model_name_or_path learning_rate"), HF, 3, flat=True),
    Signature("peft", "peft", _keys("r lora_alpha"), _LORA_KWARGS, 1, none=FOREIGN | HF),
    Signature("deepspeed", "deepspeed", some=_DEEPSPEED, least=1, none=_A_TRAINER | _NEOX),
    Signature("accelerate", "accelerate", _keys("distributed_type"), _ACCELERATE, 1, none=_A_TRAINER),
    Signature("accelerate", "accelerate", _keys("compute_environment"), _ACCELERATE, 2, none=_A_TRAINER),
)  # fmt: skip
