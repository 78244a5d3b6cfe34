"""Keys that ms-swift refuses beside what other keys say.

Sources: ms-swift 3.5 to 4.6, `arguments/rlhf_args.py`, `arguments/base_args/` and `rlhf_trainers/args_mixin.py` (in 3
`llm/argument/`); each row says the release that came with its check.
"""

from __future__ import annotations

from loralint.frameworks.refusals import Refusal, above, among, below, beyond, given, off, on, without

_GRPO = (("rlhf_type", among("grpo")),)
_LIGER = (*_GRPO, ("use_liger_kernel", on))
_ROLLOUTS = (("rlhf_type", among("grpo", "gkd")),)
_LORA = ("lora", "longlora", "adalora")

_LOSS = (
    *(Refusal("ref_model", on, "under LoRA the base without the adapter is the reference", (("rlhf_type", given),
              (key, among(*_LORA))), "ms-swift>=3", "leave ref_model out") for key in ("tuner_type", "train_type")),
    Refusal("ref_model", on, "this method has no reference model", (("rlhf_type", among("orpo", "cpo", "simpo")),),
            "ms-swift>=3", "leave ref_model out"),
    Refusal("loss_weights", lambda value: isinstance(value, list) and len(value) > 1, "there is one loss to weigh",
            (("loss_type", lambda value: not isinstance(value, list) or len(value) == 1),), "ms-swift>=3.7"),
)  # fmt: skip

_GENERATION = (
    Refusal("truncation_strategy", beyond("left", "delete", "None"), "GRPO cuts prompts at the left or drops them",
            _GRPO, "ms-swift>=3.3", "write truncation_strategy: left"),
    *(Refusal(key, on, "GRPO reads its rows itself", _GRPO, "ms-swift>=3.7", f"name the rows in dataset, not in {key}")
      for key in ("cached_dataset", "cached_val_dataset")),
    Refusal("vllm_mode", on, "`use_vllm` is off", (*_ROLLOUTS, ("use_vllm", off)), "ms-swift>=3.11.1",
            "write use_vllm: true"),
    Refusal("use_vllm", on, "`vllm_mode` does not say where vLLM runs", (*_ROLLOUTS, ("vllm_mode", off)), "ms-swift>=4",
            "write vllm_mode: colocate, or server beside `swift rollout`"),
    Refusal("vllm_mode", among("server"), "neither vllm_server_host nor vllm_server_base_url names the server",
            (*_ROLLOUTS, ("use_vllm", on), ("vllm_server_host", off), ("vllm_server_base_url", off)), "ms-swift>=4",
            "start `swift rollout`, and write vllm_server_host"),
    Refusal("async_generate", on, "turns that follow one another cannot be generated ahead",
            (*_GRPO, ("multi_turn_scheduler", on)), "ms-swift>=3.5", "leave async_generate out"),
    Refusal("async_generate", on, "it wants a server that generates beside the training",
            (*_ROLLOUTS, ("vllm_mode", among("colocate"))), "ms-swift>=3.5", "write vllm_mode: server"),
)  # fmt: skip

_KERNELS = (
    Refusal("delta", given, "Liger's loss is not clipped from both sides", _LIGER, "ms-swift>=3.5"),
    Refusal("sequence_parallel_size", above(1), "Liger's loss wants whole sequences", _LIGER, "ms-swift>=3.5.3"),
    Refusal("padding_free", on, "Liger's loss wants padded rows", _LIGER, "ms-swift>=3.6"),
    Refusal("top_entropy_quantile", below(1), "Liger's loss passes no token over", _LIGER, "ms-swift>=3.7"),
    Refusal("log_entropy", on, "Liger's loss gives no entropy", _LIGER, "ms-swift>=3.7"),
    *(Refusal(key, on, "this method has padded rows only", (("rlhf_type", among("orpo", "cpo", "simpo", "rm", "ppo")),),
              "ms-swift>=3.8", f"write {key}: false") for key in ("padding_free", "packing")),
    Refusal("sequence_parallel_size", above(1), "sequences are split for GRPO and DPO only",
            (("rlhf_type", without("grpo", "dpo")), ("rlhf_type", given)), "ms-swift>=3.8"),
)  # fmt: skip

_ROWS = (
    Refusal("lazy_tokenize", among(True), "a stream is encoded as it comes", (("streaming", among(True)),),
            "ms-swift>=3", "leave lazy_tokenize out"),
    Refusal("rope_scaling", lambda value: isinstance(value, str) and value.isalpha() and value not in
            ("linear", "dynamic", "yarn"), "it knows linear, dynamic and yarn", when="ms-swift>=3.7"),
    Refusal("quant_bits", beyond(2, 4, 8, "float8"), "quanto has 2, 4 or 8 bits and float8",
            (("quant_method", among("quanto")),), "ms-swift>=3.0.3"),
)  # fmt: skip

REFUSALS = (*_LOSS, *_GENERATION, *_KERNELS, *_ROWS)
