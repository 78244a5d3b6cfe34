"""Keys that LLaMA-Factory refuses beside what other keys say.

Sources: llamafactory 0.8 to 0.9.5, `hparams/parser.py`, `hparams/finetuning_args.py`, `hparams/model_args.py`,
`model/patcher.py`, `data/template.py` and `train/dpo/trainer.py`.
"""

from __future__ import annotations

from loralint.frameworks.refusals import Refusal, among, beyond, given, like, no, off, on, without

# Templates whose end token is not trained on twice, which leaves no place for a loss on the prompt.
_ONE_END = (
    "aeva", "bailing", "bailing_v2", "breeze", "chatglm3", "dots_ocr", "falcon", "fewshot", "gemma2", "glm4", "glm4_5v",
    "glm4_7", "glm4_moe", "glm4v", "glm_ocr", "glmz1", "gpt_oss", "hy_dense_1_8b", "hy_dense_7b", "index", "solar",
    "yi_vl",
)  # fmt: skip
_PPO = (("stage", among("ppo")),)
_ADAPTER_REWARD = (*_PPO, ("reward_model_type", without("full", "api", "oft")))
_WHOLE = ("use_galore", "use_apollo", "use_badam")
# repositories whose weights are quantised, by the ends of their names
_STORED = r"(?i)[-_](gptq|awq|aqlm|hqq|eetq|bnb)([-_]|$)|[-_]int[48]$|[-_]bnb[-_]4bit"

_QUANTISED = (
    Refusal("adapter_name_or_path", like(","), "a quantised base takes a single adapter",
            (("quantization_bit", given),), advice="merge the adapters first, or leave quantization_bit out"),
    Refusal("adapter_name_or_path", like(","), "a base that is stored quantised takes a single adapter",
            (("model_name_or_path", like(_STORED)), ("quantization_bit", off)), advice="merge them into the base "
            "as it was before it was quantised"),
    Refusal("adapter_name_or_path", given, "an adapter cannot be merged into weights that are stored quantised",
            (("model_name_or_path", like(_STORED)), ("export_dir", on)), advice="name the base as it was before it was "
            "quantised, or let the adapter stay beside the base"),
    Refusal("quantization_bit", given, "an adapter cannot be merged into a quantised base",
            (("adapter_name_or_path", given), ("export_dir", on)), advice="leave quantization_bit out"),
    Refusal("quantization_device_map", among("auto"), "it is for running a model, not for training one",
            (("do_train", on),), advice="leave quantization_device_map out"),
    Refusal("fp8", on, "FP8 training starts from weights that are not quantised", (("quantization_bit", given),),
            "llamafactory>=0.9.4", "leave out fp8 or quantization_bit"),
    *(Refusal(key, beyond(4, 8), "bitsandbytes has 4 and 8 bits", advice=f"write {key}: 4 or 8")
      for key in ("ref_model_quantization_bit", "reward_model_quantization_bit")),
)  # fmt: skip

_STAGES = (
    Refusal("do_train", no, "PPO does not evaluate", _PPO, advice="write do_train: true, or stage: sft to evaluate"),
    Refusal("shift_attn", on, "PPO does not go with shifted sparse attention", _PPO, advice="write shift_attn: false"),
    Refusal("use_unsloth", on, "Unsloth cannot change to a reward model that is an adapter", _ADAPTER_REWARD,
            advice="write reward_model_type: full, or leave use_unsloth out"),
    Refusal("report_to", beyond("wandb", "tensorboard", "trackio", "none", "all"), "PPO logs to wandb, tensorboard or "
            "trackio only", _PPO, advice="write report_to: tensorboard"),
    Refusal("finetuning_type", among("full", "freeze"), "the reward model is an adapter on the policy unless "
            "`reward_model_type` says otherwise", _ADAPTER_REWARD, advice="write reward_model_type: full"),
    Refusal("pissa_init", on, "the reference model of DPO is the base, which PiSSA changes",
            (("stage", among("dpo")), ("pref_loss", without("orpo", "simpo"))), "llamafactory>=0.8.2",
            "leave pissa_init out"),
    Refusal("pref_loss", among("kto_pair"), "TRL's loss no longer knows kto_pair", (("stage", among("dpo")),),
            "llamafactory>=0.9", "write stage: kto for rows with a label, or pref_loss: sigmoid"),
)  # fmt: skip

