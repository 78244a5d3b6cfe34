"""Keywords that a release does not know, and what goes wrong on the way to a class."""

from __future__ import annotations

import pytest

import loralint
from loralint.frameworks.python.build import section
from loralint.frameworks.python.classes import CLASSES
from loralint.frameworks.python.keywords import keywords, moved
from loralint.knowledge.data import part
from loralint.source.python import read_script
from loralint.source.read import read_bytes


def observed(layer):
    return {one.value.key: (one.kind, one.effect, one.replacement) for one in layer.observations}


def test_a_slip_and_a_foreign_keyword(run):
    _, layer = run("""
        from peft import LoraConfig
        from transformers import TrainingArguments
        LoraConfig(r=8, lora_aplha=16, learning_rate=1e-4)
        TrainingArguments(output_dir="out")
    """)
    assert observed(layer) == {
        "LoraConfig.lora_aplha": ("unknown", "crash", "LoraConfig.lora_alpha"),
        "LoraConfig.learning_rate": ("unknown", "crash", ""),
    }
    assert "TrainingArguments does" in layer.observations[1].message


@pytest.mark.parametrize(("version", "there"), [("0.19.1", False), ("0.20.0", True)])
def test_a_keyword_that_a_release_took_away(run, version, there):
    _, layer = run("""
        from trl import SFTConfig
        SFTConfig(output_dir="out", max_seq_length=1024)
    """, trl=version)  # fmt: skip
    found = observed(layer).get("SFTConfig.max_seq_length")
    assert found == (("renamed", "crash", "SFTConfig.max_length") if there else None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("True", ("renamed", "crash", "SFTConfig(train_sampling_strategy='group_by_length')")),
        ("False", ("removed", "crash", "")),
    ],
)
def test_a_switch_that_became_a_word_asks_for_nothing_where_it_is_off(run, given, told):
    _, layer = run(f"""
        from trl import SFTConfig
        SFTConfig(output_dir="out", group_by_length={given})
    """)
    assert observed(layer) == {"SFTConfig.group_by_length": told}


@pytest.mark.parametrize(("version", "there"), [("4.40.2", True), ("4.41.0", False)])
def test_a_keyword_that_older_releases_do_not_have(run, version, there):
    _, layer = run("""
        from transformers import TrainingArguments
        TrainingArguments(output_dir="out", eval_strategy="epoch")
    """, transformers=version)  # fmt: skip
    found = observed(layer).get("TrainingArguments.eval_strategy")
    assert found == (("renamed", "crash", "TrainingArguments.evaluation_strategy") if there else None)


@pytest.mark.parametrize(("error", "told"), [("TypeError", False), ("OSError", True)])
def test_a_program_that_tries_both_names_is_at_home_in_both(tmp_path, error, told):
    text = "from trl import DPOTrainer\nrest = {'args': None, 'train_dataset': rows}\ntry:\n    trainer = "
    text += f"DPOTrainer(model, processing_class=tok, **rest)\nexcept {error}:\n    trainer = "
    text += "DPOTrainer(model, tokenizer=tok, **rest)\ntrainer.train()\n"
    (tmp_path / "requirements.txt").write_text("trl==1.0.0\n", encoding="utf-8")
    (tmp_path / "dpo.py").write_text(text, encoding="utf-8")
    found = {(one.rule, one.key) for run in loralint.check(tmp_path).runs for one in run.findings}
    assert (("LL103", "DPOTrainer.tokenizer") in found) == told


def test_a_slip_of_an_old_keyword_is_mended_for_the_release(run):
    text = """
        from trl import SFTConfig
        SFTConfig(output_dir="out", max_seq_lenght=1024)
    """
    for version, meant in (("0.12.1", "SFTConfig.max_seq_length"), ("1.16.0", "SFTConfig.max_length")):
        assert observed(run(text, trl=version)[1])["SFTConfig.max_seq_lenght"][2] == meant


def test_an_old_keyword_beside_the_new_one_is_to_go(run):
    _, layer = run("""
        from trl import DPOConfig
        DPOConfig(output_dir="out", max_length=1024, max_prompt_length=512)
    """)
    assert observed(layer)["DPOConfig.max_prompt_length"] == ("removed", "crash", "")


