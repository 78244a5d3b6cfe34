"""What a program makes of a model after it was loaded, and what it takes that its releases no longer have."""

from __future__ import annotations

import pytest

HEAD = """
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig, DataCollatorForLanguageModeling
    from peft import LoraConfig, PeftModel, get_peft_model
    from trl import ORPOTrainer, SFTTrainer
    model = AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=BitsAndBytesConfig(load_in_8bit=True))
"""


def of_kind(read, kind, body):
    (start,) = read(HEAD + body)
    return [event.data for event in start.events if event.kind == kind]


def test_a_cast_says_what_is_cast_and_whether_an_adapter_is_on_it(read):
    body = """
    model.half()
    model = get_peft_model(model, LoraConfig(r=8))
    model.to(torch.bfloat16)
    """
    assert of_kind(read, "cast", body) == [
        {"dtype": "fp16", "bits": 8, "wrapped": False},
        {"dtype": "bf16", "bits": 8, "wrapped": True},
    ]


def test_batches_are_no_models_and_a_device_is_no_cast(read):
    body = """
    batch = collate(rows).to("cuda")
    model.to("cuda")
    model = get_peft_model(model, LoraConfig(r=8))
    """
    assert of_kind(read, "move", body) == [{"bits": 8, "wrapped": False}]
    assert of_kind(read, "cast", body) == []


@pytest.mark.parametrize(
    ("saved", "merged"),
    [("model.merge_and_unload()\n    model", False), ("model = model.merge_and_unload()\n    model", True)],
)
def test_what_merging_gives_back_is_told_from_what_it_leaves(read, saved, merged):
    body = f"""
    model = PeftModel.from_pretrained(model, "adapter")
    {saved}.save_pretrained("out")
    """
    assert of_kind(read, "save", body) == [{"bare": False, "merged": merged}]


@pytest.mark.parametrize(
    ("arguments", "fills"),
    [("tok", True), ("tok, mlm=False", False), ("tok, False", False), ("tok, mlm=flag()", None), ("**given()", None)],
)
def test_tokens_are_hidden_unless_that_is_switched_off(read, arguments, fills):
    body = f"""
    model = get_peft_model(model, LoraConfig(r=8))
    collator = DataCollatorForLanguageModeling({arguments})
    """
    assert [one["fills"] for one in of_kind(read, "collator", body)] == [fills]


def test_a_name_that_is_gone_is_told_once_and_only_of_releases_without_it(run):
    body = """
    from peft import LoraConfig, get_peft_model, prepare_model_for_int8_training as prepare
    model = get_peft_model(prepare(prepare(load())), LoraConfig(r=8))
    """
    gone = [one for one in run(body, peft="0.10.0")[1].observations if one.kind == "removed"]
    assert [(one.value.key, one.effect, one.package) for one in gone] == [
        ("prepare_model_for_int8_training", "crash", "peft")
    ]
    assert gone[0].value.span.line == 3
    assert not [one for one in run(body, peft="0.9.0")[1].observations if one.kind == "removed"]


def test_an_import_that_may_fail_is_left_alone(run):
    body = """
    try:
        from peft import prepare_model_for_int8_training as prepare
    except ImportError:
        from peft import prepare_model_for_kbit_training as prepare
    from peft import LoraConfig, get_peft_model
    model = get_peft_model(prepare(load()), LoraConfig(r=8))
    """
    assert not [one for one in run(body)[1].observations if one.kind == "removed"]


@pytest.mark.parametrize(
    ("template", "marks", "differs"),
    [
        ("llama-3.1", "<|im_start|>assistant", True),
        ("chatml", "<|im_start|>assistant", False),
        ("of-my-own", "<|im_start|>assistant", None),
        ("llama-3.1", "### Answer:", None),
    ],
)
def test_marks_are_held_against_the_template_where_both_are_certain(read, template, marks, differs):
    body = f"""
    trainer = SFTTrainer(model=model, train_dataset=rows)
    tokenizer = get_chat_template(tokenizer, chat_template="{template}")
    trainer = train_on_responses_only(trainer, response_part="{marks}")
    """
    assert [one["differs"] for one in of_kind(read, "mask-prompts", body)] == [differs]


