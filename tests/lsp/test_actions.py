from __future__ import annotations

import pytest

pytest.importorskip("pygls")

from lsprotocol import types

from tests.lsp.editor import applied, codes
from tests.lsp.test_server import AXOLOTL, RIGHT, STEPS

FIX_ALL = "source.fixAll.loralint"
# a rate that runs have survived: tier A, which a comment lifts
HOT = AXOLOTL.replace("fp16: true\n", "").replace("learning_rate: 0.0002", "learning_rate: 0.003")
TWO = ("LL342", "LL401")


def _titles(found):
    return [one.title for one in found]


def test_a_safe_fix_is_preferred_and_says_what_it_changes(editor):
    one = editor()
    one.open("train.yaml", STEPS)
    fix = one.actions("train.yaml", 5)[0]
    assert (fix.title, fix.kind, fix.is_preferred) == ("Fix LL431: save_steps: 50 -> save_steps: 60", "quickfix", True)
    assert codes(fix.diagnostics) == ["LL431"]
    assert applied(STEPS, fix.edit.changes[one.uri("train.yaml")]) == RIGHT
    assert one.actions("train.yaml", 0) == []


def test_edits_are_for_a_version_where_the_editor_knows_such(editor):
    one = editor(versioned=True)
    one.open("train.yaml", STEPS)
    (change,) = one.actions("train.yaml", 5)[0].edit.document_changes
    assert change.text_document.version == one.version
    assert applied(STEPS, change.edits) == RIGHT


def test_all_safe_fixes_at_once(editor):
    text = STEPS + "bf16: true\nbf16: true\n"
    one = editor()
    found = one.open("train.yaml", text)
    assert len(found) == 2
    (whole,) = one.actions("train.yaml", 0, only=["source.fixAll"])
    assert whole.kind == FIX_ALL
    mended = applied(text, whole.edit.changes[one.uri("train.yaml")])
    assert one.change("train.yaml", mended) == []
    assert one.actions("train.yaml", 0, only=["source"]) == []


def test_the_edit_of_all_fixes_is_made_when_it_is_chosen_if_the_editor_can_wait(editor):
    one = editor(lazy=True)
    one.open("train.yaml", STEPS)
    (whole,) = [each for each in one.actions("train.yaml", 5) if each.kind == FIX_ALL]
    assert whole.edit is None
    made = one.run(one.client.code_action_resolve_async(whole))
    assert applied(STEPS, made.edit.changes[one.uri("train.yaml")]) == RIGHT


def test_an_ignore_comment_has_a_place_for_its_reason_and_works(editor):
    one = editor()
    found = one.open("axolotl.yml", HOT)
    assert [(each.code, each.severity) for each in found] == [(code, types.DiagnosticSeverity.Warning) for code in TWO]
    (ignore,) = [each for each in one.actions("axolotl.yml", 5) if each.title.startswith("Ignore LL401 ")]
    text = applied(HOT, ignore.edit.changes[one.uri("axolotl.yml")])
    assert "learning_rate: 0.003  # loralint: ignore[LL401] (say why)\n" in text
    assert codes(one.change("axolotl.yml", text)) == ["LL342"]


def test_no_comment_is_offered_where_none_works(editor):
    one = editor()
    one.open("train.yaml", STEPS)  # tier S
    assert not [title for title in _titles(one.actions("train.yaml", 5)) if title.startswith("Ignore")]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_comment_does_not_cut_a_command_that_goes_on(editor, newline):
    text = "#!/bin/bash\nllamafactory-cli train --stage sft --finetuning_type lora --template qwen \\\n"
    text += "  --model_name_or_path Qwen/Qwen2.5-7B --do_train true --dataset x --output_dir o --bf16 true \\\n"
    text += "  --learning_rate 0.003 --lora_rank 16 --lora_target all \\\n  --per_device_train_batch_size 1\n"
    text = text.replace("\n", newline)
    one = editor()
    found = [each for each in one.open("run.sh", text) if each.severity == types.DiagnosticSeverity.Warning]
    assert found
    code, line = found[0].code, found[0].range.start.line
    (ignore,) = [each for each in one.actions("run.sh", line) if each.title.startswith(f"Ignore {code} ")]
    after = applied(text, ignore.edit.changes[one.uri("run.sh")])
    left = one.change("run.sh", after)
    assert code not in codes(left)
    assert len(left) == len(one.published[0].diagnostics) - 1


def test_a_key_says_its_effective_value_and_a_finding_its_page(editor):
    one = editor()
    one.open("train.yaml", STEPS)
    said = one.hover("train.yaml", 1, 3)
    assert "`optim.lr` is `0.0002`, set in line 2" in said
    assert "### " not in said
    said = one.hover("train.yaml", 5, 12)
    assert "`checkpoint.save_steps` is `50`" in said
    assert "**LL431 save-not-multiple-of-eval, tier S**" in said
    assert "#### Why" in said
    assert one.hover("train.yaml", 40, 0) is None


def test_what_is_quoted_from_a_config_means_nothing_to_markdown(editor):
    one = editor()
    one.open("axolotl.yml", AXOLOTL.replace("Qwen/Qwen2.5-7B", '"<img src=x>`[a](http://b)`\\u001b"'))
    said = one.hover("axolotl.yml", 0, 3)
    assert "``<img src=x>`[a](http://b)`\\x1b``" in said.replace("`` ", "``").replace(" ``", "``")


def test_a_secret_is_not_shown(editor):
    secret = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xLqR"
    one = editor()
    one.open("axolotl.yml", AXOLOTL + f"hub_token: {secret}\nwandb_name: {secret}\n")
    for line in range(12):
        assert secret not in (one.hover("axolotl.yml", line, 2) or "")
        assert not any(secret in title for title in _titles(one.actions("axolotl.yml", line)))
    assert not any(secret in each.message for each in one.newest("axolotl.yml"))


def test_plain_text_for_an_editor_without_markdown(editor):
    one = editor(formats=["plaintext"])
    one.open("train.yaml", STEPS)
    said = one.hover("train.yaml", 5, 12)
    assert "LL431 save-not-multiple-of-eval" in said
    assert "**" not in said