def test_a_class_of_the_program_itself_may_take_anything(run):
    _, layer = run("""
        from dataclasses import dataclass
        import transformers
        from peft import LoraConfig
        @dataclass
        class TrainingArguments(transformers.TrainingArguments):
            special: int = 3
        LoraConfig(r=8)
        TrainingArguments(output_dir="out", special=4)
    """)
    assert observed(layer) == {}


PARSED = """
    from dataclasses import dataclass, field
    import transformers

    @dataclass
    class TrainingArguments(transformers.TrainingArguments):
        lora_r: int = field(default=64)
        {more}

    parser = transformers.HfArgumentParser(TrainingArguments)
    (args,) = parser.{parse}()
    transformers.Trainer(model=model, args=args).train()
"""


@pytest.mark.parametrize("parse", ["parse_args_into_dataclasses", "parse_args"])
def test_fields_of_the_programs_own_arguments_are_its_own(run, parse):
    _, layer = run(PARSED.format(parse=parse, more="optim: str = field(default='adamw_torch')"))
    assert observed(layer) == {}
    assert [one.key for one in layer.values["optim.name"]] == ["TrainingArguments.optim"]


def test_a_keyword_that_no_class_declares_is_not_the_programs_own(run):
    _, layer = run("""
        from dataclasses import dataclass
        from trl import SFTConfig
        @dataclass
        class Arguments(SFTConfig):
            special: int = 3
        Arguments(output_dir="out", special=4, lerning_rate=1e-4)
    """)
    assert list(observed(layer)) == ["SFTConfig.lerning_rate"]


@pytest.mark.parametrize("module", ["mylib.config", ".config", "..config"])
def test_a_class_of_another_module_with_a_librarys_name_may_take_anything(run, module):
    _, layer = run(f"""
        from {module} import TrainingArguments
        from transformers import Trainer
        Trainer(model=model, args=TrainingArguments(output_dir="out", special=4)).train()
    """)
    assert observed(layer) == {}


def test_arguments_that_reach_no_trainer(run):
    _, layer = run("""
        from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
        args = TrainingArguments(output_dir="out", bf16=True)
        Trainer(model=AutoModelForCausalLM.from_pretrained("gpt2"), train_dataset=rows).train()
    """)
    assert observed(layer)["TrainingArguments"] == ("ignored", "changed", "")
    assert "Trainer(args=...)" in str(layer.observations[0].data["advice"])


def test_strings_without_a_comma_and_a_list_that_is_none(run):
    _, layer = run("""
        from peft import LoraConfig
        names = []
        LoraConfig(target_modules=["q_proj" "v_proj", "k_proj"], modules_to_save=names.append("lm_head"))
    """)
    assert {key: found[:2] for key, found in observed(layer).items()} == {
        "LoraConfig.target_modules": ("coerced", "changed"),
        "LoraConfig.modules_to_save": ("coerced", "changed"),
    }


@pytest.mark.parametrize("name", sorted(part("keys-python")["classes"]))
def test_every_listed_class_is_known_and_takes_nothing_that_is_gone(name):
    assert name in CLASSES
    assert not keywords(name) & moved(name).keys()
    for entry in moved(name).values():
        assert entry["when"].startswith(entry["package"] + ">=")


def test_secrets_that_reach_other_calls(run):
    token, key = "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567", "0123456789abcdef" * 2 + "01234567"
    _, layer = run(f"""
        import os
        from huggingface_hub import login
        from peft import LoraConfig
        os.environ["WANDB_API_KEY"] = "{key}"
        login(token="{token}")
        login(token="hf_xxx")
        LoraConfig(r=8)
    """)
    assert [(one.kind, one.value.key, one.value.span.line) for one in layer.observations] == [
        ("secret", "WANDB_API_KEY", 5),
        ("secret", "token", 6),
    ]
    assert not any(secret in repr(layer.observations) for secret in (token, key))


def test_words_that_the_arguments_do_not_take(run):
    _, layer = run("""
        from transformers import TrainingArguments
        TrainingArguments(output_dir="out", optim="adamw_8bits", lr_scheduler_type="cosine_annealing",
                          eval_strategy="step", save_strategy="epochs")
    """)
    assert observed(layer) == {
        "TrainingArguments.optim": ("rejected", "crash", "adamw_8bit"),
        "TrainingArguments.lr_scheduler_type": ("rejected", "crash", ""),
        "TrainingArguments.eval_strategy": ("rejected", "crash", "steps"),
        "TrainingArguments.save_strategy": ("rejected", "crash", "epoch"),
    }


