"""Which objects make a start, what its fields are, and where they stand."""

from __future__ import annotations

import pytest

from loralint.frameworks.python.classes import CLASSES, PREPARING, speaks
from loralint.model import Unknown

SFT = """
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    from peft import LoraConfig, TaskType
    from trl import SFTConfig, SFTTrainer

    RANK = 16
    bnb = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", quantization_config=bnb, device_map="auto")
    lora = LoraConfig(r=RANK, lora_alpha=32, task_type=TaskType.CAUSAL_LM, target_modules=["q_proj", "v_proj"])
    args = SFTConfig("out", learning_rate=3e-4, packing=True, max_length=2048)
    trainer = SFTTrainer(model, args, train_dataset=rows, peft_config=lora)
    trainer.train()
"""


def values(config, *fields):
    return [config.get(field).value for field in fields]


def test_the_fields_of_a_whole_script(run):
    config, layer = run(SFT)
    assert (layer.kind, config.reader.name, config.reader.kin) == ("script", "trl", ("peft",))
    assert values(config, "model.base", "model.class", "dist.device_map") == [
        "Qwen/Qwen2.5-7B", "AutoModelForCausalLM", "auto",
    ]  # fmt: skip
    assert values(config, "adapter.method", "adapter.rank", "adapter.alpha", "adapter.dropout") == ["lora", 16, 32, 0.0]
    assert values(config, "adapter.targets", "adapter.task_type") == [["q_proj", "v_proj"], "CAUSAL_LM"]
    assert values(config, "quant.bits", "quant.method", "quant.type", "quant.double") == [4, "bnb", "nf4", False]
    assert values(config, "quant.compute_dtype", "quant.storage_dtype") == ["bf16", "uint8"]
    assert values(config, "optim.lr", "data.packing", "data.sequence_len", "train.task") == [3e-4, True, 2048, "sft"]
    assert values(config, "checkpoint.output_dir", "precision.bf16", "train.epochs") == ["out", True, 3.0]
    assert layer.observations == ()


def test_a_value_stands_where_it_is_given_and_its_key_names_the_class(run):
    config, _ = run(SFT)
    rank, rate = config.get("adapter.rank"), config.get("optim.lr")
    assert (rank.key, rank.span.line, rank.text) == ("LoraConfig.r", 7, "16")
    assert (rate.key, rate.span.line, rate.text) == ("SFTConfig.learning_rate", 11, "3e-4")
    assert config.get("optim.weight_decay").key == "SFTConfig.weight_decay"
    assert config.write("optim.lr", 1e-4) == ("SFTConfig.learning_rate", 1e-4)


def test_of_several_configs_the_one_that_reaches_the_trainer_counts(run):
    config, _ = run("""
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
        small, large = LoraConfig(r=8), LoraConfig(r=64)
        model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), large)
        other = TrainingArguments(output_dir="a", learning_rate=1e-5)
        Trainer(model=model, args=TrainingArguments(output_dir="b", learning_rate=1e-4), train_dataset=rows).train()
    """)
    assert values(config, "adapter.rank", "optim.lr", "checkpoint.output_dir") == [64, 1e-4, "b"]


def test_each_trainer_is_a_start_of_its_own(read):
    first, second = read("""
        from peft import LoraConfig
        from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer
        SFTTrainer("gpt2", SFTConfig(output_dir="sft"), train_dataset=rows, peft_config=LoraConfig(r=8)).train()
        DPOTrainer("sft", args=DPOConfig(output_dir="dpo"), train_dataset=rows, peft_config=LoraConfig(r=4)).train()
    """)
    keys = [[pair.key for pair in start.document.root.pairs] for start in (first, second)]
    assert sorted(keys[0]) == ["LoraConfig", "SFTConfig", "SFTTrainer"]
    assert sorted(keys[1]) == ["DPOConfig", "DPOTrainer", "LoraConfig"]
    assert first.offset < second.offset
    assert [event.data.get("class") for event in second.events if event.kind == "trainer"] == ["DPOTrainer"]


