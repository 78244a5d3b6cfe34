from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.lsp.editor import applied, codes

STEPS = (
    "output_dir: out\nlearning_rate: 2.0e-4\nload_best_model_at_end: true\n"
    "eval_strategy: steps\neval_steps: 20\nsave_steps: 50\n"
)
RIGHT = STEPS.replace("save_steps: 50", "save_steps: 60")
AXOLOTL = (
    "base_model: Qwen/Qwen2.5-7B\nadapter: lora\nlora_r: 16\nlora_alpha: 16\nlora_target_modules: [q_proj, v_proj]\n"
    "learning_rate: 0.0002\noptimizer: adamw_torch\nmicro_batch_size: 1\nbf16: true\nfp16: true\n"
)


def test_a_finding_says_what_will_happen_and_what_to_write(editor):
    (one,) = editor().open("train.yaml", STEPS)
    assert (one.code, one.severity, one.source) == ("LL431", types.DiagnosticSeverity.Error, "loralint")
    assert one.range == types.Range(types.Position(5, 12), types.Position(5, 14))
    first, *_, last = one.message.splitlines()
    assert first.startswith("training stops at start: save_steps 50 ")
    assert last.startswith("write save_steps: 60")
    assert one.code_description.href.startswith("https://")
    (related,) = one.related_information
    assert (related.location.range.start.line, related.location.uri[-10:]) == (4, "train.yaml")


def test_cosmetic_findings_are_information_and_dead_keys_are_faded(editor):
    (one,) = editor().open("axolotl.yml", AXOLOTL)
    assert (one.code, one.severity) == ("LL105", types.DiagnosticSeverity.Information)
    assert list(one.tags) == [types.DiagnosticTag.Unnecessary]


def test_the_text_in_the_editor_counts_and_not_the_one_on_the_disk(editor, tmp_path):
    (tmp_path / "train.yaml").write_text(STEPS)
    one = editor()
    assert one.open("train.yaml", RIGHT) == []
    assert codes(one.change("train.yaml", STEPS)) == ["LL431"]
    one.close("train.yaml")
    one.until(lambda: not one.said[one.uri("train.yaml")].diagnostics)


def test_typing_is_looked_at_once_it_pauses(editor):
    one = editor()
    one.open("train.yaml", STEPS)
    before = len(one.published)
    for step in range(61, 80):
        one.change("train.yaml", STEPS.replace("50", str(step)), wait=False)
    one.change("train.yaml", RIGHT)
    assert len(one.published) - before < 10  # of twenty; a busy machine may pause by itself


@pytest.mark.parametrize("name", ["notes.md", "git:/x/train.yaml?HEAD"])
def test_what_no_training_is_written_in_is_left_alone(editor, name):
    one = editor()
    text = types.TextDocumentItem(one.uri(name), "markdown" if name.endswith("md") else "yaml", 1, STEPS)
    one.client.text_document_did_open(types.DidOpenTextDocumentParams(text))
    assert one.actions(name, 5) == []
    assert one.said == {}


def test_a_buffer_that_was_never_saved_is_known_by_its_language(editor):
    assert codes(editor().open("untitled:Untitled-1", STEPS, "yaml")) == ["LL431"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("args.json", ('{"output_dir": "out", "learning_rate": 2e-4, "load_best_model_at_end": true,\n'
         ' "eval_strategy": "steps", "eval_steps": 20, "save_steps": 50}\n')),
        ("train.py", ("from transformers import Trainer, TrainingArguments\n"
         'args = TrainingArguments(output_dir="out", load_best_model_at_end=True, eval_strategy="steps",\n'
         "    eval_steps=20, save_steps=50)\nTrainer(model=None, args=args).train()\n")),
        ("run.sh", ("llamafactory-cli train --stage sft --finetuning_type lora --template qwen \\\n"
         " --model_name_or_path Qwen/Qwen2.5-7B --load_best_model_at_end true \\\n"
         " --eval_strategy steps --eval_steps 20 --save_steps 50\n")),
    ],
)  # fmt: skip
def test_other_formats_are_judged_and_fixed(editor, name, text):
    one = editor()
    found = one.open(name, text)
    assert "LL431" in codes(found)
    place = next(each.range.start.line for each in found if each.code == "LL431")
    fix = next(each for each in one.actions(name, place) if each.title.startswith("Fix LL431"))
    mended = applied(text, fix.edit.changes[one.uri(name)])
    assert mended == text.replace("50", "60")


