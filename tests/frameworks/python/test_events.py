"""What a script does, in its order, and to which object."""

from __future__ import annotations

import pytest

import loralint

HEAD = """
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, DataCollatorForLanguageModeling
    from peft import LoraConfig, PeftModel, get_peft_model, prepare_model_for_kbit_training
    from trl import SFTTrainer
"""


def told(read, body):
    (start,) = read(HEAD + body)
    return [event for event in start.events if event.kind != "set-attribute"]


def kinds(read, body):
    return [event.kind for event in told(read, body)]


def test_a_model_is_one_object_through_everything_that_wraps_it(read):
    events = told(read, """
    model = AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=BitsAndBytesConfig(load_in_8bit=True))
    model = prepare_model_for_kbit_training(model.to("cuda"))
    peft_model = get_peft_model(model, LoraConfig(r=8), adapter_name="law")
    trainer = SFTTrainer(model=peft_model, train_dataset=rows)
    trainer.train()
    merged = trainer.model.merge_and_unload()
    """)  # fmt: skip
    assert [event.kind for event in events] == ["load", "move", "prepare", "wrap", "trainer", "train", "merge"]
    load, move, prepare, wrap, trainer = events[:5]
    assert load.on == move.on == prepare.on == wrap.on
    assert set(load.on) < set(trainer.on)
    assert (load.data["bits"], wrap.data["named"]) == (8, True)
    assert (trainer.data["wrapped"], trainer.data["has_peft_config"], trainer.data["trl"]) == (True, False, True)
    assert wrap.value.span.line == 8


def test_two_models_are_two_objects(read):
    first, second = told(read, """
    one, two = AutoModelForCausalLM.from_pretrained("gpt2"), AutoModelForCausalLM.from_pretrained("gpt2")
    lora = LoraConfig(r=8)
    """)  # fmt: skip
    assert set(first.on).isdisjoint(second.on)


def test_whether_a_config_reaches_a_trainer_is_unknown_where_a_function_makes_it(read):
    (trainer,) = told(read, "    SFTTrainer(model='gpt2', train_dataset=rows, peft_config=make())\n")
    assert trainer.data["has_peft_config"] is None


def test_what_is_done_to_tokenizers(read):
    events = told(read, """
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    tokenizer.add_tokens(["<call>"])
    tokenizer.eos_token = "<|im_end|>"
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    lora = LoraConfig(r=8)
    """)  # fmt: skip
    assert [event.kind for event in events] == [
        "load-tokenizer", "set-pad", "set-pad", "add-tokens", "add-tokens", "set-eos", "collator",
    ]  # fmt: skip
    assert [event.data["is_eos"] for event in events if event.kind == "set-pad"] == [True, False]
    assert [event.data["only_pad"] for event in events if event.kind == "add-tokens"] == [True, False]
    assert len({event.on for event in events}) == 1


def test_rows_whose_tokenizer_sees_no_end_token(read):
    body = """
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    rows = tokenizer(text{more})
    lora = LoraConfig(r=8)
    """
    ends = [told(read, body.format(more=more))[1].data["ends"] for more in ("", " + tokenizer.eos_token")]
    assert ends == [False, True]


def test_a_mode_is_no_training_and_a_branch_is_not_sure(read):
    events = told(read, """
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    if choose():
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model = get_peft_model(model, LoraConfig(r=8))
    model.train()
    """)  # fmt: skip
    assert [(event.kind, event.sure) for event in events] == [("load", True), ("checkpointing", False), ("wrap", True)]
    assert events[1].data["reentrant"] is False


def test_a_saved_adapter_is_frozen_unless_told_otherwise(read):
    body = "    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained('gpt2'), 'out'{more})\n    "
    found = [told(read, body.format(more=more))[1] for more in ("", ", is_trainable=True")]
    assert [event.data["trainable"] for event in found] == [False, True]


