"""Rows that a trainer cannot make batches of: where it is told, and where it is not."""

from __future__ import annotations

import pytest

FRAME = """
    import pandas as pd
    from sklearn.model_selection import train_test_split
    from datasets import Dataset
    from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments
    frame = pd.read_csv("rows.csv")
    train, test = train_test_split(frame, test_size=0.2)
    model = AutoModelForSequenceClassification.from_pretrained("roberta-base")
    Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset={rows}).train()
"""
COPIED = """
    from datasets import load_dataset
    from transformers import (AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling,
                              DataCollatorForSeq2Seq, Trainer, TrainingArguments)
    tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B")
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B")
    def encode(row):
        made = tokenizer(row["text"]{how})
        made["labels"] = made["input_ids"].copy()
        return made
    rows = load_dataset("json", data_files="rows.jsonl", split="train").map(encode)
    Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows{collator}).train()
"""
TUNED = """
    from datasets import load_dataset
    from transformers import AutoTokenizer, DataCollatorForLanguageModeling, DataCollatorForSeq2Seq
    from trl import SFTConfig, SFTTrainer
    tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B")
    rows = load_dataset("json", data_files="rows.jsonl", split="train")
    def several(row):
        texts = []
        for one in row["q"]:
            texts.append(one)
        return texts
    def single(row):
        texts = []
        texts.append(row["q"])
        return "".join(texts)
    def raw(rows):
        return tokenizer([row["{column}"] for row in rows], return_tensors="pt")
    args = SFTConfig(output_dir="out"{args})
    SFTTrainer(model="Qwen/Qwen2.5-7B", args=args, train_dataset=rows, {more}).train()
"""


def kinds(run, source, **target):
    found = {"rows-of-pandas", "labels-uneven", "labels-added", "texts-left", "format-gives-list", "rows-read-raw"}
    return [one.kind for one in run(source, **target)[1].observations if one.kind in found]


@pytest.mark.parametrize("rows", ["frame", "train", "frame.sample(frac=1).reset_index()", "frame.dropna().head(100)"])
def test_a_frame_is_no_rows(run, rows):
    assert kinds(run, FRAME.format(rows=rows)) == ["rows-of-pandas"]


@pytest.mark.parametrize(
    "rows", ["Dataset.from_pandas(train)", 'frame["text"]', "frame.to_dict('records')", "Rows(frame)", "unknown"]
)
def test_what_is_made_of_a_frame_may_be_rows(run, rows):
    assert kinds(run, FRAME.format(rows=rows)) == []


@pytest.mark.parametrize(
    ("how", "collator", "told"),
    [
        ("", "", True),
        (", padding=False", ", data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)", True),
        (", padding=True", "", False),
        ("", ", data_collator=DataCollatorForSeq2Seq(tokenizer)", False),
        ("", ", data_collator=own", False),
    ],
)
def test_labels_of_many_lengths(run, how, collator, told):
    assert kinds(run, COPIED.format(how=how, collator=collator)) == ["labels-uneven"] * told


LANGUAGE = "data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)"


@pytest.mark.parametrize(
    ("args", "more", "found"),
    [
        ("", "formatting_func=several", ["format-gives-list"]),
        ("", "formatting_func=single", []),
        ("", "formatting_func=several, tokenizer=tokenizer", []),
        ("", LANGUAGE, ["labels-added"]),
        ("", "data_collator=DataCollatorForSeq2Seq(tokenizer)", []),
        (", remove_unused_columns=False", LANGUAGE, ["labels-added", "texts-left"]),
        (", remove_unused_columns=False, packing=True", LANGUAGE, []),
        ("", "data_collator=raw", ["rows-read-raw"]),
        (", remove_unused_columns=False", "data_collator=raw", []),
    ],
)
def test_what_sft_trainer_makes_of_rows(run, args, more, found):
    assert kinds(run, TUNED.format(args=args, more=more, column="q")) == found


@pytest.mark.parametrize(("column", "told"), [("messages", False), ("images", False), ("question", True)])
def test_columns_that_newer_releases_keep(run, column, told):
    assert kinds(run, TUNED.format(args="", more="data_collator=raw", column=column)) == ["rows-read-raw"] * told
