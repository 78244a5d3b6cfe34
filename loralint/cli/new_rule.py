"""`loralint rules new`: a rule file to start from."""

from __future__ import annotations

import os
import re

from loralint.cli.options import settings_for, usage

_TEMPLATE = """\
# What may stand here: docs/writing-rules.md and docs/vocabulary.md. Test it: loralint rules test {path}
id: {code}
name: {name}
when: {{lora.on: true}}
uses: range
with: {{field: adapter.rank, max: 64}}
tier: A
message: "the adapter is larger than this project serves: {{key}} is {{value}}"
help: "write {{key}}: {{suggest}}, or say why this run needs more"
fix: {{set: {{adapter.rank: "{{suggest}}"}}, safe: false}}
symptoms: []
why: |
  Why this project wants it, in a sentence or two: what goes wrong otherwise, and where that was seen.
sources: []
examples:
  - bad:
      axolotl: |
        base_model: NousResearch/Llama-2-7b-hf
        adapter: lora
        lora_r: 128
        lora_alpha: 128
        lora_target_linear: true
        learning_rate: 0.0002
    finds: {{key: lora_r, line: 3, fixed: "lora_r: 64"}}
  - good:
      axolotl: |
        base_model: NousResearch/Llama-2-7b-hf
        adapter: lora
        lora_r: 64
        lora_alpha: 128
        lora_target_linear: true
        learning_rate: 0.0002
"""


def write_rule(code: str, name: str, folder: str) -> tuple[str, bool]:
    """The file written, and whether no settings name it yet. Exits with code 2 for a bad code or name."""
    try:
        from loralint.authoring.own_models import CODE
    except ImportError as error:
        raise usage(f"rules of your own need {error.name}: pip install '.[authoring]' in a checkout") from None
    if not re.match(CODE, code):
        raise usage(f"{code!r} is no code: up to six capitals and three digits, such as X001; not starting with L")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        raise usage(f"{name!r} is no name: words in small letters with - between, such as rank-over-house-limit")
    path = os.path.join(folder, f"{code}-{name}.yaml")
    os.makedirs(folder, exist_ok=True)
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(_TEMPLATE.format(code=code, name=name, path=path))
    except FileExistsError:
        raise usage(f"{path} is there already, and is left as it is") from None
    return path, not settings_for(isolated=False).rules
