"""Findings in notebooks name the cell, and the line in it."""

from __future__ import annotations

import json


def notebook(*cells):
    code = {"cell_type": "code", "metadata": {}, "outputs": []}
    made = [{**code, "source": cell.splitlines(keepends=True)} for cell in cells]
    made.insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# title"]})
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


CODE = """\
from transformers import TrainingArguments
bf16 = True
args = TrainingArguments(output_dir="out", bf16=bf16)
"""


def test_a_finding_names_cell_and_line_and_shows_the_cell(command, folder):
    (folder / "n.ipynb").write_text(notebook("!pip install peft\nimport peft", CODE))
    done = command("check", "n.ipynb", "--gpu", "T4")
    out = done.stdout.decode()
    assert "  --> n.ipynb cell 3:2:8\n" in out
    assert "  1 | from transformers import TrainingArguments\n  2 | bf16 = True\n    |        ^^^^\n" in out
    concise = command("check", "n.ipynb", "--gpu", "T4", "--format", "concise").stdout.decode()
    assert concise.startswith("n.ipynb:cell 3:2: A LL214 ")
    (run,) = json.loads(command("check", "n.ipynb", "--gpu", "T4", "--format", "json").stdout)["runs"]
    found = next(one for one in run["findings"] if one["rule"] == "LL214")
    assert (found["cell"], found["line"], found["column"], found["key"]) == (3, 2, 8, "TrainingArguments.bf16")
    text = (folder / "n.ipynb").read_text()
    assert text[found["start"] : found["end"]] == "True"