def test_settings_beside_the_file_count_and_are_read_again(editor, tmp_path):
    one = editor()
    text = AXOLOTL.replace("fp16: true\n", "")
    assert one.open("axolotl.yml", text) == []
    (tmp_path / "loralint.toml").write_text('gpu = "T4"\n')
    event = types.FileEvent((tmp_path / "loralint.toml").as_uri(), types.FileChangeType.Created)
    one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    one.until(lambda: "LL214" in codes(one.said[one.uri("axolotl.yml")].diagnostics))
    (tmp_path / "loralint.toml").write_text('gpu = "T4"\nignore = ["LL214"]\nexclude = ["old/"]\n')
    one.save("axolotl.yml")
    one.until(lambda: "LL214" not in codes(one.said[one.uri("axolotl.yml")].diagnostics))
    assert one.open("old/train.yaml", STEPS) == []
    (watched,) = one.registered
    assert watched.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES


def test_settings_that_cannot_be_used_are_said_at_their_file_and_nothing_is_passed(editor, tmp_path):
    (tmp_path / "loralint.toml").write_text("gpus = 3\n")
    one = editor()
    assert one.open("train.yaml", STEPS) == []
    (fault,) = one.until(lambda: one.said.get(one.uri("loralint.toml"))).diagnostics
    assert fault.message.startswith("nothing is checked: ")
    assert "unknown key `gpus`" in fault.message
    (tmp_path / "loralint.toml").write_text("")
    one.save("train.yaml")
    one.until(lambda: not one.said[one.uri("loralint.toml")].diagnostics)
    assert codes(one.said[one.uri("train.yaml")].diagnostics) == ["LL431"]


def test_a_finding_in_another_file_of_the_run_stands_there(editor, tmp_path):
    name = "ds.json"
    (tmp_path / name).write_text('{"bf16": {"enabled": true},\n "fp16": {"enabled": true}}\n')
    one = editor()
    text = AXOLOTL.replace("fp16: true\n", "deepspeed: ds.json\n")
    one.open("axolotl.yml", text)
    found = one.until(lambda: one.said.get(one.uri(name))).diagnostics
    assert found
    assert [each.code for each in found] == ["LL514"]
    # the same file while it is being written: what is typed counts, and it says nothing of its own
    assert one.open(name, (tmp_path / name).read_text()) == list(found)
    line = found[0].range.start.line
    assert "LL514" in one.hover(name, line, found[0].range.start.character)
    # a fix of what is typed, not of what is on the disk
    typed = '{"bf16": {"enabled": true},\n "gradient_clipping": 1.0,\n "gradient_clipping": 1.0}\n'
    one.change(name, typed, wait=False)
    one.until(lambda: codes(one.said[one.uri(name)].diagnostics) == ["LL106"])
    (fix,) = [each for each in one.actions(name, 1) if each.title.startswith("Fix LL106")]
    assert applied(typed, fix.edit.changes[one.uri(name)]).count("gradient_clipping") == 1
    one.change(name, '{"bf16": {"enabled": true}}\n')
    one.until(lambda: not one.said[one.uri(name)].diagnostics)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_the_editors(editor, encoding):
    one = editor(encodings=(encoding,))
    assert one.started.capabilities.position_encoding == encoding
    for newline in ("\n", "\r\n"):
        _columns(one, encoding, newline)
        one.close("train.yaml")


def _columns(one, encoding, newline):
    text = '# 🦙 é llama\n{"output_dir": "🦙🦙é", "load_best_model_at_end": true, "eval_strategy": "steps",\n'
    text += '"run_name": "🦙\u2028é",  "eval_steps": 20, "learning_rate": 2.0e-4, "save_steps": 50}\n'
    text = text.replace("\n", newline)
    codec, size = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]

    def units(piece):
        return len(piece.encode(codec)) // size

    found = next(each for each in one.open("train.yaml", text) if each.code == "LL431")
    line = text.split(newline)[2]
    assert found.range.start == types.Position(2, units(line[: line.index("50")]))
    assert found.range.end.character - found.range.start.character == 2
    fix = next(each for each in one.actions("train.yaml", 2) if each.title.startswith("Fix LL431"))
    assert applied(text, fix.edit.changes[one.uri("train.yaml")], units) == text.replace("50", "60")
    assert "LL431" in one.hover("train.yaml", 2, found.range.start.character)


