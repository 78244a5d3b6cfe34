"""Keys that trainers refuse beside others: each row's faulty lines, and that the file without them is left in peace."""

from __future__ import annotations

import pytest

from loralint.api import check
from loralint.frameworks.readers.axolotl import READER as AXOLOTL
from loralint.frameworks.readers.axolotl.refusals import REFUSALS as OF_AXOLOTL
from loralint.frameworks.readers.llamafactory import READER as LLAMAFACTORY
from loralint.frameworks.readers.llamafactory_refusals import REFUSALS as OF_LLAMAFACTORY
from loralint.frameworks.readers.ms_swift import READER as MS_SWIFT
from loralint.frameworks.readers.ms_swift_refusals import REFUSALS as OF_MS_SWIFT
from loralint.frameworks.refusals import Refusal, above, among, below, beyond, like, on, without

FILES = {
    "axolotl": "base_model: org/llama\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\n"
    "bf16: true\ndatasets: [{path: org/rows, type: rows.made}]\n",
    "llamafactory": "model_name_or_path: org/llama\ndo_train: true\nlora_target: all\nbf16: true\n",
    "ms-swift": "model: org/llama\ndataset: [rows.jsonl]\n",
}
CUT = "plugins: [axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin]\n"
KEPT = "selective_checkpointing: true\ngradient_checkpointing: true\n"
REFUSED = [
    (AXOLOTL, "quantize_moe_experts: true\nload_in_4bit: true\nlora_target_linear: true\n", "quantize_moe_experts"),
    (AXOLOTL, "quantize_moe_experts: true\n", "quantize_moe_experts"),
    (AXOLOTL, "use_scattermoe: true\nuse_sonicmoe: true\n", "use_scattermoe"),
    (AXOLOTL, "chunked_cross_entropy: true\nliger_cross_entropy: true\n", "chunked_cross_entropy"),
    (AXOLOTL, f"{CUT}chunked_cross_entropy: true\n", "chunked_cross_entropy"),
    (AXOLOTL, "liger_swiglu: true\nliger_glu_activation: false\n", "liger_swiglu"),
    (AXOLOTL, "liger_glu_activation: true\ntiled_mlp: true\n", "tiled_mlp"),
    (AXOLOTL, "liger_use_token_scaling: true\n", "liger_use_token_scaling"),
    (AXOLOTL, "liger_rms_norm: true\ntensor_parallel_size: 2\n", "liger_rms_norm"),
    (AXOLOTL, "liger_fused_linear_cross_entropy: true\ntensor_parallel_size: 2\n", "liger_fused_linear_cross_entropy"),
    (AXOLOTL, "tokenizer_use_mistral_common: true\nspecial_tokens: {pad_token: <pad>}\n", "special_tokens"),
    (AXOLOTL, "relora: true\njagged_restart_steps: 9\ndeepspeed: zero2.json\n", "relora"),
    (AXOLOTL, "scaling_softmax: true\nattn_implementation: sdpa\n", "scaling_softmax"),
    (AXOLOTL, "batch_flattening: true\nsample_packing: true\n", "batch_flattening"),
    (AXOLOTL, "batch_flattening: true\nattn_implementation: sdpa\n", "batch_flattening"),
    (AXOLOTL, "context_parallel_size: 2\nattn_implementation: sdpa\n", "attn_implementation"),
    (AXOLOTL, "context_parallel_size: 2\nsample_packing: true\nmicro_batch_size: 2\n", "micro_batch_size"),
    (AXOLOTL, "gemma4_hybrid_attn_impl: true\nattn_implementation: sdpa\n", "gemma4_hybrid_attn_impl"),
    (
        AXOLOTL,
        f"{KEPT}gradient_checkpointing_kwargs: {{use_reentrant: true}}\n",
        "selective_checkpointing",
    ),
    (
        AXOLOTL,
        f"{KEPT}activation_offloading: true\n",
        "selective_checkpointing",
    ),
    (AXOLOTL, "torch_compile_options: {max_autotune: true}\n", "torch_compile_options"),
    (AXOLOTL, "fp8_enable_fsdp_float8_all_gather: true\n", "fp8_enable_fsdp_float8_all_gather"),
    (AXOLOTL, "fsdp_config: {cpu_offload_pin_memory: false}\n", "fsdp_config.cpu_offload_pin_memory"),
    (AXOLOTL, "fsdp_config: {auto_wrap_policy: SIZE_BASED_WRAP}\n", "fsdp_config.auto_wrap_policy"),
    (AXOLOTL, "optimizer: muon\ndeepspeed: zero2.json\n", "optimizer"),
    (AXOLOTL, "fp32_norms: true\n", "fp32_norms"),
    (AXOLOTL, "lora_mlp_kernel: true\nfsdp_version: 1\nfsdp_config: {offload_params: true}\n", "lora_mlp_kernel"),
    (AXOLOTL, "streaming: true\nmax_steps: 9\ndataset_exact_deduplication: true\n", "dataset_exact_deduplication"),
    (AXOLOTL, "chat_template: jinja\n", "chat_template"),
    (AXOLOTL, "do_bench_eval: true\n", "do_bench_eval"),
    (AXOLOTL, "do_causal_lm_eval: true\neval_sample_packing: true\n", "do_causal_lm_eval"),
    (AXOLOTL, "image_resize_algorithm: nearest\n", "image_resize_algorithm"),
    (AXOLOTL, "use_onebitllms: true\n", "use_onebitllms"),
    (AXOLOTL, "optimizer: q_galore_adamw8bit\n", "optimizer"),
    (AXOLOTL, "rl: gdpo\ntrl: {multi_objective_aggregation: sum_then_normalize}\n", "trl.multi_objective_aggregation"),
    (AXOLOTL, "rl: grpo\ntrl: {num_generations: 3}\nmicro_batch_size: 2\n", "trl.num_generations"),
    (AXOLOTL, "rl: grpo\ntrl: {num_generations: 3, generation_batch_size: 8}\n", "trl.num_generations"),
    (AXOLOTL, "save_safetensors: false\n", "save_safetensors"),
    (LLAMAFACTORY, "quantization_bit: 4\nadapter_name_or_path: a,b\n", "adapter_name_or_path"),
    (LLAMAFACTORY, "quantization_bit: 4\nquantization_device_map: auto\n", "quantization_device_map"),
    (LLAMAFACTORY, "quantization_bit: 4\nfp8: true\n", "fp8"),
    (LLAMAFACTORY, "stage: dpo\nref_model: r\nref_model_quantization_bit: 3\n", "ref_model_quantization_bit"),
    (LLAMAFACTORY, "stage: ppo\nreward_model: r\nshift_attn: true\n", "shift_attn"),
    (LLAMAFACTORY, "stage: ppo\nreward_model: r\nuse_unsloth: true\n", "use_unsloth"),
    (LLAMAFACTORY, "stage: ppo\nreward_model: r\nreport_to: swanlab\n", "report_to"),
    (LLAMAFACTORY, "stage: ppo\nreward_model: r\nfinetuning_type: full\n", "finetuning_type"),
    (LLAMAFACTORY, "stage: dpo\npissa_init: true\n", "pissa_init"),
    (LLAMAFACTORY, "stage: dpo\npref_loss: kto_pair\n", "pref_loss"),
    (LLAMAFACTORY, "finetuning_type: full\nuse_llama_pro: true\n", "use_llama_pro"),
    (LLAMAFACTORY, "finetuning_type: full\nuse_galore: true\nuse_badam: true\n", "use_galore"),
    (LLAMAFACTORY, "infer_backend: vllm\n", "infer_backend"),
    (LLAMAFACTORY, "template: gemma2\ntrain_on_prompt: true\n", "train_on_prompt"),
    (LLAMAFACTORY, "image_max_pixels: 100\nimage_min_pixels: 1000\n", "image_max_pixels"),
    (LLAMAFACTORY, "video_min_pixels: 100000\n", "video_min_pixels"),
    (LLAMAFACTORY, "dataset: a,b\ninterleave_probs: 0.5,0.3,0.2\n", "interleave_probs"),
    (MS_SWIFT, "tuner_type: lora\nrlhf_type: dpo\nref_model: r\n", "ref_model"),
    (MS_SWIFT, "rlhf_type: orpo\nref_model: r\n", "ref_model"),
    (MS_SWIFT, "rlhf_type: dpo\nloss_type: [sigmoid]\nloss_weights: [1.0, 0.5]\n", "loss_weights"),
    (MS_SWIFT, "rlhf_type: grpo\ntruncation_strategy: split\n", "truncation_strategy"),
    (MS_SWIFT, "rlhf_type: grpo\ncached_dataset: [a]\n", "cached_dataset"),
    (MS_SWIFT, "rlhf_type: grpo\nvllm_mode: colocate\n", "vllm_mode"),
    (MS_SWIFT, "rlhf_type: grpo\nuse_vllm: true\n", "use_vllm"),
    (MS_SWIFT, "rlhf_type: grpo\nuse_vllm: true\nvllm_mode: colocate\nasync_generate: true\n", "async_generate"),
    (MS_SWIFT, "rlhf_type: grpo\nuse_liger_kernel: true\ndelta: 0.5\n", "delta"),
    (MS_SWIFT, "rlhf_type: grpo\nuse_liger_kernel: true\ntop_entropy_quantile: 0.5\n", "top_entropy_quantile"),
    (MS_SWIFT, "rlhf_type: orpo\nattn_impl: flash_attn\npacking: true\n", "packing"),
    (MS_SWIFT, "rlhf_type: kto\nsequence_parallel_size: 2\n", "sequence_parallel_size"),
    (MS_SWIFT, "streaming: true\nlazy_tokenize: true\n", "lazy_tokenize"),
    (MS_SWIFT, "rope_scaling: ntk\n", "rope_scaling"),
    (MS_SWIFT, "quant_method: quanto\nquant_bits: 3\n", "quant_bits"),
]
LEFT_ALONE = [
    (AXOLOTL, "quantize_moe_experts: true\nload_in_4bit: ${FOUR}\n"),
    (AXOLOTL, f"{CUT}cut_cross_entropy: false\nchunked_cross_entropy: true\n"),
    (AXOLOTL, "chunked_cross_entropy: true\nliger_cross_entropy: false\n"),
    (AXOLOTL, "context_parallel_size: 1\nattn_implementation: sdpa\n"),
    (AXOLOTL, "optimizer: muon\nfsdp_version: 2\nfsdp_config: {offload_params: true}\n"),
    (AXOLOTL, "rl: grpo\ntrl: {num_generations: 4}\nmicro_batch_size: 2\ngradient_accumulation_steps: 2\n"),
    (AXOLOTL, "rl: grpo\ntrl: {num_generations: 4}\nmicro_batch_size: ${ROWS}\n"),
    (LLAMAFACTORY, "stage: dpo\npref_loss: orpo\npissa_init: true\n"),
    (LLAMAFACTORY, "stage: ppo\nreward_model: r\nreward_model_type: full\nuse_unsloth: true\n"),
    (LLAMAFACTORY, "template: qwen\ntrain_on_prompt: true\n"),
    (LLAMAFACTORY, "image_max_pixels: 2000\nimage_min_pixels: 1000\n"),
    (LLAMAFACTORY, "dataset: a,b\ninterleave_probs: 0.5,0.5\nmix_strategy: interleave_under\n"),
    (MS_SWIFT, "tuner_type: full\nrlhf_type: dpo\nref_model: r\n"),
    (MS_SWIFT, "rlhf_type: dpo\nloss_type: [sigmoid, sft]\nloss_weights: [1.0, 0.5]\n"),
    (MS_SWIFT, "rlhf_type: grpo\nuse_vllm: true\nvllm_mode: server\nvllm_server_host: h\nasync_generate: true\n"),
    (MS_SWIFT, 'rope_scaling: \'{"type": "yarn", "factor": 2}\'\n'),
]