FREEZING = """\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from peft import LoraConfig, get_peft_model
model = AutoModelForCausalLM.from_pretrained("m")
{}
model = get_peft_model(model, LoraConfig(r=8, target_modules="all-linear"))
{}
Trainer(model, TrainingArguments(output_dir="o"), train_dataset=rows).train()
"""
LOOP = "for {} in model.{}():\n    {}"


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("", LOOP.format("p", "parameters", "p.requires_grad = False"), True),
        ("", LOOP.format("n, p", "named_parameters", "p.requires_grad_(False)"), True),
        ("", "model.requires_grad_(False)", True),
        ("", LOOP.format("p", "base_model.parameters", "p.requires_grad = False"), True),  # the adapter is inside
        ("", LOOP.format("n, p", "named_parameters", "if 'lora' not in n: p.requires_grad = False"), False),
        ("", LOOP.format("n, p", "named_parameters", "p.requires_grad = 'lora' in n"), False),
        ("", LOOP.format("p", "vision_tower.parameters", "p.requires_grad = False"), False),
        ("", "model.requires_grad_(False)\nmodel.set_adapter('default')", False),
        (LOOP.format("p", "parameters", "p.requires_grad = False"), "", False),
    ],
)
def test_an_adapter_is_frozen_by_hand(tmp_path, before, after, found):
    (tmp_path / "train.py").write_text(FREEZING.format(before, after), encoding="utf-8")
    (run,) = loralint.check(tmp_path / "train.py").runs
    assert [(one.rule, one.tier) for one in run.findings if one.rule == "LL932"] == ([("LL932", "S")] if found else [])


def test_a_collator_of_another_trainer_is_not_this_ones(tmp_path):
    (tmp_path / "train.py").write_text(
        "from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer\n"
        "from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments\n"
        "args = TrainingArguments(output_dir='out', learning_rate=1e-4)\n"
        "model = AutoModelForCausalLM.from_pretrained('distilgpt2')\n"
        "Trainer(model=model, args=args, train_dataset=rows).train()\n"
        "tokenizer = AutoTokenizer.from_pretrained('roberta-base')\n"
        "collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)\n"
        "model = AutoModelForMaskedLM.from_pretrained('roberta-base')\n"
        "Trainer(model=model, args=args, train_dataset=rows, data_collator=collator).train()\n",
        encoding="utf-8",
    )
    runs = loralint.check(tmp_path / "train.py").runs
    assert len(runs) == 2
    assert [one.rule for run in runs for one in run.findings if one.rule == "LL950"] == []


def test_a_loop_that_keeps_what_merging_gives_back_may_save_it(tmp_path):
    program = (
        "from transformers import AutoModelForCausalLM\nfrom peft import PeftModel\n"
        "model = AutoModelForCausalLM.from_pretrained('gpt2')\n"
        "for one in ('a', 'b'):\n    model = PeftModel.from_pretrained(model, one)\n    {}model.merge_and_unload()\n"
        "model.save_pretrained('out')\n"
    )
    for kept, found in (("model = ", []), ("", ["LL954"])):
        (tmp_path / "merge.py").write_text(program.format(kept), encoding="utf-8")
        (run,) = loralint.check(tmp_path / "merge.py").runs
        assert [one.rule for one in run.findings if one.rule == "LL954"] == found


def test_a_config_of_the_branch_without_an_adapter_is_not_put_on_for_sure(read):
    """Unsloth makes the adapter in one branch, and the trainer gets a config in the other (LLM-Workshop)."""
    events = told(read, """
    peft_config = None
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    if not args.use_unsloth:
        peft_config = LoraConfig(r=8)
    if args.use_unsloth:
        model = get_peft_model(model, LoraConfig(r=8))
    SFTTrainer(model=model, train_dataset=rows, peft_config=peft_config).train()
    """)  # fmt: skip
    assert [event.sure for event in events if event.kind in ("wrap", "trainer-wrap")].count(True) == 0
