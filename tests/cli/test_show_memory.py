"""`loralint show --memory`."""

from __future__ import annotations

RUN = (
    "base_model: NousResearch/Llama-2-7b-hf\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_linear: true\n"
    "micro_batch_size: 1\nsequence_len: 1024\nlearning_rate: 0.0002\nbf16: true\ngradient_checkpointing: true\n"
    "optimizer: adamw_torch\n"
)


def test_parts_peak_and_verdict(invoke, folder):
    (folder / "run.yaml").write_text(RUN)
    lines = invoke("show", "run.yaml", "--memory", "--gpu", "T4").output.splitlines()
    assert lines[0] == "run.yaml (axolotl)"
    sizes = dict(line.split()[:2] for line in lines[1:7])
    assert list(sizes) == ["weights", "adapters", "gradients", "optimizer", "activations", "logits"]
    assert sizes["weights"] == "12.55"  # 6.738 billion in 16 bits
    assert sizes["optimizer"] == "0.30"  # 39,976,960 x 8 bytes
    assert "±" in lines[7]
    assert lines[7].endswith("may not fit in 16")
    assert lines[8].endswith("the formulas were held against an H200")


def test_what_was_not_measured_says_so(invoke, folder):
    sharded = "fsdp_version: 2\nfsdp_config:\n  offload_params: false\n"
    (folder / "run.yaml").write_text(RUN + sharded)
    assert "formula only" in invoke("show", "run.yaml", "--memory", "--gpu", "T4x8").output


def test_what_is_not_known_says_why(invoke, folder):
    (folder / "run.yaml").write_text(RUN.replace("NousResearch/Llama-2-7b-hf", "acme/unheard-of"))
    output = invoke("show", "run.yaml", "--memory").output
    assert "peak             ?  base model `acme/unheard-of` is not in the catalogue" in output


def test_what_is_not_counted_leaves_a_least_sum(invoke, folder):
    (folder / "run.yaml").write_text(RUN.replace("NousResearch/Llama-2-7b-hf", "Qwen/Qwen2.5-VL-32B-Instruct"))
    lines = invoke("show", "run.yaml", "--memory", "--gpu", "T4").output.splitlines()
    least = sum(float(line.split()[1]) for line in lines[1:5])
    assert lines[7].split(" or more")[0] == f"  peak        {least:8.2f}"
    assert lines[7].endswith(
        " or more, which does not fit in 16; "
        "not counted: how many tokens the pictures become that `qwen2_5_vl` models see is not in the config"
    )
    assert "or more; not counted" in invoke("show", "run.yaml", "--memory", "--gpu", "A100-80GB").output
    assert "or more; not counted" in invoke("show", "run.yaml", "--memory").output


def test_usage(invoke, folder):
    assert invoke("show", "none.yaml", "--memory").exit_code == 2
    assert invoke("show", ".", "--memory").exit_code == 2
    assert invoke("show", "good.yaml", "--memory", "--gpu", "T4711").exit_code == 2
    assert invoke("show", "good.yaml", "--memory", "--format", "json").exit_code == 2
