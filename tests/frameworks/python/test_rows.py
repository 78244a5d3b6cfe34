"""Whether the rows of a trainer may have labels, and what makes its batches."""

from __future__ import annotations

import pytest

from loralint.model import Unknown

HEAD = """
    from datasets import load_dataset
    from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorWithPadding, Trainer
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    rows = load_dataset("json", data_files="a.jsonl", split="train")
"""


@pytest.mark.parametrize(
    ("target", "name", "paired", "held"),
    [
        ("model", "unsloth/Qwen2.5-7B", True, False),
        ("model, tokenizer", "unsloth/Qwen2.5-7B", False, False),
        ("model, tokenizer", "/out/checkpoint-20", False, True),
        ("model, tokenizer", "me/qwen-lora", False, True),
    ],
)
def test_what_unsloth_gives_back(read, target, name, paired, held):
    load = f"{target} = FastLanguageModel.from_pretrained({name!r}, load_in_4bit=True)"
    (start,) = read(f"""
    from unsloth import FastLanguageModel
    from trl import SFTTrainer
    {load}
    SFTTrainer(model=model, train_dataset=rows).train()
    """)
    (one,) = [event for event in start.events if event.kind == "trainer"]
    assert one.data["paired"] is paired
    method = next(row.default for row in start.reader.table if row.field == "adapter.method" and not row.key)
    assert isinstance(method, Unknown) is held


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("t = Trainer(model=model, train_dataset=rows.map(lambda x: tokenizer(x['text'])))", ("", False)),
        (
            (
                "t = Trainer(model=model, train_dataset=rows.map(lambda x: tokenizer(x['text'])),"
                " data_collator=DataCollatorWithPadding(tokenizer))"
            ),
            ("DataCollatorWithPadding", False),
        ),
        ("t = Trainer(model=model, train_dataset=rows.map(lambda x: {'labels': tokenizer(x['text'])}))", ("", True)),
        ("t = Trainer(model=model, train_dataset=rows)", ("", None)),
        ("t = Trainer(model=model, train_dataset=rows.map(fill))", ("", None)),
        ("t = Trainer(model=model, train_dataset=mine(tokenizer('a')), data_collator=make())", ("make", None)),
        ("t = Trainer(model=model, **more)", (None, None)),
    ],
)
def test_what_an_event_says(read, body, wanted):
    (start,) = read(f"{HEAD}\n    {body}\n")
    (one,) = [event for event in start.events if event.kind == "trainer"]
    assert (one.data["collator"], one.data["labelled"]) == wanted
