"""Canonical fields: the names in which rules, facts and the golden list speak of any framework's config.

A name is `section.field`. Types: int, float, number (int or float), bool, str, list, map, targets (list of names, a
regular expression, or "all-linear"). Values of enumerated fields are canonical spellings listed in the doc text; a
reader translates to and from its framework's own.
"""

from typing import NamedTuple


class Field(NamedTuple):
    """One canonical field; `unit` is empty for pure numbers and words."""

    type: str
    doc: str
    unit: str = ""


FIELDS: dict[str, Field] = {
    # the base model
    "model.base": Field("str", "Hugging Face id or local path of the base model"),
    "model.class": Field("str", "model class that is loaded, such as AutoModelForCausalLM"),
    "model.dtype": Field("str", "dtype the base weights are loaded in: bf16, fp16, fp32, auto"),
    "model.attention": Field(
        "str", "attention kernel: eager, sdpa, flash_attention_2, flash_attention_3, flex_attention, xformers, auto"
    ),
    "model.use_cache": Field("bool", "keys and values of earlier tokens are kept, which only generation needs"),
    "model.trust_remote_code": Field("bool", "run Python code that comes with the model"),
    "model.loaded_len": Field("int", "longest row that the loaded model is set up for", "tokens"),
    "model.max_position": Field("int", "context length the model is stretched to", "tokens"),
    "model.rope_scaling": Field("str", "how rotary positions are stretched beyond the model's context: yarn, linear"),
    "model.freeze_vision": Field("bool", "the vision tower of a multimodal model stays frozen"),
    "model.freeze_projector": Field("bool", "the multimodal projector stays frozen"),
    "model.freeze_language": Field("bool", "the language model of a multimodal model stays frozen"),
    "model.resize_vocab": Field("bool", "resize the embedding to the tokenizer"),
    "model.new_tokens": Field("list", "tokens added to the tokenizer"),
    # the adapter
    "adapter.method": Field(
        "str",
        "what is trained: lora, full, freeze, or another PEFT method by its PEFT name in lower case (oft, ia3 ...)",
    ),
    "adapter.qlora": Field("bool", "the method is named QLoRA, which some frameworks want for a 4-bit base"),
    "adapter.rank": Field("int", "LoRA rank r"),
    "adapter.alpha": Field("number", "LoRA alpha; the multiplier on BA is alpha/r, alpha/sqrt(r) with rsLoRA"),
    "adapter.dropout": Field("float", "dropout on the adapter's input"),
    "adapter.bias": Field("str", "which biases train: none, all, lora_only"),
    "adapter.targets": Field("targets", "modules that get an adapter"),
    "adapter.target_parameters": Field("list", "parameters (packed experts) that get an adapter"),
    "adapter.exclude": Field("targets", "modules that get none"),
    "adapter.modules_to_save": Field("list", "modules trained in full and saved beside the adapter"),
    "adapter.weight_tying": Field("bool", "embedding and head that share a weight keep sharing it while they train"),
    "adapter.trainable_tokens": Field("list", "token indices whose embedding rows train"),
    "adapter.layers": Field("list", "layer indices that get an adapter; absent means all"),
    "adapter.layers_pattern": Field("str", "name of the module list that layer indices count in"),
    "adapter.rank_pattern": Field("map", "rank by module pattern"),
    "adapter.alpha_pattern": Field("map", "alpha by module pattern"),
    "adapter.rslora": Field("bool", "scale by alpha/sqrt(r)"),
    "adapter.dora": Field("bool", "weight-decomposed LoRA"),
    "adapter.lora_bias": Field("bool", "a bias on B"),
    "adapter.init": Field(
        "str",
        "init_lora_weights: true, false, gaussian, pissa, pissa_niter_N, olora, eva, corda, loftq, lora_ga, orthogonal,"
        " xavier",
    ),
    "adapter.loftq_bits": Field("int", "bits of the LoftQ initialisation", "bits"),
    "adapter.loraplus_ratio": Field("float", "LoRA+ ratio: learning rate of B over that of A"),
    "adapter.dtype": Field("str", "dtype the adapter weights are stored and updated in: fp32, bf16, fp16"),
    "adapter.task_type": Field("str", "PEFT task type: CAUSAL_LM, SEQ_CLS, SEQ_2_SEQ_LM, TOKEN_CLS ..."),
    "adapter.fan_in_fan_out": Field("bool", "weights are stored transposed (Conv1D)"),
    "adapter.inference": Field("bool", "adapter is frozen, as in a saved adapter"),
    "adapter.resume_from": Field("str", "existing adapter that training goes on with"),
    "adapter.create_new": Field("bool", "the existing adapter is merged and a new one trained"),
    "adapter.merge_on_save": Field("bool", "merge the adapter into the base at the end"),
    # quantisation of the base
    "quant.bits": Field("int", "bits of the quantised base: 2-8; 16 when not quantised", "bits"),
    "quant.method": Field("str", "bnb, gptq, awq, hqq, eetq, torchao ..."),
    "quant.type": Field("str", "4-bit data type: nf4, fp4"),
    "quant.double": Field("bool", "quantise the quantisation constants too"),
    "quant.compute_dtype": Field("str", "dtype of 4-bit matrix products: bf16, fp16, fp32"),
    "quant.storage_dtype": Field("str", "dtype that packs the 4-bit weights: uint8, bf16, fp16, fp32"),
    "quant.experts": Field("bool", "weights that hold all experts of a layer are quantised too"),
    "quant.exllama_off": Field("bool", "the inference-only exllama kernels of GPTQ are switched off"),
    # optimizer
    "optim.name": Field("str", "optimizer as the framework spells it, lower case; fact `optim.family` groups them"),
    "optim.lr": Field("float", "peak learning rate (of A where LoRA+ splits it)"),
    "optim.weight_decay": Field("float", "decoupled weight decay"),
    "optim.beta1": Field("float", "Adam beta1"),
    "optim.beta2": Field("float", "Adam beta2"),
    "optim.eps": Field("float", "Adam epsilon"),
    "optim.momentum": Field("float", "SGD momentum"),
    "optim.args": Field("map", "further optimizer arguments"),
    "optim.max_grad_norm": Field("float", "gradient clipping; 0 means off where the framework says so"),
    # schedule
    "schedule.name": Field(
        "str", "linear, cosine, cosine_with_restarts, constant, constant_with_warmup, polynomial, one_cycle, ..."
    ),
    "schedule.warmup_steps": Field("number", "warm-up", "optimizer steps"),
    "schedule.warmup_ratio": Field("float", "warm-up as a share of all steps"),
    "schedule.steps": Field(
        "int",
        "steps after which the rate has come to its end, warm-up included, where the config counts them",
        "optimizer steps",
    ),
    "schedule.min_lr": Field("float", "learning rate that decay ends at"),
    "schedule.min_lr_ratio": Field("float", "the same as a share of the peak"),
    # batch and length of the run
    "batch.micro": Field("int", "rows per device and forward pass", "rows"),
    "batch.accumulation": Field("int", "forward passes per optimizer step"),
    "batch.global": Field("int", "rows per optimizer step where the framework asks for it directly", "rows"),
    "batch.eval_micro": Field("int", "rows per device in evaluation", "rows"),
    "batch.drop_last": Field("bool", "a last short batch is dropped"),
    "batch.shrinks": Field("bool", "a batch that does not fit the GPU's memory is halved until it does"),
    "train.task": Field("str", "sft, pt, dpo, kto, orpo, simpo, ipo, rm, ppo, grpo, rloo, kd, prm, cls, diffusion"),
    "train.epochs": Field("float", "passes over the data", "epochs"),
    "train.max_steps": Field("int", "optimizer steps; absent or <= 0 means by epochs", "optimizer steps"),
    "train.seed": Field("int", "random seed"),
    "train.enabled": Field("bool", "this config trains (do_train)"),
    "train.early_stopping_patience": Field("int", "evaluations without progress before the run stops"),
    "train.neftune_alpha": Field("float", "NEFTune noise on embeddings"),
    "train.report_to": Field("list", "experiment trackers"),
    "train.logging_steps": Field("number", "steps between log lines", "optimizer steps"),
    "train.group_by_length": Field("bool", "batches of similar length"),
    "train.unfrozen": Field("list", "patterns of base parameters that train in full, the rest being frozen"),
    # precision
    "precision.bf16": Field("bool", "bf16 mixed precision (or auto)"),
    "precision.fp16": Field("bool", "fp16 mixed precision"),
    "precision.asked": Field(
        "str", "mixed precision that the script's own option asks for, whatever the launcher does"
    ),
    "precision.tf32": Field("bool", "TF32 matrix products"),
    "precision.pure_bf16": Field("bool", "all trained weights are stored in bf16"),
    "precision.fp8": Field("bool", "FP8 matrix products"),
    # data
    "data.datasets": Field("list", "training datasets, ids or paths"),
    "data.sequence_len": Field("int", "rows are cut to this length", "tokens"),
    "data.packing": Field("bool", "several rows share one sequence"),
    "data.eval_packing": Field("bool", "the same in evaluation"),
    "data.packing_isolated": Field("bool", "packed rows cannot attend to one another"),
    "data.padding_free": Field("bool", "batches are flattened instead of padded"),
    "data.pad_to_len": Field("bool", "every row is padded to the full length"),
    "data.train_on_inputs": Field("bool", "the prompt's tokens count in the loss"),
    "data.answers_only": Field(
        "bool", "only the assistant's turns count in the loss, where the chat template marks them"
    ),
    "data.mask_history": Field("bool", "only the last turn counts in the loss"),
    "data.template": Field("str", "chat template or prompt format"),
    "data.val_size": Field("number", "share (<1) or number of rows held out for evaluation"),
    "data.eval_dataset": Field("list", "evaluation datasets, ids or paths"),
    "data.streaming": Field("bool", "rows are streamed, the length is unknown"),
    "data.max_samples": Field("int", "rows used at most", "rows"),
    "data.remove_unused_columns": Field("bool", "columns that the model does not take are dropped"),
    "data.picture_pixels": Field("int", "pixels that a larger picture is scaled down to", "pixels"),
    "data.mix_strategy": Field("str", "how datasets are mixed: concat, interleave_under, interleave_over ..."),
    "data.mix_probs": Field("list", "share of each dataset when they are interleaved"),
    # evaluation and checkpoints
    "eval.strategy": Field("str", "no, steps, epoch"),
    "eval.steps": Field("number", "steps between evaluations; below 1 a share of all steps", "optimizer steps"),
    "eval.per_epoch": Field("number", "evaluations per epoch"),
    "eval.enabled": Field("bool", "an evaluation is asked for (do_eval)"),
    "eval.predict": Field("bool", "predictions are asked for (do_predict)"),
    "eval.label_names": Field("list", "names of a batch's entries that are labels"),
    "eval.generate": Field("bool", "evaluation generates text (predict_with_generate)"),
    "checkpoint.output_dir": Field("str", "where checkpoints go"),
    "checkpoint.export_dir": Field("str", "folder that a merged model is written to, where the file is for that"),
    "checkpoint.overwrite_output_dir": Field("bool", "write into a folder that is not empty"),
    "checkpoint.save_strategy": Field("str", "no, steps, epoch, best"),
    "checkpoint.save_steps": Field("number", "steps between checkpoints; below 1 a share", "optimizer steps"),
    "checkpoint.saves_per_epoch": Field("number", "checkpoints per epoch"),
    "checkpoint.save_total_limit": Field("int", "checkpoints kept"),
    "checkpoint.save_only_model": Field("bool", "optimizer state is not saved"),
    "checkpoint.load_best": Field("bool", "the best checkpoint is loaded at the end"),
    "checkpoint.metric": Field("str", "metric that decides which checkpoint is best"),
    "checkpoint.greater_is_better": Field("bool", "a larger metric is better"),
    "checkpoint.resume_from": Field("str", "checkpoint that training resumes from"),
    # memory and devices
    "memory.gradient_checkpointing": Field("bool", "activations are recomputed"),
    "memory.reentrant": Field("bool", "use_reentrant of gradient checkpointing"),
    "memory.activation_offload": Field("bool", "activations go to the CPU"),
    "dist.deepspeed": Field("str", "DeepSpeed JSON, path or preset name"),
    "dist.zero_stage": Field("int", "ZeRO stage, where the config or the file name says it"),
    "dist.fsdp": Field("bool", "FSDP is on"),
    "dist.fsdp_version": Field("int", "1 or 2"),
    "dist.fsdp_wrap_class": Field("str", "layer class that FSDP wraps"),
    "dist.fsdp_use_orig_params": Field("bool", "FSDP keeps the original parameters"),
    "dist.fsdp_offload": Field("bool", "FSDP keeps parameters on the CPU"),
    "dist.fsdp_cpu_ram_efficient": Field("bool", "only rank 0 loads the weights"),
    "dist.device_map": Field("str", "device_map of from_pretrained"),
    "dist.split_at_load": Field("bool", "ZeRO-3 is known of when the model is loaded"),
    "dist.ddp_find_unused": Field("bool", "DDP looks for unused parameters"),
    "dist.fsdp_state_dict": Field(
        "str", "form of FSDP checkpoints: full_state_dict, sharded_state_dict, local_state_dict"
    ),
    "dist.fsdp_checkpointing": Field("bool", "FSDP itself recomputes activations"),
    # DeepSpeed's own file, where it states a number instead of "auto"; the trainer compares these with its arguments
    "dist.ds_train_batch": Field("int", "rows per optimizer step over all GPUs, as DeepSpeed is told", "rows"),
    "dist.ds_micro": Field("int", "rows per device and forward pass, as DeepSpeed is told", "rows"),
    "dist.ds_accumulation": Field("int", "forward passes per optimizer step, as DeepSpeed is told"),
    "dist.ds_clipping": Field("float", "gradient clipping, as DeepSpeed is told"),
    "dist.ds_clips": Field("bool", "what DeepSpeed is told speaks of gradient clipping, be it a number or auto"),
    "dist.ds_fp16": Field("bool", "fp16, as DeepSpeed is told"),
    "dist.ds_bf16": Field("bool", "bf16, as DeepSpeed is told"),
    "dist.ds_optimizer": Field("str", "optimizer that DeepSpeed makes in place of the trainer's, lower case"),
    "dist.ds_lr": Field("float", "learning rate of DeepSpeed's optimizer"),
    "dist.ds_beta1": Field("float", "Adam beta1 of DeepSpeed's optimizer"),
    "dist.ds_beta2": Field("float", "Adam beta2 of DeepSpeed's optimizer"),
    "dist.ds_eps": Field("float", "Adam epsilon of DeepSpeed's optimizer"),
    "dist.ds_weight_decay": Field("float", "weight decay of DeepSpeed's optimizer"),
    "dist.ds_scheduler": Field(
        "str", "schedule that DeepSpeed follows in place of the trainer's, by the trainer's name"
    ),
    "dist.ds_warmup_lr": Field("float", "rate that DeepSpeed's schedule warms up to"),
    "dist.ds_warmup_steps": Field("int", "warm-up of DeepSpeed's schedule", "optimizer steps"),
    "dist.ds_total_steps": Field("int", "length of DeepSpeed's schedule", "optimizer steps"),
    "dist.ds_gather": Field("bool", "ZeRO-3 gathers the whole weights to save a model"),
    "dist.ds_offload_optimizer": Field("str", "where ZeRO keeps the optimizer's state: none, cpu, nvme"),
    "dist.ds_offload_param": Field("str", "where ZeRO-3 keeps the weights: none, cpu, nvme"),
    # what starts the processes
    "dist.launcher": Field("str", "program that starts the processes: accelerate, torchrun, deepspeed"),
    "dist.alone": Field("bool", "a program that trains is started without a launcher, and so as one process"),
    "dist.launcher_type": Field(
        "str", "how accelerate distributes: no, multi_gpu, deepspeed, fsdp, megatron_lm, tp ..."
    ),
    "dist.launcher_processes": Field("int", "training processes on all machines together"),
    "dist.launcher_processes_per_node": Field("int", "training processes on each machine"),
    "dist.launcher_nodes": Field("int", "machines that train together"),
    "dist.multinode_launcher": Field(
        "str",
        "what DeepSpeed reaches further machines by, as accelerate is told: standard (it is started on each), pdsh",
    ),
    "dist.hostfile": Field("str", "DeepSpeed's list of machines, as accelerate is told"),
    "dist.launcher_precision": Field("str", "mixed precision that the launcher hands on: no, fp16, bf16, fp8"),
    "dist.visible_devices": Field(
        "int", "GPUs that the run may see (CUDA_VISIBLE_DEVICES, gpu_ids, --include)", "devices"
    ),
    "dist.tensor_parallel": Field("int", "tensor-parallel size", "devices"),
    "dist.context_parallel": Field("int", "context- or sequence-parallel size", "devices"),
    "kernel.unsloth": Field("bool", "Unsloth's kernels patch the model"),
    "kernel.liger": Field("bool", "Liger kernels"),
    "kernel.fused_loss": Field("bool", "the loss is made piece by piece, so that logits are never there as a whole"),
    "kernel.compile": Field("bool", "torch.compile"),
    "kernel.lora": Field("bool", "fused LoRA kernels"),
    "kernel.ktransformers": Field("bool", "experts run on the CPU with KTransformers"),
    # preference and RL
    "pref.beta": Field("float", "beta of DPO-like losses, KL weight of RL"),
    "pref.loss": Field("str", "sigmoid, ipo, kto_pair, orpo, simpo, hinge ..."),
    "pref.label_smoothing": Field("float", "share of preference labels taken to be wrong"),
    "pref.reference_model": Field("str", "explicit reference model"),
    "rl.num_generations": Field("int", "completions per prompt"),
    "rl.generation_batch": Field("int", "completions that are made at once, over all processes"),
    "rl.steps_per_generation": Field("int", "micro batches that one generation is for"),
    "rl.vllm": Field("str", "vLLM makes the completions: server, or colocate on the GPUs that train"),
    "rl.vllm_share": Field("float", "share of a GPU's memory that vLLM takes for itself"),
    "rl.vllm_sleeps": Field("bool", "vLLM gives its memory back while the model trains"),
    "rl.use_vllm": Field("bool", "vLLM makes the completions, where a switch says so"),
    "rl.vllm_rank": Field("int", "largest LoRA rank that vLLM is started for"),
    "rl.reward_model": Field("str", "reward model"),
    # diffusion models
    "model.diffusion_family": Field(
        "str",
        "architecture of a diffusion model: sd15, sd2, sdxl, sd3, flux, flux2, chroma, wan, hunyuan_video, qwen_image,"
        " cogvideox, pixart, sana, lumina2, hidream, z_image ...",
    ),
    "model.prediction": Field("str", "what a diffusion model predicts: epsilon, v_prediction, flow"),
    "model.text_encoder": Field("str", "weights of a diffusion model's large text encoder, in a file of their own"),
    "model.vae": Field("str", "a VAE that replaces the one in the base model"),
    "model.vae_full_precision": Field("bool", "the VAE computes in 32 bits whatever mixed precision says"),
    "adapter.architecture": Field(
        "str", "architecture that the adapter's code is made for, where its module says one; unet for Stable Diffusion"
    ),
    "adapter.conv_rank": Field("int", "LoRA rank of 3x3 convolutions; absent means that they get no adapter"),
    "adapter.conv_alpha": Field("number", "LoRA alpha of 3x3 convolutions"),
    "adapter.max_norm": Field("float", "norm that BA is scaled down to after each step"),
    "optim.relative_step": Field("bool", "Adafactor works out its own rate from the number of steps"),
    "optim.fused_backward": Field("bool", "each weight is updated as soon as its gradient is there"),
    "optim.text_encoder_lr": Field("float", "peak learning rate of the text encoder of a diffusion model"),
    "train.text_encoder": Field("bool", "the text encoder of a diffusion model trains too"),
    "train.denoiser": Field("bool", "the denoiser of a diffusion model trains; false where only the text encoder does"),
    "train.script": Field("str", "script that trains, where each has settings of its own and a command line names it"),
    "train.command": Field("str", "command of the trainer's program that a launch line gives: train, chat, export ..."),
    "train.config": Field("str", "a file of settings that a command line names"),
    "train.min_snr_gamma": Field("float", "gamma of the Min-SNR loss weights; 0 is off"),
    "train.noise_offset": Field("float", "constant added to the noise of each channel"),
    "train.zero_terminal_snr": Field("bool", "noise levels are stretched so that the last one is pure noise"),
    "train.timestep_sampling": Field("str", "how a flow model's steps are drawn: sigma, uniform, sigmoid, shift ..."),
    "train.flow_shift": Field("number", "how far a flow model's steps are moved towards noise; 1 is not at all"),
    "quant.fp8_scaled": Field("bool", "these floats are scaled by block"),
    "quant.fp8": Field("bool", "the frozen base weights are kept in 8-bit floats"),
    "memory.blocks_to_swap": Field("int", "blocks of the denoiser that wait in the CPU's memory", "blocks"),
    "memory.checkpoint_offload": Field("bool", "checkpointed activations wait in the CPU's memory"),
    "data.config": Field("str", "a file of its own that lists the training data"),
    "data.listed": Field("bool", "that file was read, and with it what counts for every subset"),
    "data.buckets": Field("bool", "pictures keep their shape and are batched with others of it"),
    "data.bucket_step": Field("int", "sizes of buckets are multiples of this", "pixels"),
    "data.bucket_min": Field("int", "no side of a bucket is shorter", "pixels"),
    "data.bucket_max": Field("int", "no side of a bucket is longer", "pixels"),
    "data.longest_side": Field("str", "longer side of the largest training size", "pixels"),
    "data.tag_dropout": Field("float", "share of a caption's tags that are left out"),
    "data.token_warmup": Field("number", "steps over which more and more of a caption's tags are used"),
    "data.resolution": Field("str", "edge of the square with the area of the largest training size", "pixels"),
    "data.cache_latents": Field("bool", "latents are computed once, before training"),
    "data.cache_text": Field("bool", "outputs of the text encoder are computed once, before training"),
    "data.shuffle_caption": Field("bool", "parts of a caption change places each time"),
    "data.caption_dropout": Field("float", "share of the captions that are left out"),
    "data.caption_extension": Field("str", "suffix of the files that hold the captions"),
    "data.color_augmentation": Field("bool", "colours of a picture change each time"),
    "data.random_crop": Field("bool", "a picture is cut elsewhere each time"),
    # the job that starts the run on a cluster
    "job.kind": Field("str", "kind of the object that starts the run: Job, PyTorchJob, TrainJob, JobSet ..."),
    "job.nodes": Field("int", "pods that train together", "pods"),
    "job.gpus_per_node": Field("int", "GPUs that one pod gets", "devices"),
    "job.processes_per_node": Field("int", "training processes that one pod starts"),
    "job.tasks_per_node": Field("int", "times that a batch system starts its command on each machine"),
    "job.restart_policy": Field("str", "what happens to a pod that ends: Never, OnFailure, Always, ExitCode"),
    "job.backoff_limit": Field("int", "restarts after which the job is given up"),
    "job.shared_memory": Field("number", "size of /dev/shm", "GiB"),
    # what the caller of loralint says
    "run.gpu": Field("str", "GPU the run will meet, from --gpu or the manifest"),
    "run.gpu_count": Field("int", "how many of them", "devices"),
    "run.model_config": Field(
        "str", "the base model's own config.json, from --model-config, --model-cache or a folder that model.base names"
    ),
    "run.rows": Field("int", "rows of training data, from --rows or by counting a local JSONL", "rows"),
    "run.base_adapter": Field("str", "adapter_config.json in the folder of the base model, which has no config.json"),
    "run.pairs": Field(
        "str", "how many of the datasets are pairs of a better and a worse answer, as their list says: all, some, none"
    ),
    "run.unlisted": Field("list", "datasets that the trainer's list of them does not have"),
}