@pytest.mark.parametrize(
    "text",
    [
        "from transformers import AutoModelForCausalLM\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')",
        "import numpy as np\nprint(np.zeros(3))",
        "from sklearn import Trainer\n",
    ],
)
def test_a_program_without_any_of_it_starts_nothing(read, text):
    assert read(text) == ()


def test_what_a_call_gets_from_elsewhere_is_unknown_with_the_reason(run):
    config, _ = run("""
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
        model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), LoraConfig(r=8, **settings))
    """)
    assert config.get("adapter.rank").value == 8
    alpha = config.get("adapter.alpha").value
    assert isinstance(alpha, Unknown)
    assert "LoraConfig" in alpha.reason


def test_two_configs_of_which_either_may_count_leave_the_method_unknown(run):
    config, _ = run("""
        from peft import LoraConfig
        from trl import SFTTrainer
        if choose():
            lora = LoraConfig(r=8)
        else:
            lora = LoraConfig(r=16)
        SFTTrainer(model="gpt2", train_dataset=rows, peft_config=lora)
    """)
    assert isinstance(config.get("adapter.method").value, Unknown)


def test_a_trainer_without_an_adapter_trains_the_whole_model(run):
    config, _ = run("""
        from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
        model = AutoModelForCausalLM.from_pretrained("gpt2")
        Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows).train()
    """)
    assert config.get("adapter.method").value == "full"
    assert config.get("optim.lr").value == 5e-5


def test_a_model_from_nobody_knows_where_may_have_an_adapter(run):
    config, _ = run("""
        from transformers import Trainer, TrainingArguments
        from models import build
        Trainer(model=build(), args=TrainingArguments(output_dir="out"), train_dataset=rows).train()
    """)
    assert isinstance(config.get("adapter.method").value, Unknown)
    assert isinstance(config.get("quant.bits").value, Unknown)


@pytest.mark.parametrize(("name", "method"), [("IA3Config", "ia3"), ("LoHaConfig", "loha"), ("OFTConfig", "oft")])
def test_other_methods_have_their_own_name_and_no_defaults_of_lora(run, name, method):
    config, _ = run(f"""
        from peft import {name}, get_peft_model
        model = get_peft_model(base, {name}(target_modules=["q_proj"]))
    """)
    assert config.get("adapter.method").value == method
    assert config.get("adapter.alpha").origin == "absent"


@pytest.mark.parametrize(("version", "dtype"), [("4.57.6", "fp32"), ("5.24.0", "auto")])
def test_the_dtype_of_a_model_depends_on_the_release(run, version, dtype):
    config, _ = run("""
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
        model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), LoraConfig(r=8))
    """, transformers=version)  # fmt: skip
    assert config.get("model.dtype").value == dtype


@pytest.mark.parametrize(("version", "dtype"), [("0.5.0", "fp32"), ("0.8.2", "fp16"), ("0.12.0", "fp32")])
def test_the_dtype_of_an_adapter_depends_on_the_release(run, version, dtype):
    config, _ = run("""
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
        model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.half)
        model = get_peft_model(model, LoraConfig(r=8))
    """, peft=version)  # fmt: skip
    assert config.get("adapter.dtype").value == dtype


def test_without_training_in_sight_nothing_blocks(read):
    (start,) = read("from peft import LoraConfig\nconfig = LoraConfig(r=8)")
    assert start.reader.guessed
    (start,) = read("from peft import LoraConfig\nfrom transformers import TrainingArguments\nLoraConfig(r=8)\n"
                    "TrainingArguments(output_dir='out')")  # fmt: skip
    assert not start.reader.guessed


def test_a_trainer_that_only_measures_starts_nothing(read):
    text = ("from peft import PeftModel\nfrom transformers import AutoModelForCausalLM, Trainer, TrainingArguments\n"
            "base = AutoModelForCausalLM.from_pretrained('gpt2')\nmodel = PeftModel.from_pretrained(base, 'adapter')\n"
            "trainer = Trainer(model=model, args=TrainingArguments('out'), eval_dataset=rows)\n")  # fmt: skip
    assert len(read(text)) == 1
    assert len(read(text + "trainer.evaluate()\ntrainer.train()\n")) == 1
    assert read(text + "print(trainer.evaluate())\n") == ()