@pytest.mark.parametrize(
    ("given", "empty"), [('{"pad_token": "<unk>"}', True), ('{"pad_token": "[PAD]"}', False), ("{}", True)]
)
def test_a_token_that_is_there_already_is_not_added(read, given, empty):
    body = f"""
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.add_special_tokens({given})
    model = get_peft_model(model, LoraConfig(r=8))
    """
    assert [one["empty"] for one in of_kind(read, "add-tokens", body)] == [empty]


@pytest.mark.parametrize(
    ("more", "padded"), [("", False), (", pad_token_id=2", True), (", config=made", True), (", **more()", None)]
)
def test_a_model_may_be_told_its_padding_when_it_is_loaded(read, more, padded):
    body = f"""
    other = AutoModelForCausalLM.from_pretrained("gpt2"{more})
    model = get_peft_model(other, LoraConfig(r=8))
    """
    assert of_kind(read, "load", body)[-1]["padded"] is padded


@pytest.mark.parametrize(
    ("moved", "bits"),
    [("model.to(0)", 4), ("if cfg.whole:\n        model.to(0)", None)],
)
def test_what_is_moved_in_one_branch_may_be_quantised_in_another(read, moved, bits):
    (start,) = read(f"""
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    config = None
    if cfg.quantise:
        config = BitsAndBytesConfig(load_in_4bit=True)
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=config)
    {moved}
    get_peft_model(model, LoraConfig(r=8))
    """)
    assert [event.data["bits"] for event in start.events if event.kind == "move"] == [bits]


@pytest.mark.parametrize(
    ("other", "headed"), [("AutoModelForCausalLM", None), ("AutoModelForCausalLMWithValueHead", None), ("Bert", True)]
)
def test_the_head_of_a_classifier_beside_a_model_that_writes_is_nobodys(read, other, headed):
    body = f"""
    judge = AutoModelForSequenceClassification.from_pretrained("org/judge", num_labels=1)
    writer = {other}.from_pretrained("gpt2")
    model = get_peft_model(judge, LoraConfig(r=8))
    """
    (start,) = read("\n    from peft import LoraConfig, get_peft_model" + body)
    loads = {event.data["class"]: event.data["headed"] for event in start.events if event.kind == "load"}
    assert loads["AutoModelForSequenceClassification"] is headed


@pytest.mark.parametrize(
    ("reference", "given"),
    [
        ("other", True),
        ("None", False),
        ("None if cfg.use_peft else copy(other)", None),
        ("copy(other) if cfg.whole else None", None),
    ],
)
def test_a_reference_model_under_a_condition(read, reference, given):
    body = f"""
    from trl import DPOTrainer
    DPOTrainer(model=model, ref_model={reference}, peft_config=LoraConfig(r=8)).train()
    """
    (data,) = of_kind(read, "trainer", body)
    assert data["has_ref_model"] is given


@pytest.mark.parametrize(
    ("handed", "seen"),
    [
        ("SFTTrainer(model=model, train_dataset=rows)", 0),
        ("SFTTrainer(model=model, train_dataset=rows, data_collator=collator)", 1),
        ("SFTTrainer(model=model, train_dataset=rows, data_collator=collator if cfg.own else None)", 1),
        ("SFTTrainer(**given())", 1),
        ("loop(collator)", 1),
    ],
)
def test_a_collator_that_no_trainer_gets_collates_nothing(read, handed, seen):
    body = f"""
    collator = DataCollatorForLanguageModeling(tok, mlm=False)
    {handed}
    get_peft_model(model, LoraConfig(r=8))
    """
    assert len(of_kind(read, "collator", body)) == seen
