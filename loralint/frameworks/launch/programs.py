"""The programs that start a training, and those that start these: what of their words is what.

Sources: accelerate 1.15 commands/launch.py, torch 2.13 distributed/run.py, DeepSpeed edaa722 launcher/runner.py, and
the trainers' own parsers.
"""

from __future__ import annotations

import re
from typing import NamedTuple


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Launcher(NamedTuple):
    """name: as Launch.launchers gives it. switches: options without a value. after: words that come first, as
    `launch` of accelerate. modules: options after which a module is named. bare: options after which a program stands.
    """

    name: str
    switches: frozenset[str]
    after: str = ""
    modules: frozenset[str] = frozenset({"-m", "--module"})
    bare: frozenset[str] = frozenset({"--no_python", "--no-python"})


_ACCELERATE = Launcher(
    "accelerate",
    _words("""
        --cpu --multi_gpu --tpu --ipex --use_xpu --use_deepspeed --use_fsdp --use_tp --use_megatron_lm --quiet -q
        --use_mps_device --mps --debug --tpu_cluster --no_tpu_cluster --tpu_use_cluster --tpu_use_sudo
        --dynamo_use_fullgraph --dynamo_use_dynamic --dynamo_use_regional_compilation --use_cpu --downcast_bf16
        --enable_cpu_affinity --standalone --use_parallelism_config --fp8_autocast_perform --xla
    """),
    after="launch",
)
_TORCHRUN = Launcher(
    "torchrun", _words("--standalone --no_python --no-python --use_env --use-env --run_path --run-path")
)
_DEEPSPEED = Launcher(
    "deepspeed",
    _words("""
        --force_multi --no_local_rank --no_ssh_check --no_ssh --save_pid --enable_each_rank_log_off --elastic_training
        --bind_cores_to_rank --no_python
    """),
)
LAUNCHERS = {
    "accelerate": _ACCELERATE,
    "accelerate-launch": _ACCELERATE._replace(after=""),
    "torchrun": _TORCHRUN,
    "deepspeed": _DEEPSPEED,
    "ds": _DEEPSPEED,
}
# Options of a trainer's command line that are no keys of its config.
OWN_OPTIONS = {
    "axolotl": _words("sweep launcher cloud accelerate num_processes main_process_port debug_text_only help"),
}
# Options that only a launcher has, so that a script to which they are given most likely refuses them.
ONLY = {
    "accelerate": _words("""
        num_processes num_machines machine_rank main_process_ip main_process_port multi_gpu use_deepspeed use_fsdp
        deepspeed_config_file deepspeed_multinode_launcher num_cpu_threads_per_process same_network
        fsdp_sharding_strategy fsdp_auto_wrap_policy fsdp_transformer_layer_cls_to_wrap dynamo_backend gpu_ids
    """),
    "torchrun": _words("nproc_per_node nnodes node_rank rdzv_backend rdzv_endpoint rdzv_id standalone max_restarts"),
    "deepspeed": _words("num_gpus num_nodes include exclude hostfile"),
}
# All options of launchers that have no list of known keys.
OPTIONS = {
    "torchrun": _words("""
        nnodes nproc_per_node rdzv_backend rdzv_endpoint rdzv_id rdzv_conf standalone max_restarts monitor_interval
        start_method event_log_handler role m module no_python run_path log_dir r redirects t tee local_ranks_filter
        node_rank master_addr master_port local_addr logs_specs numa_binding signals_to_handle virtual_local_rank
        use_env duplicate_stdout_filters duplicate_stderr_filters shutdown_timeout
    """),
    "deepspeed": _words("""
        H hostfile i include e exclude num_nodes min_elastic_nodes max_elastic_nodes num_gpus master_port master_addr
        launcher launcher_args module no_python no_local_rank no_ssh_check force_multi save_pid enable_each_rank_log
        autotuning elastic_training bind_cores_to_rank bind_core_list ssh_port no_ssh node_rank venv_script h help
    """),
}
# Names of scripts that do not train, unless they also say that they do.
TRAINS = re.compile(r"(?i)train|tun(?:e|ing)|sft|dpo|ppo|kto|orpo|grpo|rlhf|dreambooth|distil|run_(?:clm|mlm|glue)")
IDLE = re.compile(
    r"infer|merge|eval|export|generat|predict|chat|demo|serv|deploy|prepar|preprocess|convert|download|upload|tokeniz"
    r"|^cache_|_cache|benchmark|test_|plot|collect|extract|caption|check_|dump",
    re.IGNORECASE,
)
# As they begin those names only say of which training the result is looked at: `evaluate_pretrain`.
LOOKS = re.compile(r"(?:evaluate|eval|infer|inference|predict|generate|merge|export)_(?!and_)", re.IGNORECASE)