def test_a_loop_of_its_own(run):
    config, _ = run("""
        import torch
        from accelerate import Accelerator
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM
        accelerator = Accelerator(mixed_precision="bf16")
        model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), LoraConfig(r=8, task_type="CAUSAL_LM"))
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    """)
    fields = ("optim.name", "optim.lr", "optim.weight_decay", "precision.bf16", "precision.fp16", "train.task")
    assert values(config, *fields) == ["adamw_torch", 2e-4, 0.01, True, False, "sft"]
    assert isinstance(config.get("batch.accumulation").value, Unknown)


ASSIGNED = """
    from peft import LoraConfig
    from trl import SFTConfig, SFTTrainer

    args = SFTConfig("out", learning_rate=3e-4, fp16=True)
    args.bf16 = False
    args.learning_rate = 1e-4
    args.notes = "ours"
    if deep:
        args.num_train_epochs = 5
    lora = LoraConfig(r=8)
    lora.r = 32
    trainer = SFTTrainer("Qwen/Qwen2.5-7B", args, train_dataset=rows, peft_config=lora)
    args.weight_decay = 0.1
    args.per_device_train_batch_size = 2
    trainer.train()
"""


def test_what_a_config_is_given_later_counts(run):
    config, layer = run(ASSIGNED)
    rate, rank = config.get("optim.lr"), config.get("adapter.rank")
    assert (rate.value, rate.key, rate.span.line, rate.span.column) == (1e-4, "SFTConfig.learning_rate", 7, 22)
    key = layer.document.root.get("SFTConfig").pair("learning_rate").key_node
    assert (key.line, key.column, key.end_column) == (7, 6, 19)
    assert (rank.value, rank.span.line, config.get("precision.bf16").value) == (32, 12, False)
    assert config.get("train.epochs").value == Unknown("`num_train_epochs` is set in a branch")
    assert config.get("optim.weight_decay").value == 0.1  # read when it trains
    why = "`per_device_train_batch_size` is set when it is already in use"
    assert config.get("batch.micro").value == Unknown(why)
    assert layer.observations == ()


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_program_that_names_what_makes_a_start_is_read(name):
    starting = CLASSES[name].role == "trainer" or CLASSES[name].role in PREPARING
    assert speaks(f"import peft\npeft.{name}(1)\n") is starting


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("from peft import PeftModelForCausalLM as M", True),
        ("FastVisionModel.get_peft_model(model)", True),
        ("class PeftLoader:\n    # loads LoRA weights of the Trainers", False),
    ],
)
def test_a_program_that_only_speaks_about_adapters_is_not_read(text, answer):
    assert speaks(text) is answer


@pytest.mark.parametrize(("pin", "origin"), [("1.16.0", "set"), ("0.17.0", "set"), ("0.16.0", "absent")])
def test_no_length_means_that_no_row_is_cut(run, pin, origin):
    """TRL's own default of 1,024 is for an absent key; None says that rows stay whole."""
    config, _ = run("""
        from trl import SFTConfig, SFTTrainer
        SFTTrainer("gpt2", SFTConfig("out", max_length=None), train_dataset=rows)
    """, trl=pin)  # fmt: skip
    value = config.get("data.sequence_len")
    assert (value.value, value.origin) == (None, origin)


def test_a_call_that_loads_model_and_adapter_stands_once(run):
    """`AutoPeftModel` is both the load and the saved adapter of a start."""
    config, layer = run("""
        from peft import AutoPeftModelForCausalLM, LoraConfig
        from trl import DPOConfig, DPOTrainer
        model = AutoPeftModelForCausalLM.from_pretrained("sft").merge_and_unload()
        DPOTrainer(model=model, train_dataset=rows, peft_config=LoraConfig(r=16), args=DPOConfig("dpo"))
    """)
    assert config.get("model.base").value == "sft"
    assert layer.observations == ()


LOOP = """
    import torch
    from accelerate import Accelerator
    from peft import LoraConfig, get_peft_model
    from torch.utils.data import DataLoader
    from transformers import AutoModelForCausalLM
    SIZE = 4
    model = get_peft_model(AutoModelForCausalLM.from_pretrained("gpt2"), LoraConfig(r=8))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
"""


