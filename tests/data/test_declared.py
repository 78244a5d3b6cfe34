from __future__ import annotations

import json
from pathlib import Path

import pytest

from loralint.data.declared import declared
from loralint.data.shape import chat, instruct, preference, text
from loralint.run.assemble import assemble
from loralint.run.options import Options
from loralint.source.read import read_file

AXOLOTL = "base_model: a/b\nadapter: lora\nlora_r: 16\nmicro_batch_size: 1\nlearning_rate: 0.0002\n"
LLAMAFACTORY = (
    "model_name_or_path: a/b\nstage: sft\ndo_train: true\nfinetuning_type: lora\nlora_target: all\ntemplate: qwen\n"
    "cutoff_len: 64\nlearning_rate: 1.0e-4\noutput_dir: out\n"
)
TRL = "model_name_or_path: a/b\nuse_peft: true\nlora_r: 16\nlearning_rate: 2.0e-4\noutput_dir: out\n"


@pytest.fixture
def said(tmp_path, monkeypatch):
    """said(config, file) -> what the config says of this file of rows."""
    monkeypatch.chdir(tmp_path)

    def run(config: str, file: str = "train.jsonl", **given):
        Path("config.yaml").write_text(config)
        found = assemble(read_file("config.yaml", "config.yaml"), Options(**given))
        assert found is not None
        return declared(found.config, file)

    return run


@pytest.mark.parametrize(
    ("entry", "shape"),
    [
        ("type: alpaca", instruct("instruction", "output", "input")),
        ("type: alpaca:chat", instruct("instruction", "output", "input")),
        ("type: gpteacher", instruct("instruction", "response", "input")),
        ("type: completion", text("text")),
        ("type: completion\n    field: body", text("body")),
        ("type: chat_template", chat("messages", "role", "content")),
        (
            "type: chat_template\n    field_messages: t\n    message_property_mappings: {role: from, content: value}",
            chat("t", "from", "value"),
        ),
        (
            "type: chat_template\n    message_field_role: from\n    message_field_content: value",
            chat("messages", "from", "value"),
        ),
        (
            "type: chat_template\n    roles: {user: [client], assistant: [agent]}",
            chat(
                "messages",
                "role",
                "content",
                {"client": "user", "user": "user", "agent": "assistant", "assistant": "assistant"},
            ),
        ),
    ],
)
def test_axolotl(said, entry, shape):
    found = said(f"{AXOLOTL}datasets:\n  - path: train.jsonl\n    {entry}\n")
    assert found.shapes == (shape,)
    assert found.certain


def test_axolotl_fields_of_the_users_own(said):
    kind = "type:\n      field_instruction: ask\n      field_output: say\n      format: '{instruction}'"
    found = said(f"{AXOLOTL}datasets:\n  - path: train.jsonl\n    {kind}\n")
    assert (found.shapes[0].prompt[0], found.shapes[0].answer, found.shapes[0].needs) == ("ask", "say", ("ask",))


def test_axolotl_goes_by_the_name_of_the_file(said):
    config = (
        f"{AXOLOTL}datasets:\n  - path: data/one.jsonl\n    type: alpaca\n"
        "  - path: json\n    data_files: [two.jsonl]\n    type: chat_template\n"
    )
    assert said(config, "one.jsonl").shapes[0].kind == "instruct"
    assert said(config, "rows/two.jsonl").shapes[0].kind == "chat"
    assert said(config, "three.jsonl").shapes == ()


@pytest.mark.parametrize("entry", ["type: my_module.own", "type: input_output", "ds_type: json", "type: null"])
def test_axolotl_of_which_nothing_is_known(said, entry):
    assert said(f"{AXOLOTL}datasets:\n  - path: train.jsonl\n    {entry}\n").shapes == ()


def _info(folder: str, entry: dict) -> None:
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "dataset_info.json").write_text(json.dumps({"mine": entry}))


def test_llamafactory_without_its_list_tells_nothing(said):
    assert said(LLAMAFACTORY + "dataset: mine\n").shapes == ()


def test_llamafactory_usual_columns(said):
    _info("data", {"file_name": "train.jsonl"})
    found = said(LLAMAFACTORY + "dataset: mine\n")
    usual = instruct("instruction", "output", "input")
    # the column of the query is looked up whether or not it holds anything
    assert found.shapes == (usual._replace(needs=("instruction", "output", "input")),)
    assert found.by == "dataset_info.json mine"