def is_idle(script: str) -> bool:
    """Whether the name of a script says that it is no training."""
    stem = script.replace("\\", "/").rpartition("/")[2].removesuffix(".exe").removesuffix(".py")
    return IDLE.search(stem) is not None and (TRAINS.search(stem) is None or LOOKS.match(stem) is not None)


# `python -m` these is one of those.
MODULES = {
    "accelerate.commands.launch": "accelerate-launch",
    "accelerate.launch": "accelerate-launch",
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "deepspeed.launcher.runner": "deepspeed",
    "deepspeed": "deepspeed",
}
# Programs that start what stands somewhere behind them; their own options are many, so the first word that is a known
# program or a Python file is looked for.
OUTER = _words("""
    mpirun mpiexec horovodrun srun colossalai ray docker podman nvidia-docker singularity apptainer enroot uv poetry
    pipenv pixi hatch rye pdm conda mamba micromamba modal ssh nsys ncu proxychains4 ipython-run gosu tini catchsegv
    hf hipify kubectl dlc bsub qsub salloc
""")
# Of these the training is one only with such a first word.
TRAINERS: dict[str, frozenset[str]] = {
    "llamafactory-cli": _words("train"),
    "lmf": _words("train"),
    "axolotl": _words("train"),
    "swift": _words("sft rlhf pt dpo orpo simpo"),
    "megatron": _words("sft rlhf pt"),
    "trl": _words("sft dpo kto orpo cpo reward grpo rloo ppo online_dpo nash_md xpo bco gkd prm"),
    "tune": _words("run"),
    "litgpt": _words("finetune finetune_lora finetune_full finetune_adapter finetune_adapter_v2 pretrain"),
    "oumi": _words("train"),
    "mlx_lm": _words("lora"),
    "mlx_lm.lora": frozenset(),
    "autotrain": _words("llm dreambooth seq2seq text-classification vlm sentence-transformers --config"),
    "ludwig": _words("train experiment"),
    "simpletuner": _words("train"),
    "xtuner": _words("train"),
    "automodel": _words("finetune pretrain kd"),
    "nemo": _words("llm"),
}
# Commands of them that read a config and train nothing: one that is named, or an adapter to merge, makes them count.
BESIDE: dict[str, frozenset[str]] = {"llamafactory-cli": _words("chat webchat api export eval")}
ALIASES = {"lmf": "llamafactory-cli", "mlx_lm.lora": "mlx_lm"}
# `python -m` of a trainer, and scripts of theirs that are called by path: (program, subcommand).
TRAINER_MODULES: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), program, subcommand)
    for pattern, program, subcommand in (
        (r"axolotl\.cli\.train", "axolotl", "train"),
        (r"llamafactory\.cli", "llamafactory-cli", ""),
        (r"llamafactory\.(?:launcher|train.*)", "llamafactory-cli", "train"),
        (r"swift\.cli\._?megatron\.(?P<sub>sft|rlhf|pt)", "megatron", ""),
        (r"swift\.cli\.(?P<sub>sft|rlhf|pt)", "swift", ""),
        (r"trl\.cli(?:\..*)?", "trl", ""),
        (r"trl\.scripts\.(?P<sub>\w+)", "trl", ""),
        (r"mlx_lm[._]lora", "mlx_lm", "lora"),
        (r"mlx_lm", "mlx_lm", ""),
        (r"litgpt", "litgpt", ""),
        (r"oumi", "oumi", ""),
        (r"oumi\.core\.cli\.main", "oumi", ""),
        (r"autotrain\.trainers\.clm", "autotrain", "llm"),
        (r"simpletuner\.train", "simpletuner", "train"),
    )
)
# Modules that are no training, whatever their flags.
OTHER_MODULES = _words("""
    pip venv ensurepip http.server json.tool pdb pytest build twine virtualenv ipykernel jupyter nltk.downloader spacy
    vllm.entrypoints.openai.api_server vllm.entrypoints.api_server sglang.launch_server torch.utils.collect_env site
    compileall timeit cProfile zipfile tarfile py_compile unittest
""")
# Programs that take `key=value` words for settings.
DOTLISTS = _words("tune verl nemo automodel llamafactory-cli oumi")
PYTHON = re.compile(r"(?:i?python|pypy)[\d.]*(?:\.exe)?|py(?:\.exe)?")
SCRIPT = re.compile(r".*\.py")
# Options of Python itself that take a word.
PYTHON_VALUED = _words("-X -W --check-hash-based-pycs")