BROKEN = ["", "\x00", "a: [", "{" * 5000, "a: &a [*a]\n", "\ufeff" + STEPS, "- " * 4000, "\r",
          STEPS + "x: \ud83d\n", "%\n", "base_model: {a: b\n" + AXOLOTL, "x" * 3_000_000]  # fmt: skip


def test_no_buffer_ends_the_server(editor):
    one = editor()
    one.open("train.yaml", STEPS)
    for text in BROKEN:
        one.change("train.yaml", text)
        one.hover("train.yaml", 0, 0)
        one.hover("train.yaml", 90, 90)
        one.actions("train.yaml", 0, 90)
    assert codes(one.change("train.yaml", STEPS)) == ["LL431"]


def test_a_byte_order_mark_moves_the_first_line_alone(editor):
    one = editor()
    first = "\ufefffp16: true\n" + AXOLOTL.replace("fp16: true\n", "")
    (found,) = one.open("axolotl.yml", first)
    assert found.range.start == types.Position(0, 1)


def test_a_request_that_is_cancelled_ends_and_the_server_goes_on(editor):
    one = editor()
    one.open("train.yaml", STEPS)

    async def cancelled():
        wanted = types.Range(types.Position(0, 0), types.Position(9, 0))
        params = types.CodeActionParams(one.named("train.yaml"), wanted, types.CodeActionContext([]))
        protocol = one.client.protocol
        answer = protocol.send_request_async(types.TEXT_DOCUMENT_CODE_ACTION, params, msg_id="mine")
        task = asyncio.ensure_future(answer)
        await asyncio.sleep(0)
        protocol.notify(types.CANCEL_REQUEST, types.CancelParams("mine"))
        return await asyncio.gather(task, return_exceptions=True)

    (answer,) = one.run(cancelled())
    assert isinstance(answer, (Exception, list, tuple))  # it may be ready before it is called off
    assert codes(one.change("train.yaml", STEPS + "\n")) == ["LL431"]


def test_values_that_a_project_holds_to_count_too(editor, tmp_path):
    pytest.importorskip("pydantic")
    (tmp_path / "loralint.toml").write_text('golden = ["golden.yaml"]\n')
    (tmp_path / "golden.yaml").write_text(
        "- {id: X102, name: server-context, key: server.max_len, files: ['serving/*.yaml'], range: [1024, 32768],\n"
        "   recommended: 8192, tier: A, then: the server does not start, why: Cards of 24 GB hold no more.}\n"
    )
    one = editor()
    (found,) = one.open("serving/one.yaml", "server:\n  max_len: 99999\n")
    assert (found.code, found.code_description) == ("X102", None)
    assert "Cards of 24 GB hold no more" in one.hover("serving/one.yaml", 1, 12)


def test_a_notebook_that_is_opened_as_text_is_judged_and_fixed(editor):
    code = [
        "from transformers import Trainer, TrainingArguments\n",
        'args = TrainingArguments(output_dir="out", load_best_model_at_end=True, eval_strategy="steps",\n',
        "    eval_steps=20, save_steps=50)\n",
        "Trainer(model=None, args=args).train()\n",
    ]
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": code}
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    one = editor()
    found = next(each for each in one.open("train.ipynb", text, "json") if each.code == "LL431")
    line = next(number for number, each in enumerate(text.split("\n")) if "save_steps" in each)
    assert found.range.start.line == line
    fix = next(each for each in one.actions("train.ipynb", line) if each.title.startswith("Fix LL431"))
    assert applied(text, fix.edit.changes[one.uri("train.ipynb")]) == text.replace("50)", "60)")
    assert not any(each.title.startswith("Ignore") for each in one.actions("train.ipynb", line))