def rejected(run):
    return {one.value.key for layer in run.layers for one in layer.observations if one.kind == "rejected"}


@pytest.mark.parametrize(("reader", "lines", "key"), REFUSED, ids=[lines.split("\n")[0] for _, lines, _ in REFUSED])
def test_what_the_trainer_refuses_is_told_at_its_key(reading, reader, lines, key):
    assert key in rejected(reading(reader, FILES[reader.name] + lines))


@pytest.mark.parametrize(("reader", "lines"), LEFT_ALONE, ids=[lines for _, lines in LEFT_ALONE])
def test_what_it_takes_is_left_alone(reading, reader, lines):
    assert rejected(reading(reader, FILES[reader.name] + lines)) == set()


def test_a_loss_of_half_precision_wants_it(reading):
    text = FILES["axolotl"].replace("bf16: true\n", "") + "cut_cross_entropy: true\n"
    assert rejected(reading(AXOLOTL, text)) == {"cut_cross_entropy"}
    assert rejected(reading(AXOLOTL, text + "bf16: auto\n")) == set()


def test_a_repository_of_another_form_than_transformers(reading):
    text = FILES["llamafactory"].replace("org/llama", "OpenGVLab/InternVL3-8B")
    assert rejected(reading(LLAMAFACTORY, text)) == {"model_name_or_path"}
    assert rejected(reading(LLAMAFACTORY, text.replace("InternVL3-8B", "InternVL3-8B-hf"))) == set()


