from __future__ import annotations

import csv
import json
import subprocess
import sys
import time

import pytest

from loralint.frameworks.detect import COMPANIONS, NAMES, by_name, detect, looks_like_run, reader
from loralint.source.read import read_bytes, read_file

RUNS = {
    "axolotl whole": (
        "axolotl",
        "base_model: org/m\nadapter: lora\nlora_r: 8\ndatasets:\n  - path: d\nmicro_batch_size: 1\n",
    ),
    "axolotl full fine-tune": ("axolotl", "base_model: org/m\nadapter:\nsequence_len: 512\nlearning_rate: 1e-5\n"),
    "axolotl part": ("axolotl", "adapter: qlora\nload_in_4bit: false\n"),
    "axolotl part without adapter": ("axolotl", "micro_batch_size: 2\nsample_packing: true\n"),
    "axolotl with Hugging Face keys": (
        "axolotl",
        (
            "base_model: org/m\ndatasets: []\nval_set_size: 0.1\nload_best_model_at_end: true\neval_steps: 5\n"
            "save_steps: 7\n"
        ),
    ),
    "llamafactory": ("llamafactory", "model_name_or_path: org/m\nstage: sft\nfinetuning_type: lora\ntemplate: qwen\n"),
    "llamafactory default method": (
        "llamafactory",
        "model_name_or_path: org/m\nstage: sft\ntemplate: qwen\ncutoff_len: 9\n",
    ),
    "llamafactory part": ("llamafactory", "lora_target: all\nlora_rank: 8\nlearning_rate: 1e-4\n"),
    "llamafactory merge": (
        "llamafactory",
        "model_name_or_path: org/m\nadapter_name_or_path: out\ntemplate: qwen\nexport_dir: merged\n",
    ),
    "llamafactory on Megatron": ("llamafactory", "finetuning_type: lora\nmixed_precision: bf16_mixed\n"),
    "trl": ("trl", "model_name_or_path: org/m\ndataset_name: org/d\nlearning_rate: 1e-5\n"),
    "trl part": ("trl", "use_peft: true\nlora_r: 16\n"),
    "trl with an environment": (
        "trl",
        "model_name_or_path: org/m\nuse_peft: true\nenv:\n  A: b\nlora_target_modules: all-linear\n",
    ),
    "trl packing": ("trl", "packing: true\nlearning_rate: 2e-5\nper_device_train_batch_size: 4\n"),
    "handbook": (
        "alignment-handbook",
        "model_name_or_path: org/m\nuse_peft: true\ndataset_mixer:\n  org/d: 1.0\nlearning_rate: 1e-5\n",
    ),
    "handbook new form": (
        "alignment-handbook",
        "model_name_or_path: org/m\ndataset_mixture:\n  datasets:\n    - id: d\nbf16: true\n",
    ),
    "transformers": ("transformers", "output_dir: out\nlearning_rate: 2e-5\nper_device_train_batch_size: 8\n"),
    "transformers part": ("transformers", "load_best_model_at_end: true\neval_strategy: steps\nsave_steps: 50\n"),
    "transformers with a LoRA script": (
        "transformers",
        "model_name: org/m\noutput_dir: out\nlearning_rate: 2e-5\nnum_train_epochs: 3\nlora_r: 8\nlora_alpha: 16\n",
    ),
    "transformers with its own mappings": (
        "transformers",
        (
            "output_dir: o\nnum_train_epochs: 1\nlr_scheduler_type: cosine\n"
            "gradient_checkpointing_kwargs: {use_reentrant: false}\n"
        ),
    ),
    "transformers example script": (
        "transformers",
        (
            "model_name_or_path: org/m\ndataset_name: d\nblock_size: 512\ndo_train: true\nlearning_rate: 5e-5\n"
            "output_dir: o\n"
        ),
    ),
    "peft": ("peft", '{"peft_type": "LORA", "r": 8, "target_modules": ["q_proj"]}'),
    "peft as arguments": ("peft", '{"r": 8, "lora_alpha": 16, "lora_dropout": 0.1, "target_modules": ["q_proj"]}'),
    "ms-swift": (
        "ms-swift",
        "model: org/m\ntuner_type: lora\nlora_rank: 8\ndataset: ['d#500']\nlearning_rate: 1e-4\nnum_train_epochs: 1\n",
    ),
    "ms-swift 3": ("ms-swift", "model: org/m\ntrain_type: lora\ndataset: d\n"),
    "ms-swift 2": (
        "ms-swift",
        "model_type: qwen\nsft_type: lora\nquantization_bit: 4\nlearning_rate: 1e-4\noutput_dir: o\n",
    ),
    "ms-swift without a tuner": (
        "ms-swift",
        "model: org/m\ndataset: [d]\nsplit_dataset_ratio: 0.01\nnum_train_epochs: 1\nlearning_rate: 1e-4\n",
    ),
    "mlx-lm": (
        "mlx-lm",
        (
            "model: org/m\ntrain: true\ndata: d\niters: 100\nbatch_size: 4\nlearning_rate: 1e-5\n"
            "lora_parameters: {rank: 8}\n"
        ),
    ),
    "mlx-lm without lora_parameters": (
        "mlx-lm",
        "model: org/m\ntrain: true\ndata: d\niters: 100\nadapter_path: a\nsave_every: 50\n",
    ),
    "mlx-lm adapter": (
        "mlx-lm",
        '{"fine_tune_type": "lora", "num_layers": 16, "lora_parameters": {"rank": 8}, "model": "org/m"}',
    ),
    "litgpt": (
        "litgpt",
        (
            "checkpoint_dir: c\nlora_r: 8\nlora_query: true\ntrain: {micro_batch_size: 1}\n"
            "precision: bf16-true\nseed: 1\n"
        ),
    ),
    "torchtune": ("torchtune", "model:\n  _component_: torchtune.models.llama3.lora_llama3_8b\nbatch_size: 2\n"),
    "torchtune optimizer only": ("torchtune", "optimizer:\n  _component_: torch.optim.AdamW\n  lr: 3e-4\n"),
    "h2o": ("h2o-llmstudio", "llm_backbone: org/m\nproblem_type: text_dpo_modeling\ntraining: {lora: true}\n"),
    "Ludwig": (
        "ludwig",
        "model_type: llm\nbase_model: org/m\nadapter:\n  type: lora\ninput_features: []\noutput_features: []\n",
    ),
    "Ludwig with a word": (
        "ludwig",
        "model_type: llm\nbase_model: org/m\nadapter: lora\ninput_features: [{name: a, type: text}]\n",
    ),
    "autotrain": ("autotrain", "task: llm-sft\nbase_model: org/m\nproject_name: p\nparams:\n  lr: 2e-4\nhub: {}\n"),
    "autotrain part": ("autotrain", "task: llm-sft\nbase_model: org/m\nparams:\n  peft: true\n"),
    "oumi": (
        "oumi",
        "model:\n  model_name: org/m\ntraining:\n  use_peft: true\n  output_dir: o\npeft:\n  lora_r: 8\n",
    ),
    "Unsloth Studio": (
        "unsloth-studio",
        "model: org/m\ntraining:\n  training_type: lora\n  random_seed: 1\nlora:\n  lora_r: 8\n",
    ),
    "NeMo Automodel": (
        "nemo-automodel",
        "recipe: R\nstep_scheduler:\n  max_steps: 9\npeft:\n  _target_: nemo.PeftConfig\n",
    ),
    "NeMo Automodel adapter only": ("nemo-automodel", "peft:\n  _target_: nemo.PeftConfig\n  dim: 8\n"),
    "NeMo-RL": (
        "nemo-rl",
        "defaults: base.yaml\npolicy:\n  model_name: org/m\n  dtensor_cfg:\n    lora_cfg:\n      enabled: true\n",
    ),
    "NeMo-RL loss only": ("nemo-rl", "defaults: base.yaml\nloss_fn:\n  reference_policy_kl_penalty: 0.01\n"),
    "NeMo 1": (
        "nemo",
        "trainer:\n  devices: 1\nexp_manager:\n  exp_dir: o\nmodel:\n  peft:\n    peft_scheme: lora\n",
    ),
    "Megatron-Bridge": (
        "megatron-bridge",
        (
            "train:\n  train_iters: 9\n  global_batch_size: 8\noptimizer:\n  min_lr: 1e-5\n"
            "scheduler:\n  lr_warmup_iters: 1\npeft:\n  dim: 8\n"
        ),
    ),
    "OpenRLHF": ("openrlhf", "ds:\n  zero_stage: 2\n  lora:\n    rank: 8\nadam:\n  lr: 1e-4\n"),
    "verl RL": ("verl", "actor_rollout_ref:\n  model:\n    lora_rank: 8\ntrainer:\n  total_epochs: 1\n"),
    "torchtune part": ("torchtune", "model:\n  lora_attn_modules: [q_proj]\n  lora_rank: 8\n"),
}
MANIFESTS = {
    "Kubernetes PyTorchJob": (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Master: {template: {spec:"
        " {containers: [{name: pytorch, image: x}]}}}}}\n"
    ),
    "Kubernetes Job behind a Service": (
        "apiVersion: v1\nkind: Service\n---\napiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers:"
        " [{command: [torchrun, train.py]}]}}}\n"
    ),
}
# Nobody's format: known names in a nesting of the author's own, which only the whole tree shows.
HOMEMADE = {
    "nested": "model: {name: org/m}\ntraining: {learning_rate: 1e-4, num_train_epochs: 1}\nlora: {r: 8}\n",
    "flat": "model: org/m\nlora_r: 8\nlora_alpha: 16\nlr: 1e-4\n",
    "names of Unsloth Studio": "training:\n  max_seq_length: 2048\n  learning_rate: 2e-4\nlora:\n  lora_r: 64\n",
    "open-instruct": (
        "model_name_or_path: m\nuse_lora: true\nlora_rank: 8\nuse_slow_tokenizer: true\nlearning_rate: 1e-4\n"
    ),
    "JSON": '{"peft_config": {"r": 8, "lora_alpha": 16}, "train": {"epochs": 3}}',
    "verl inside Helm values": "modelName: org/m\nverlConfig:\n  model: {lora_rank: 0}\n  optim: {lr: 1e-5}\n",
}
# Known names, but too few, elsewhere or in another kind of file.
NOT_HOMEMADE = {
    "no adapter": "training: {learning_rate: 1e-4, num_train_epochs: 1}\nnote: lora comes later\n",
    "no training": "lora: {r: 8, alpha: 16}\nserver: {port: 80}\n",
    "dropout alone": "lora: {dropout: 0.1}\nlearning_rate: 1e-4\n",
    "short names of something else": "circle: {r: 8, alpha: 0.5}\nlearning_rate: 1e-4\nnote: no lora\n",
    "in a list": "jobs_of_mine: [{lora_r: 8}]\nlearning_rate: 1e-4\n",
    "a manifest": "apiVersion: v1\nkind: ConfigMap\ndata: {lora_r: '8', learning_rate: '1e-4'}\n",
    "docker-compose": "services: {t: {environment: {lora_r: 8, learning_rate: 1e-4}}}\n",
    "a saved adapter": '{"peft_type": "X-LORA", "other": {"lora_r": 8, "learning_rate": 1e-4}}',
    "an image trainer": '{"pretrained_model_name_or_path": "m", "lora_rank": 8, "learning_rate": 1e-4}',
    "values as mappings": "lora_r: {value: 8}\nlearning_rate: {value: 1e-4}\n",
    "experiment record": "wandb_version: 1\nlora_r: 8\nlearning_rate: 1e-4\n",
}
V1 = {
    "whole": "model: org/m\nmodel_class: llm\npeft_config:\n  name: lora\nmicro_batch_size: 1\ncutoff_len: 512\n",
    "empty part": "model: org/m\nquant_config:\nlearning_rate: 1e-4\n",
    "part": "peft_config:\n  name: lora\n  r: 8\nmicro_batch_size: 1\n",
}

# What a trainer or its launcher reads besides a config of its own.
COMPANION_FILES = {
    "accelerate": "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config: {}\n"
    "mixed_precision: bf16\n",
    "deepspeed": '{"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": "auto",'
    ' "bf16": {"enabled": true}}',
}

# Other trainers, and what else lies in repositories.
NO_RUNS = {
    "mergekit": "base_model: org/m\nmerge_method: ties\nmodels:\n  - model: a\ndtype: bfloat16\n",
    "mergekit slices": "slices:\n  - sources: []\nbase_model: org/m\nmerge_method: slerp\n",
    "fms-hf-tuning": '{"model_name_or_path": "m", "training_data_path": "d", "output_dir": "o", "num_train_epochs": 1,'
    ' "per_device_train_batch_size": 4, "learning_rate": 1e-5}',
    "alpaca-lora": "base_model: org/m\ndata_path: d.json\nmicro_batch_size: 4\nnum_epochs: 3\ncutoff_len: 256\n"
    "val_set_size: 2000\nlearning_rate: 3e-4\n",
    "LLaMA-LoRA Tuner's record": '{"hf_model_name": "a/l", "load_from_hf": true, "base_model": "org/m", "epochs": 16,'
    ' "train_on_inputs": false, "micro_batch_size": 1, "learning_rate": 1e-4}',
    "kohya": '{"pretrained_model_name_or_path": "m", "network_dim": 8, "learning_rate": 1e-4, "output_dir": "o"}',
    "SimpleTuner": '{"model_family": "flux", "lora_rank": 16, "learning_rate": 1e-4, "output_dir": "o",'
    ' "num_train_epochs": 1,'
    ' "report_to": "none"}',
    "ai-toolkit": "job: extension\nconfig:\n  name: n\n  process: []\nmeta: {version: '1.0'}\n",
    "OneTrainer": '{"base_model_name": "m", "training_method": "LORA", "batch_size": 4, "learning_rate": 1e-4}',
    "Ludwig without a language model": "input_features: [{name: a, type: text}]\noutput_features: []\n",
    "oumi inference": "model:\n  model_name: org/m\nengine: VLLM\ngeneration:\n  max_new_tokens: 9\n",
    "data of verl": "train_files: a.parquet\nval_files: b.parquet\nmax_prompt_length: 512\nchat_template: null\n",
    "own flat names": "lr: 1e-3\nepochs: 10\nbatch_size: 32\nseed: 1\nweight_decay: 0.1\noutput_dir: o\n",
    "own PyTorch script": "learning_rate: 1e-3\nweight_decay: 0.01\nmax_steps: 100\nseed: 3\nwarmup_steps: 10\n",
    "evaluation": "model_name_or_path: org/m\ntorch_dtype: bfloat16\nmax_length: 512\noutput_dir: o\nseed: 0\n"
    "bf16: true\n",
    "GGUF export": "quantization_method: q4_k_m\nlearning_rate: 2e-4\nmax_seq_length: 2048\n",
    "wandb record": "wandb_version: 1\nlearning_rate: {value: 1e-4}\noutput_dir: {value: o}\n"
    "num_train_epochs: {value: 1}\n",
    "values as mappings": "learning_rate: {value: 1e-4}\noutput_dir: {value: o}\nnum_train_epochs: {value: 1}\n",
    "trainer state": '{"best_metric": null, "epoch": 1.0, "eval_steps": 5, "global_step": 9, "log_history": [],'
    ' "logging_steps": 1, "max_steps": 9, "num_train_epochs": 1, "save_steps": 5, "total_flos": 1.0}',
    "model config": '{"architectures": ["A"], "hidden_size": 64, "num_hidden_layers": 2, "torch_dtype": "bfloat16"}',
    "generation config": '{"max_new_tokens": 9, "temperature": 0.7, "transformers_version": "4.50.0"}',
    "tokenizer config": '{"chat_template": "{% for m in messages %}", "tokenizer_class": "T", "model_max_length": 9}',
    "special tokens": '{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}',
    "datasets of LLaMA-Factory": '{"mine": {"file_name": "a.json", "columns": {"prompt": "q"}}}',
    "dataset card data": '{"description": "", "features": {"text": {}}, "splits": {}, "dataset_name": "d"}',
    "results": '{"epoch": 1.0, "train_loss": 0.5, "train_runtime": 1.0, "eval_loss": 0.6}',
    "Kubernetes Job": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {}\n",
    "Kubernetes Job of a database": (
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: [{command: [alembic, upgrade]}]}}}\n"
    ),
    "Kubernetes Deployment with a GPU": (
        "apiVersion: apps/v1\nkind: Deployment\nspec: {template: {spec: {containers: [{resources: {limits:"
        " {nvidia.com/gpu: 1}}}]}}}\n"
    ),
    "Kubernetes Job that serves": (
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: [{command: [vllm, serve, m],"
        " resources: {limits: {nvidia.com/gpu: 1}}}]}}}\n"
    ),
    "Kubernetes Service and claim": "apiVersion: v1\nkind: Service\n---\napiVersion: v1\nkind: PersistentVolumeClaim\n",
    "Helm template of a Job": (
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {containers: [\n{command: [torchrun], image:\n"
        "  {{ .Values.image }} }]}}}\n"
    ),
    "AdmissionReview": '{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"kind": "Job"}}',
    "ConfigMap with a config": "apiVersion: v1\nkind: ConfigMap\ndata:\n  c.yaml: |\n    base_model: m\n"
    "    adapter: lora\n",
    "kustomization": "resources:\n  - a.yaml\nimages: []\n",
    "Helm values": "image: {repository: r, tag: t}\nreplicaCount: 1\nresources: {}\nservice: {port: 80}\n",
    "Helm chart": "apiVersion: v2\nname: c\nversion: 0.1.0\ndependencies: []\n",
    "docker-compose": "services:\n  web:\n    image: x\n    deploy: {}\nvolumes: {}\n",
    "old docker-compose": "version: '3'\nservices:\n  trainer:\n    environment:\n      learning_rate: 1e-4\n",
    "GitHub workflow": "name: ci\non: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps: []\n",
    "GitHub action": "name: a\ndescription: d\nruns:\n  using: composite\n  steps: []\n",
    "GitLab CI": "stages: [test]\nimage: python\ntest:\n  stage: test\n  script: [pytest]\n",
    "Azure pipeline": "trigger: [main]\npool: {vmImage: u}\nsteps: []\n",
    "CircleCI": "version: 2.1\njobs: {build: {docker: []}}\nworkflows: {}\n",
    "pre-commit": "repos:\n  - repo: r\n    rev: v1\n    hooks: [{id: h}]\n",
    "mkdocs": "site_name: s\nnav: []\ntheme: {name: material}\nplugins: [search]\n",
    "Read the Docs": "version: 2\nbuild: {os: ubuntu-24.04}\npython: {}\n",
    "OpenAPI": "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths: {}\n",
    "JSON Schema": '{"$schema": "s", "type": "object", "properties": {"learning_rate": {"type": "number"}}}',
    "package.json": '{"name": "p", "version": "1.0.0", "scripts": {}, "dependencies": {}}',
    "tsconfig": '{"compilerOptions": {"strict": true}, "include": ["src"]}',
    "Conda": "name: e\nchannels: [conda-forge]\ndependencies: [python=3.11]\n",
    "Ansible": "- hosts: all\n  tasks: []\n",
    "Dependabot": "version: 2\nupdates: []\n",
    "CloudFormation": "AWSTemplateFormatVersion: '2010-09-09'\nResources: {}\nParameters: {}\n",
    "Prometheus": "global: {scrape_interval: 15s}\nscrape_configs: []\n",
    "codecov": "coverage: {status: {project: {default: {target: auto}}}}\n",
    "translations": "en:\n  hello: Hello\n  adapter: Adapter\n",
    "DVC": "stages:\n  train:\n    cmd: python train.py\n    deps: [d]\n",
    "MLflow project": "name: p\nentry_points: {main: {parameters: {learning_rate: float}, command: c}}\n",
    "SkyPilot task": "resources: {accelerators: H100}\nsetup: s\nrun: python train.py\nenvs: {}\n",
    "vLLM": "model: org/m\ntensor-parallel-size: 2\nmax-model-len: 4096\n",
    "lm-eval task": "task: t\ndataset_path: d\noutput_type: generate_until\nmetric_list: []\n",
    "model card": "license: mit\nbase_model: org/m\ntags: [lora]\ndatasets_used: [d]\n",
    "notebook": '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    "Cargo-like": "package: {name: p}\n",
    "empty": "",
    "only a comment": "# learning_rate: 1e-4\n",
    "a list": "- a\n- b\n",
    "a word": "hello\n",
}


def document(text: str):
    return read_bytes(text.encode(), "c.json" if text.lstrip().startswith("{") else "c.yaml")


@pytest.mark.parametrize("case", RUNS)
def test_recognises(case):
    framework, text = RUNS[case]
    found = detect(document(text))
    assert found is not None
    assert (found.framework, found.module) == (framework, NAMES[framework])
    assert looks_like_run(text) == framework or case == "torchtune part"  # needs to see inside a mapping


@pytest.mark.parametrize("case", MANIFESTS)
def test_recognises_a_manifest_that_trains(case):
    found = detect(document(MANIFESTS[case]))
    assert found is not None
    assert (found.framework, found.module) == ("kubernetes", "kubernetes")
    assert looks_like_run(MANIFESTS[case]) == ""  # a manifest that does not parse is a template more often than not


@pytest.mark.parametrize("case", V1)
def test_recognises_the_nested_format_of_llamafactory(case):
    found = detect(document(V1[case]))
    assert found is not None
    assert (found.framework, found.module) == ("llamafactory", "llamafactory_v1")
    assert by_name("llamafactory", document(V1[case])) == "llamafactory_v1"


def test_recognises_the_defaults_files_of_unsloth_studio():
    text = "training:\n  num_epochs: 0\n  random_seed: 3407\nlora:\n  lora_r: 16\n  use_loftq: false\n"
    found = detect(document(text))
    assert found is not None
    assert (found.framework, found.module) == ("unsloth-studio", "unsloth_studio_defaults")


def test_recognises_the_sft_trainer_of_verl():
    text = (
        "data:\n  micro_batch_size_per_gpu: 4\nmodel:\n  lora_rank: 8\noptim:\n  lr: 1e-4\n  clip_grad: 1.0\n"
        "trainer:\n  total_epochs: 1\n"
    )
    found = detect(document(text))
    assert found is not None
    assert (found.framework, found.module) == ("verl", "verl_sft")
    assert by_name("verl", document(text)) == "verl_sft"


@pytest.mark.parametrize(
    "more",
    [
        "dataset_prompt_column: problem",
        "dataset_id_or_path: org/d",
        "initial_iter_idx: 0",
        "finetune_mode: lora",
        "src_length: 9",
    ],
)
def test_keys_of_a_script_around_trl_are_not_refused_as_trls(more):
    text = "model_name_or_path: org/m\nuse_peft: true\nlearning_rate: 1e-4\noutput_dir: out\nbf16: true\n"
    plain, own = detect(document(text)), detect(document(f"{text}{more}\n"))
    assert plain is not None
    assert own is not None
    assert (plain.framework, own.framework) == ("trl", "transformers")


def test_the_keys_of_deepspeed_in_a_config_of_gpt_neox_are_no_file_of_deepspeed():
    text = '{"zero_optimization": {"stage": 1}, "fp16": {"enabled": true, "fp16": true}%s}'
    found = detect(document(text % ""))
    assert found is not None
    assert found.framework == "deepspeed"
    assert detect(document(text % ', "pipe_parallel_size": 1, "num_layers": 24')) is None


@pytest.mark.parametrize("case", HOMEMADE)
def test_recognises_what_somebody_made_at_home(case):
    found = detect(document(HOMEMADE[case]))
    assert found is not None
    assert (found.framework, found.module) == ("generic", "generic")
    assert looks_like_run(HOMEMADE[case]) == ""  # a broken one is too little to go by


@pytest.mark.parametrize("case", NOT_HOMEMADE)
def test_a_few_known_names_make_no_run(case):
    found = detect(document(NOT_HOMEMADE[case]))
    assert found is None or found.framework != "generic"


@pytest.mark.parametrize("kind", COMPANION_FILES)
def test_recognises_companions(kind):
    found = detect(document(COMPANION_FILES[kind]))
    assert found is not None
    assert found.framework == kind
    assert kind in COMPANIONS


@pytest.mark.parametrize("case", NO_RUNS)
def test_leaves_other_files_alone(case):
    assert detect(document(NO_RUNS[case])) is None


@pytest.mark.parametrize("case", NO_RUNS)
def test_a_broken_other_file_is_no_run(case):
    text = NO_RUNS[case]
    if case == "values as mappings":  # only the tree shows that they are no settings
        return
    assert looks_like_run(text) == ""
    assert looks_like_run(text + "\n\t: [broken\n") == ""


@pytest.mark.parametrize(
    ("value", "framework"),
    [("BATCH_SIZE", ""), ("CL_1st_MAX", ""), ("32", "deepspeed"), ("True", "deepspeed"), ("wide", "deepspeed")],
)
def test_a_word_to_be_filled_in_makes_json_a_template(value, framework):
    text = '{\n  "zero_optimization": {"stage": 2, "overlap_comm": true},\n  "train_batch_size": %s,\n  "fp16": {,\n'
    assert looks_like_run(text % value) == framework


def test_the_reason_names_the_keys():
    found = detect(document("seed: 1\nbase_model: org/m\nadapter: lora\nsequence_len: 9\n"))
    assert found is not None
    assert found.reason == "`base_model`, `adapter` and `sequence_len`"
    found = detect(document("optimizer:\n  _component_: torch.optim.AdamW\n"))
    assert found is not None
    assert found.reason == "`_component_`"


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("base_model: org/m\nadapter: lora\n  lora_r: 8\nmicro_batch_size: 1\n", "axolotl"),
        ("base_model: org/m\n\tadapter: lora\nsequence_len: [\nval_set_size: 0.1\n", "axolotl"),
        ("model_name_or_path: m\nfinetuning_type: lora\noutput_dir: 'un", "llamafactory"),
        ("learning_rate: 2e-4\noutput_dir: o\nper_device_train_batch_size: 4\nbad: : :\n", "transformers"),
        ("model:\n  _component_: torchtune.models.llama3.lora_llama3_8b\n lora_rank: 8\n", "torchtune"),
        ('{\n  "peft_type": "LORA",\n  "r": 8,,\n', "peft"),
        ('{"peft_type": "LORA", "r": ', "peft"),
    ],
)
def test_a_broken_run_still_looks_like_one(text, framework):
    assert document(text).problems
    assert looks_like_run(text) == framework


@pytest.mark.parametrize(
    "text",
    [
        "base_model: {{ .Values.model }}\nadapter: lora\nmicro_batch_size: 1\n",
        "{% if lora %}\nadapter: lora\n{% endif %}\nbase_model: org/m\nsequence_len: 9\n",
    ],
)
def test_a_template_is_no_broken_run(text):
    assert looks_like_run(text) == ""


@pytest.mark.parametrize(
    "piece",
    [" ", "a", "-", '"', '"a" ', "{", "a" * 60 + " " * 60, " " * 99 + "\n", '"a": ', " - ", "- a:", "a :", "\t\n"],
)
def test_looking_takes_linear_time(piece):
    text = piece * (250_000 // len(piece))
    began = time.perf_counter()
    assert looks_like_run(text) == looks_like_run("{" + text) == ""
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("axolotl", "axolotl"), ("LLaMA-Factory", "llamafactory"), ("llama_factory", "llamafactory"), ("TRL", "trl"),
        ("alignment_handbook", "alignment_handbook"), ("hf", "transformers"), ("adapter_config", "peft"),
        ("llamafactory-v1", "llamafactory_v1"), (" torchtune ", "torchtune"), ("swift", "ms_swift"), ("MLX", "mlx_lm"),
    ],
)  # fmt: skip
def test_names_a_framework(name, module):
    assert by_name(name) == module


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'nanotron'.*axolotl, llamafactory, .*torchtune"):
        by_name("nanotron")


def test_a_name_overrules_what_the_file_looks_like():
    assert by_name("trl", document(RUNS["axolotl whole"][1])) == "trl"


@pytest.mark.parametrize("module", sorted(set(NAMES.values())))
def test_every_module_has_a_reader(module):
    names = {one: name for name, one in NAMES.items()}
    assert reader(module).name == ("llamafactory" if module == "llamafactory_v1" else names[module])


def test_recognising_imports_no_reader():
    code = (
        "import sys\n"
        "from loralint.frameworks.detect import detect\n"
        "from loralint.source.read import read_bytes\n"
        "detect(read_bytes(b'base_model: m\\nadapter: lora\\n', 'c.yaml'))\n"
        f"print(sorted(set(sys.modules) & {{'loralint.frameworks.' + m for m in {sorted(set(NAMES.values()))}}}))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


# Rows of the corpus whose label speaks of the repository, not of the file.
MISLABELLED = ("_accelerate_fsdp", "HALOs/config/model/base_model.yaml")
LABELS = {"llamafactory-cli train YAML": "llamafactory", "open-instruct": "generic", "generic-homegrown": "generic"}
LABELS |= {
    "SimpleTuner": "simpletuner",
    "SimpleTuner dataset backend": "simpletuner",
    "ostris ai-toolkit": "ai-toolkit",
    "kohya_ss GUI": "kohya-gui",
    "kohya_ss GUI preset JSON": "kohya-gui",
    "kohya_ss GUI preset JSON (fork)": "kohya-gui",
    "kohya_ss GUI (full-FT presets, negative examples)": "kohya-gui",
    "OneTrainer preset JSON": "onetrainer",
    "OneTrainer preset JSON (non-LoRA, negative examples)": "onetrainer",
    "fms-hf-tuning JSON configs passed by ConfigMap": "fms-hf-tuning",
}
# files that lie among a trainer's configs and start no run: parts of one, data, tools
BESIDE = (
    "lycoris_config.json", "_meta-1_lat.json", "_extract.example.yml", "_generate.example.yaml", "_mod_lora_scale.yaml",
    "README.md.L298.yaml", "README.md.L326.yaml", "ai-toolkit.md.L107.yaml", "ai-toolkit.md.L228.yaml",
    "ai-toolkit.md.L93.yaml", "_lora_omnigen2_24gb.yaml",
)  # fmt: skip


def test_the_corpus(shared):
    with open(shared / "corpus" / "INDEX.tsv", encoding="utf-8", newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t")
            if row["file"].endswith((".yaml", ".yml", ".json"))
            and not any(word in row["file"] for word in MISLABELLED)
            and not row["file"].endswith(BESIDE)
        ]
    wrong, aliens, homes, manifests, total = [], [], set(), [], 0
    for row in rows:
        found = detect(read_file(str(shared / "corpus" / row["file"]), row["file"]))
        label = LABELS.get(row["framework"], row["framework"])
        name = found.framework if found else None
        if label in NAMES:
            total += 1
            wrong += [(row["file"], name)] if name != label else []
        elif name == "kubernetes":
            manifests.append(row["file"].removeprefix("other/k8s/").partition("/")[0])
        elif name == "generic":
            homes.add(label)
        elif name and name not in COMPANIONS and (label, name) != ("SimpleTuner quickstart", "simpletuner"):
            aliens.append(row["file"].rsplit("/", 1)[-1])
    assert total > 500
    assert len(wrong) <= 0.02 * total, wrong
    assert {kind: manifests.count(kind) for kind in manifests} == {
        "gpu-selectors": 1, "job": 10, "jobset": 2, "kaito": 4, "pytorchjob": 10, "rayjob": 1, "trainjob": 9
    }  # fmt: skip
    # values of charts that hold a trainer's settings or its command, and recipes that hand them on as variables
    assert homes == {
        "Helm chart: axolotl / LLaMA-Factory / Wan LoRA Jobs",
        "Helm chart (Volcano/PyTorchJob) pytorch",
        "OCI AI Blueprints job recipes (JSON -> k8s Job env)",
    }
    # a run among LyCORIS' files, examples of TRL and ms-swift among shell scripts
    assert sorted(aliens) == [
        "KohakuBlueleaf_LyCORIS__example_configs_training_configs_hcp_hcp_lokr.yaml",
        "huggingface_trl__examples_cli_configs_example_config.yaml",
        "modelscope_ms-swift__examples_train_multi-node_ray_sft.yaml",
        "modelscope_ms-swift__examples_yaml_deepspeed_sft.yaml",
    ]


def test_one_key_of_an_object_does_not_hide_a_config():
    config = "base_model: m\nadapter: lora\nlora_r: 8\ndatasets: [{path: d, type: alpaca}]\n"
    assert detect(read_bytes(f"apiVersion: v1\n{config}".encode(), "a.yaml")).framework == "axolotl"
    assert detect(read_bytes(f"apiVersion: v1\nkind: Thing\n{config}".encode(), "a.yaml")) is None
    assert detect(read_bytes(b"apiVersion: v2\nname: chart\nversion: 0.1.0\n", "Chart.yaml")) is None


def test_words_about_keys_are_no_config():
    """anima_lora's window explains its fields in a JSON of the fields' own names."""
    said = {
        "network_module": "networks.lora",
        "learning_rate": "How far each step goes. Default: 1e-4.",
        "network_dim": "Rank of the adapter: higher learns more.",
    }
    assert detect(read_bytes(json.dumps(said).encode(), "_fields.json")) is None
    meant = {**said, "learning_rate": "1e-4", "network_dim": "${oc.env:NETWORK_DIM}"}
    assert detect(read_bytes(json.dumps(meant).encode(), "lora.json")) is not None