@pytest.mark.parametrize(
    ("loaders", "size"),
    [
        ("DataLoader(rows, batch_size=SIZE)", 4),
        ("DataLoader(rows, 2, shuffle=True)", 2),
        ("DataLoader(rows)", 1),
        ("DataLoader(rows, batch_size=None)", "the rows come in batches already"),
        ("DataLoader(rows, batch_sampler=sampler)", "the script does not show what puts its rows into batches"),
        (
            "DataLoader(rows, 4), DataLoader(held_out, 8)",
            "`DataLoader`: the script makes 2 of them, and which one counts",
        ),
        ("batches(rows)", "the script does not show what puts its rows into batches"),
    ],
)
def test_a_loop_of_its_own_has_the_batches_of_its_only_loader(run, loaders, size):
    value = run(LOOP + f"    loaders = {loaders}\n")[0].get("batch.micro").value
    assert value == size if isinstance(size, int) else value.reason.startswith(size)


def test_a_program_that_speaks_of_a_template_may_set_one(run):
    assert run(SFT)[0].get("data.template").value is None
    spoken = SFT + '    tokenizer.chat_template = open("own.jinja").read()\n'
    assert isinstance(run(spoken)[0].get("data.template").value, Unknown)


@pytest.mark.parametrize("name", ["SentenceTransformer", "CrossEncoder"])
def test_a_model_of_sentence_transformers_is_loaded_where_it_is_made(run, name):
    config, layer = run(f"""
        from peft import LoraConfig
        from sentence_transformers import {name}
        model = {name}("answerdotai/ModernBERT-base", model_kwargs={{}})
        model.add_adapter(LoraConfig(r=16, target_modules=["Wqkv"]))
    """)
    base = config.get("model.base")
    assert (base.value, base.key, base.span.line) == ("answerdotai/ModernBERT-base", f"{name}.model_name_or_path", 4)
    assert values(config, "adapter.method", "adapter.targets") == ["lora", ["Wqkv"]]
    assert isinstance(config.get("quant.bits").value, Unknown)
    assert [(one.kind, one.data.get("classifier")) for one in layer.events] == [
        ("load", name == "CrossEncoder"), ("wrap", None),
    ]  # fmt: skip


def test_without_more_arguments_nothing_quantises_it(run):
    config, _ = run("""
        from peft import LoraConfig
        from sentence_transformers import SentenceTransformer
        SentenceTransformer("answerdotai/ModernBERT-base").add_adapter(LoraConfig(r=16))
    """)
    assert config.get("quant.bits").value == 16


ADDED = """
    import torch
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
    model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype=torch.float16)
    lora = LoraConfig(r=16, target_modules=["q_proj"])
    {put}
    Trainer(model=model, args=TrainingArguments(output_dir="out"), train_dataset=rows).train()
"""


@pytest.mark.parametrize("put", ["model.add_adapter(lora)", 'model.add_adapter(adapter_config=lora, adapter_name="a")'])
def test_an_adapter_that_the_models_own_method_puts_in(run, put):
    config, _ = run(ADDED.format(put=put), transformers="4.57.6")
    assert values(config, "adapter.method", "adapter.rank", "adapter.targets") == ["lora", 16, ["q_proj"]]
    assert config.get("adapter.dtype").value == "fp16"  # that of the model, which PEFT's own functions change


def test_an_adapter_that_is_put_in_only_in_a_branch_is_not_counted_on(run):
    config, _ = run(ADDED.format(put="if flag: model.add_adapter(lora)"))
    assert isinstance(config.get("adapter.method").value, Unknown)


def test_trl_casts_an_adapter_only_over_a_base_that_is_quantised(run):
    """A model that another file loads may be quantised or not; TRL 1.5 looks at `is_loaded_in_4bit`."""
    config, _ = run("""
        from peft import LoraConfig
        from trl import GRPOConfig, GRPOTrainer
        from ours import model
        args = GRPOConfig(output_dir="o", learning_rate=1e-5)
        GRPOTrainer(model=model, args=args, peft_config=LoraConfig(r=8)).train()
    """)  # fmt: skip
    assert isinstance(config.get("adapter.dtype").value, Unknown)