def test_llamafactory_own_columns_and_folder(said):
    _info("rows", {"file_name": "a.jsonl", "columns": {"prompt": "ask", "response": "say"}})
    assert said(LLAMAFACTORY + "dataset: mine\ndataset_dir: rows\n").shapes == (instruct("ask", "say"),)


def test_llamafactory_conversations(said):
    _info("data", {"file_name": "a.jsonl", "formatting": "sharegpt"})
    shape = said(LLAMAFACTORY + "dataset: mine\n").shapes[0]
    assert (shape.messages, shape.role, shape.content) == ("conversations", "from", "value")
    assert shape.roles == {
        "human": "user", "gpt": "assistant", "observation": "tool", "function_call": "assistant", "system": "system",
    }  # fmt: skip
    tags = {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"}
    _info("data", {"file_name": "a.jsonl", "formatting": "sharegpt", "columns": {"messages": "messages"}, "tags": tags})
    shape = said(LLAMAFACTORY + "dataset: mine\n").shapes[0]
    assert (shape.messages, shape.role, shape.roles["user"]) == ("messages", "role", "user")
    assert "human" not in shape.roles


def test_llamafactory_preferences(said):
    _info(
        "data",
        {"file_name": "a.jsonl", "ranking": True, "columns": {"prompt": "q", "chosen": "good", "rejected": "bad"}},
    )
    assert said(LLAMAFACTORY + "dataset: mine\n").shapes == (preference("q", "good", "bad"),)


@pytest.mark.parametrize("text", ["[", '"mine"', '{"mine": 7}', '{"mine": {"columns": 7}}', "[" * 100_000])
def test_llamafactory_with_a_broken_list_tells_nothing(said, text):
    Path("data").mkdir()
    Path("data/dataset_info.json").write_text(text)
    assert said(LLAMAFACTORY + "dataset: mine\n").shapes == ()


def test_a_list_outside_of_the_project_is_not_read(said, tmp_path):
    (tmp_path / "project").mkdir()
    _info(str(tmp_path / "out"), {"file_name": "train.jsonl"})
    import os

    os.chdir(tmp_path / "project")
    assert said(LLAMAFACTORY + "dataset: mine\ndataset_dir: ../out\n").shapes == ()
    (tmp_path / "project" / "linked").symlink_to(tmp_path / "out")
    assert said(LLAMAFACTORY + "dataset: mine\ndataset_dir: linked\n").shapes == ()


def test_trl_takes_what_its_columns_say(said):
    found = said(TRL + "dataset_name: json\ndataset_text_field: body\n")
    assert [shape.needs for shape in found.shapes] == [
        ("messages",), ("conversations",), ("prompt", "completion"), ("body",),
    ]  # fmt: skip
    assert not found.certain
    kinds = [shape.kind for shape in said(TRL + "dataset_name: json\nbeta: 0.1\n").shapes]
    assert kinds == ["preference", "preference"]


TUNE = "dataset:\n  _component_: torchtune.datasets."
MLX = "model: a/b\ntrain: true\ndata: rows\nfine_tune_type: lora\n"


@pytest.mark.parametrize(
    ("framework", "config", "needs"),
    [
        ("mlx-lm", MLX, [("prompt", "completion"), ("messages",), ("text",)]),
        ("mlx-lm", MLX + "text_feature: body\n", [("prompt", "completion"), ("messages",), ("body",)]),
        ("litgpt", "lora_r: 8\ndata:\n  class_path: litgpt.data.JSON\n", [("instruction", "output")]),
        ("litgpt", "lora_r: 8\ndata: Alpaca\n", []),
        ("torchtune", TUNE + "chat_dataset\n  conversation_column: t\n  conversation_style: openai\n", [("t",)]),
        ("torchtune", TUNE + "instruct_dataset\n  column_map: {input: ask}\n", [("ask", "output")]),
        ("torchtune", TUNE + "text_completion_dataset\n  column: body\n", [("body",)]),
        ("h2o-llmstudio", "dataset:\n  prompt_column: [ask]\n  answer_column: say\n", [("ask", "say")]),
        ("transformers", "learning_rate: 1.0e-4\noutput_dir: out\n", []),
    ],
)
def test_other_frameworks(said, framework, config, needs):
    assert [shape.needs for shape in said(config, framework=framework).shapes] == needs