_METHODS = (
    Refusal("use_llama_pro", on, "LLaMA Pro trains the blocks that were added", (("finetuning_type", among("full")),),
            advice="write finetuning_type: freeze"),
    *(Refusal(key, on, f"`{other}` is a second way to train all weights in little memory", ((other, on),))
      for index, key in enumerate(_WHOLE) for other in _WHOLE[index + 1 :]),
)  # fmt: skip

_MODEL = (
    Refusal("infer_backend", among("vllm", "sglang"), "that engine generates and does not train", (("do_train", on),),
            "llamafactory>=0.6", "leave infer_backend out"),
    Refusal("train_on_prompt", on, "this template ends a turn in one token and leaves the prompt no loss",
            (("template", among(*_ONE_END)),), advice="write train_on_prompt: false"),
    Refusal("model_name_or_path", like(r"^OpenGVLab/InternVL[^/]*(?<!-hf)$"), "it takes InternVL as Transformers has "
            "it, and this repository holds InternVL's own code", (("export_dir", off),), "llamafactory>=0.9.3",
            "write the repository whose name ends in -hf, such as OpenGVLab/InternVL3-8B-hf"),
    Refusal("model_name_or_path", like(r"^liuhaotian/llava-"), "it takes LLaVA as Transformers has it, and this "
            "repository holds LLaVA's own code", (("export_dir", off),), "llamafactory>=0.9",
            "write the repository of llava-hf, such as llava-hf/llava-1.5-7b-hf"),
)  # fmt: skip

# Names of templates by the release that brought them, and the one before. Source: its tags, data/template.py
_TEMPLATES = (
    ("0.9.0", "0.9.1", """
        exaone index llava_next llava_next_llama3 llava_next_mistral llava_next_qwen llava_next_video
        llava_next_video_mistral llava_next_video_yi llava_next_yi mllama opencoder phi_small pixtral
        video_llava
    """),
    ("0.9.1", "0.9.2", """
        bailing deepseek3 granite3 marco minicpm_o minicpm_v ministral mistral_small moonlight paligemma_chat
        phi4 qwen2_audio skywork_o1 telechat2
    """),
    ("0.9.2", "0.9.3", """
        cpm4 deepseekr1 gemma3 glmz1 granite3_vision hunyuan intern_vl kimi_vl llama4 mimo mimo_vl qwen2_omni
        qwen3 seed_coder smollm smollm2
    """),
    ("0.9.3", "0.9.4", """
        bailing_v2 dots_ocr ernie ernie_nothink ernie_vl falcon_h1 gemma2 gemma3n glm4_5v glm4_moe glm4v gpt_oss
        granite4 intern_s1 keye_vl mimo_v2 minimax1 minimax2 ministral3 qwen3_nothink qwen3_omni
        qwen3_omni_nothink qwen3_vl qwen3_vl_nothink seed_oss
    """),
    ("0.9.4", "0.9.5", """
        aeva gemma4 gemma4n glm4_7 glm_ocr hunyuan_small hy3 lfm2 lfm2_vl minicpm_v_4_6 phi4_mini qwen3_5
        qwen3_5_nothink qwen3_6 youtu youtu_vl
    """),
)  # fmt: skip
_LATER = tuple(
    Refusal("template", among(*names.split()), f"templates of that name came with LLaMA-Factory {came}",
            when=f"llamafactory<={last}", advice=f"take llamafactory {came} or newer")
    for last, came, names in _TEMPLATES
)  # fmt: skip

REFUSALS = (*_QUANTISED, *_STAGES, *_METHODS, *_MODEL, *_LATER)