def test_releases_before_a_check_do_not_refuse(reading):
    lines = FILES["axolotl"] + "chunked_cross_entropy: true\nliger_cross_entropy: true\n"
    assert rejected(reading(AXOLOTL, lines, pins={"axolotl": "0.12.0"})) == set()


def test_parameters_to_train_mean_nothing_beside_an_adapter(reading, observed):
    text = FILES["ms-swift"] + "tuner_type: {}\ntrainable_parameters: [visual]\n"
    assert observed(reading(MS_SWIFT, text.format("lora")))["trainable_parameters"].kind == "ignored"
    assert "trainable_parameters" not in observed(reading(MS_SWIFT, text.format("full")))


@pytest.mark.parametrize("rows", [OF_AXOLOTL, OF_LLAMAFACTORY, OF_MS_SWIFT])
def test_each_row_reads_as_the_end_of_a_sentence(rows):
    for row in rows:
        assert isinstance(row, Refusal)
        assert not row.why.endswith(".")


@pytest.mark.parametrize(
    ("test", "holds", "fails"),
    [
        (among("a", 2), ["a", ["a"], 2], ["b", None, ["a", "b"]]),
        (beyond("a"), ["b", 3], ["a", None, ["a"]]),
        (without("a"), ["b", None], ["a"]),
        (above(1), [2, 1.5], [1, True, "2", None]),
        (below(1), [0, 0.5], [1, False, None]),
        (like("^x"), ["xy", ["a", "xy"]], ["yx", None, 3]),
        (on, [1, "no"], [0, None, []]),
    ],
)
def test_what_a_value_has_to_hold(test, holds, fails):
    assert all(test(value) for value in holds)
    assert not any(test(value) for value in fails)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("swift sft --model org/m --tuner_type lora --packing true --attn_impl eager", {"LL108"}),
        ("swift sft --model org/m --tuner_type lora --packing false --attn_impl eager", set()),
        ("swift rlhf --rlhf_type grpo --model org/m --use_vllm true --vllm_mode server", {"LL108"}),
        ("swift rlhf --rlhf_type grpo --model org/m --use_vllm true --vllm_mode server --vllm_server_host h", set()),
        ("swift rlhf --rlhf_type dpo --model org/m --use_vllm true --vllm_mode server", set()),
        ("llamafactory-cli train --model_name_or_path m --use_galore True --finetuning_type lora", {"LL108"}),
        ("llamafactory-cli train --model_name_or_path m --use_galore False --finetuning_type lora", set()),
    ],
)
def test_the_words_behind_flags_are_what_argparse_makes_of_them(tmp_path, line, found):
    (tmp_path / "run.sh").write_text(f"{line}\n")
    told = {one.rule for run in check(tmp_path).runs for one in run.findings}
    assert told & {"LL108"} == found


def test_the_config_of_a_benchmark_has_keys_of_its_own(reading, observed):
    text = "model_name_or_path: org/llama\nfinetuning_type: lora\ntask: mmlu_test\nn_shot: 5\nbatch_size: 4\n"
    assert observed(reading(LLAMAFACTORY, text)) == {}
    assert observed(reading(LLAMAFACTORY, f"{text}split: test\n"))["split"].kind == "unknown"


@pytest.mark.parametrize(("release", "refused"), [("0.9.3", {"template"}), ("0.9.4", set())])
def test_templates_that_came_with_a_later_release(reading, release, refused):
    text = FILES["llamafactory"] + "template: qwen3_vl\n"
    assert rejected(reading(LLAMAFACTORY, text, pins={"llamafactory": release})) == refused