def test_words_that_they_take_and_words_that_nobody_sees(run):
    _, layer = run("""
        import os
        from transformers import SchedulerType, TrainingArguments
        TrainingArguments(output_dir="out", optim="paged_adamw_8bit", lr_scheduler_type=SchedulerType.COSINE,
                          eval_strategy=os.environ["WHEN"], save_strategy="best")
    """)
    assert observed(layer) == {}
    _, own = run("""
        from ours import TrainingArguments
        TrainingArguments(output_dir="out", optim="muon_of_ours")
    """)
    assert observed(own) == {}


def test_preparing_for_few_bits_takes_three_arguments(run):
    _, layer = run("""
        from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
        from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments
        few = BitsAndBytesConfig(load_in_8bit=True)
        model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=few)
        model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True, output_embedding_layer_name="h")
        model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM"))
        Trainer(model=model, args=TrainingArguments(output_dir="out")).train()
    """)
    assert [(one.value.key, one.effect) for one in layer.observations] == [
        ("prepare_model_for_kbit_training.output_embedding_layer_name", "crash")
    ]


@pytest.mark.parametrize(
    ("version", "switch", "expected"),
    [
        ("4.37.2", "load_in_8bit", ("ignored", "lost")),
        ("4.37.2", "load_in_4bit", ("ignored", "harmless")),
        ("4.38.0", "load_in_4bit", ("rejected", "crash")),
    ],
)
def test_a_switch_of_old_beside_its_config(run, version, switch, expected):
    _, layer = run(f"""
        from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments
        config = BitsAndBytesConfig(load_in_4bit=True)
        model = AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=config, {switch}=True)
        Trainer(model=model, args=TrainingArguments(output_dir="out")).train()
    """, transformers=version)  # fmt: skip
    found = [one for one in layer.observations if one.value.key == f"from_pretrained.{switch}"]
    assert [(one.kind, one.effect) for one in found] == [expected]


@pytest.mark.parametrize("version", ["4.40.2", "5.24.0"])
def test_what_goes_by_its_place_has_the_name_that_the_release_gives_it(run, version):
    _, layer = run("""
        from peft import LoraConfig, get_peft_model
        from transformers import Trainer
        class Logging(Trainer):
            def __init__(self, model=None, args=None, collator=None, rows=None, held=None, tokenizer=None):
                super().__init__(model, args, collator, rows, held, tokenizer)
        Trainer(get_peft_model(model, LoraConfig(r=8)), args, collator, rows, held, tokenizer).train()
    """, transformers=version)  # fmt: skip
    assert layer.observations == ()


def test_what_a_keyword_gives_as_well_stands_elsewhere():
    call = "Trainer(config, model, args, train_dataset=rows, data_collator=collator)"
    document = read_bytes(f"from transformers import Trainer\n{call}\n".encode(), "run.py")
    (made,) = read_script(document).calls
    keys = [pair.key for pair in section(document, made, CLASSES["Trainer"]).value.pairs]
    assert keys == ["model", "args", "train_dataset", "data_collator"]


def test_what_a_mapping_of_another_branch_holds_is_given_once(run):
    _, layer = run("""
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
        more = {"revision": "main"}
        if args.whole:
            more["torch_dtype"] = torch.bfloat16
        model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16, **more)
        get_peft_model(model, LoraConfig(r=8))
    """, transformers="4.46.0")  # fmt: skip
    assert layer.observations == ()


def test_a_new_name_is_a_keyword_of_the_same_class():
    """What is to be written instead must be taken by the class, where it is one word."""
    classes = part("keys-python")["classes"]

    def taken(name):
        row = classes.get(name, {})
        return {*row.get("keys", ()), *(taken(row["base"]) if "base" in row else ())}

    for name, row in classes.items():
        told = {entry["to"].partition(":")[0] for entry in row.get("moved", {}).values() if "to" in entry}
        assert {one for one in told if one.isidentifier()} <= taken(name), name


def test_grpo_has_no_length_of_prompts_any_more(run):
    _, layer = run("""
        from trl import GRPOConfig
        GRPOConfig(output_dir="out", max_prompt_length=512)
    """)
    assert observed(layer)["GRPOConfig.max_prompt_length"] == ("removed", "crash", "")
