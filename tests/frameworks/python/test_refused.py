"""What a trainer, a collator or a program cannot use: where it is told, and where it is not."""

from __future__ import annotations

import pytest

WRAPPED = """
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    {first}
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    {wrap}
    trainer = Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows{more})
    trainer.train()
    {last}
"""
OWN = """
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    class Own(Trainer):
        def {method}:
            return 0
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    Own(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows).train()
"""
PADDED = """
    from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorWithPadding, Trainer, TrainingArguments
    tokenizer = AutoTokenizer.from_pretrained("{name}")
    {chosen}
    model = AutoModelForCausalLM.from_pretrained("{name}")
    Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows,
            data_collator=DataCollatorWithPadding(tokenizer)).train()
"""


def kinds(layer):
    return [one.kind for one in layer.observations]


def wrapped(wrap, *, first="", more="", last=""):
    return WRAPPED.format(first=first, wrap=wrap, more=more, last=last)


def test_the_model_from_before_it_was_wrapped(run):
    _, layer = run(wrapped("lora = get_peft_model(model, LoraConfig())"))
    assert kinds(layer) == ["model-unwrapped"]


@pytest.mark.parametrize(
    "script",
    [
        wrapped("model = get_peft_model(model, LoraConfig())"),
        wrapped("lora = get_peft_model(model, LoraConfig())", last='lora.save_pretrained("out")'),
        wrapped("model.inner = get_peft_model(model, LoraConfig())"),
    ],
)
def test_a_wrapped_model_that_is_kept_or_saved(run, script):
    _, layer = run(script)
    assert kinds(layer) == []


@pytest.mark.parametrize(
    ("method", "pins", "found"),
    [
        ("compute_loss(self, model, inputs, return_outputs=False)", {}, True),
        ("compute_loss(self, model, inputs, return_outputs=False)", {"transformers": "4.45.2"}, False),
        ("compute_loss(self, model, inputs, return_outputs=False, **kwargs)", {}, False),
        ("compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None)", {}, False),
        ("training_step(self, model, inputs)", {}, True),
        ("training_step(self, model, inputs, items=None)", {}, False),
        ("log(self, logs)", {}, True),
        ("_get_train_sampler(self)", {"transformers": "4.51.3"}, False),
        ("_get_train_sampler(self)", {}, True),
        ("get_train_dataloader(self): ...\n    def _get_train_sampler(self)", {}, False),
    ],
)
def test_methods_that_do_not_take_what_the_trainer_hands_them(run, method, pins, found):
    _, layer = run(OWN.format(method=method), **pins)
    assert kinds(layer) == (["override-takes"] if found else [])


@pytest.mark.parametrize(
    ("name", "chosen", "found"),
    [
        ("openai-community/gpt2", "", True),
        ("mistralai/Mistral-7B-v0.1", "", True),
        ("mistralai/Mistral-7B-Instruct-v0.3", "", False),  # may be read by Mistral's own library, which pads
        ("EleutherAI/pythia-1b", "", False),  # Transformers 5 has a token for it
        ("openai-community/gpt2", "tokenizer.pad_token = tokenizer.eos_token", False),
        ("openai-community/gpt2", "tokenizer = AutoTokenizer.from_pretrained('distilbert/distilbert-base')", False),
        ("openai-community/gpt2", "second = AutoTokenizer.from_pretrained(second_name)", False),
    ],
)
def test_a_tokenizer_without_a_token_for_padding(run, name, chosen, found):
    _, layer = run(PADDED.format(name=name, chosen=chosen))
    assert kinds(layer) == (["padding-missing"] if found else [])


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("from transformers import Trainer\nTrainer(args=TrainingArguments(output_dir='out'))", ["Trainer.model"]),
        ("from lightning import Trainer\nTrainer(max_epochs=3)", []),
        ("from transformers import Trainer\nTrainer(model_init=make, args=TrainingArguments(output_dir='out'))", []),
        (
            "from trl import PPOConfig, PPOTrainer\nPPOTrainer(PPOConfig(), model, None, tokenizer)",
            ["PPOTrainer.reward_model"],
        ),
        (
            "from trl import PPOConfig, PPOTrainer\nPPOTrainer(args=PPOConfig(), model=model, reward_model=judge)",
            [],
        ),
    ],
)
def test_trainers_without_what_they_need(run, made, found):
    head = "from peft import LoraConfig\nfrom transformers import TrainingArguments\nLoraConfig(r=8)\n"
    _, layer = run(head + made, trl="0.13.0")
    assert [one.value.key for one in layer.observations if one.kind == "rejected"] == found
