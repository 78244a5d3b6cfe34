"""No format ever prints a secret, wherever in a config it stands."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loralint
from loralint.engine.settings import Settings
from loralint.render import FORMATS as ALL
from loralint.render import render

SECRETS = {
    "hub_token": "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "openai": "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x",
    "anthropic": "sk-ant-api03-Zy9xWv8uTs7rQp6oNm5lKj4i",
    "aws": "AKIAZ7Q4M2X9B5T8R3W6",
    "github": "ghp_Q7w8E9r1T2y3U4i5O6p7A8s9D1f2G3h4J5k6",
    "gitlab": "glpat-xY9zW8vU7tS6rQ5pO4n3",
    "slack": "xoxb-2847561930-AbCdEfGhIjKlMn",
    "google": "AIzaSyD4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T",
    "wandb_api_key": "3f9a1c7e5b2d8064f1e3a5c7b9d0e2f4a6c8b0d1",
    "proxy": "https://user:Sw0rdF1shy9@proxy.example.org/x",
    "header": "Bearer q8W7e6R5t4Y3u2I1o0P9",
}
FORMATS = (*ALL, "statistics")
BASE = {"base_model": "a/b", "adapter": "lora", "lora_r": 0, "lora_alpha": 0, "learning_rate": 1e-4}
KEYS = [
    "base_model", "lora_r", "lora_alpha", "learning_rate", "optimizer", "lora_target_modules", "bf16", "datasets",
    "note",
    "lora_aplha", "output_dir", "lr_scheduler", "adapter", "load_in_4bit", "wandb_api_key", "hub_token",
]  # fmt: skip


def _outputs(text: str, name: str, **given) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        report = loralint.check(file, settings=Settings(preview=True), show_settings=True, **given)
    return [render(format_, report, color=color) for format_ in FORMATS for color in (False, True)]


def _assert_silent(text: str, name: str, secrets, **given) -> None:
    for out in _outputs(text, name, **given):
        for secret in secrets:
            shape = SECRETS[secret]
            core = shape.split(":")[2].split("@")[0] if "://" in shape else shape.removeprefix("Bearer ")
            assert core not in out


@pytest.mark.parametrize("framework", ["axolotl", "llamafactory", "trl", "transformers", "peft", "torchtune"])
def test_a_config_full_of_secrets(framework):
    config = {
        **BASE,
        **SECRETS,
        "list": [secret for name, secret in SECRETS.items() if name != "wandb_api_key"],  # told by its name only
        "map": SECRETS,
        "datasets": [{"path": SECRETS["proxy"]}],
    }
    _assert_silent(json.dumps(config, indent=1), "config.json", SECRETS, framework=framework)
    _assert_silent(json.dumps(config), "config.yaml", SECRETS, framework=framework)


def test_a_secret_as_key_in_a_comment_and_in_a_broken_file():
    token = SECRETS["hub_token"]
    text = (
        f"base_model: a/b\nadapter: lora\nlora_r: 0\n{token}: 1  # {token}\nlora_aplha: {token}\nlearning_rate: 1e-4\n"
    )
    _assert_silent(text, "config.yaml", ["hub_token"])
    _assert_silent(text + f"x: [{token}\n", "config.yaml", ["hub_token"])
    _assert_silent(text + f"y: {token}: {token}\n", "config.yaml", ["hub_token"])


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(KEYS),
        st.sampled_from(sorted(SECRETS)).flatmap(
            lambda name: st.sampled_from(
                [
                    (name, SECRETS[name]),
                    (name, [SECRETS[name], "q_proj"]),
                    (name, {"path": SECRETS[name]}),
                    (name, "${X:-" + SECRETS[name] + "}"),
                    (name, "\u202e " + SECRETS[name]),
                ]
            )
        ),
        max_size=8,
    ),
    st.sampled_from(["config.yaml", "config.json"]),
)
def test_a_secret_under_any_key(placed, name):
    config = {**BASE, **{key: value for key, (_, value) in placed.items()}}
    told = {secret for secret, _ in placed.values() if secret != "wandb_api_key"}
    if placed.get("wandb_api_key") == ("wandb_api_key", SECRETS["wandb_api_key"]) and len(placed) == 1:
        told.add("wandb_api_key")  # 40 hexadecimal digits are a secret under their own name only
    _assert_silent(json.dumps(config, indent=1), name, told, framework="axolotl")


_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: t}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: t
        image: x
        command: [axolotl, train, c.yaml, --learning_rate, $(HF_TOKEN)]
        env:
        - name: HF_TOKEN
          value: S3cr3tZeug9
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.yaml", _JOB),
        ("s.yaml", _JOB.replace("$(HF_TOKEN)", "5, --hub_token, S3cr3tZeug9")),
        ("t.sh", "export HF_TOKEN=S3cr3tZeug9\naxolotl train c.yaml --learning_rate=5 --hub-token S3cr3tZeug9\n"),
        ("t.sh", "HF_TOKEN=S3cr3tZeug9\naxolotl train c.yaml --learning_rate $HF_TOKEN\n"),
        ("c.yaml", json.dumps({**BASE, "learning_rate": 5, "hub_token": "S3cr3tZeug9"}, indent=1)),
    ],
    ids=["variable", "argument", "export", "script", "key"],
)
def test_the_value_of_a_credential_shows_nowhere(tmp_path, name, text):
    (tmp_path / "c.yaml").write_text(json.dumps({**BASE, "lora_r": 8, "lora_alpha": 8}))
    (tmp_path / name).write_text(text)
    report = loralint.check(tmp_path, settings=Settings(preview=True), show_settings=True)
    assert any(one.span.file.endswith(name) for run in report.runs for one in run.findings)
    for format_ in FORMATS:
        assert "Zeug9" not in render(format_, report, color=True)
