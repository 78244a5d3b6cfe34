from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loralint.source.credentials import hide, values
from loralint.source.secrets import MASK, credential, find, key_of_secret, mask, redact

BODY = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789aBcDeFgHiJkLmN"

# Built at run time, so that no scanner takes this file for a leak.
SECRETS = [
    ("token", "hf_" + BODY[:34], "Hugging Face token"),
    ("key", "sk-ant-" + "api03-" + BODY, "Anthropic key"),
    ("key", "sk-proj-" + BODY[:30] + "_x-y", "OpenAI key"),
    ("key", "sk-" + BODY[:48], "OpenAI key"),
    ("id", "AKIA" + "J2K3L4M5N6P7Q8R9", "AWS key id"),
    ("t", "ghp_" + BODY[:36], "GitHub token"),
    ("t", "github_pat_" + BODY[:30], "GitHub token"),
    ("t", "glpat-" + BODY[:20], "GitLab token"),
    ("t", "xoxb-" + "123456789012-" + BODY[:24], "Slack token"),
    ("t", "wandb_v1_" + BODY, "Weights & Biases key"),
    ("wandb_api_key", "0123456789abcdef0123" * 2, "Weights & Biases key"),
    ("env.WANDB_API_KEY", "0123456789abcdef0123" * 2, "Weights & Biases key"),
    ("AWS_SECRET_ACCESS_KEY", BODY[:38] + "/+", "AWS secret key"),
    ("header", "Bearer " + BODY[:30], "bearer token"),
    ("url", "https://user:" + "s3cr3tpw" + "@host/x", "password in a URL"),
]

CLEAN = [
    ("token", "hf_your_token_here"),
    ("token", "hf_" + "x" * 34),
    ("token", "${HF_TOKEN}"),
    ("token", "{{ secrets.HF_TOKEN }}"),
    ("header", "Bearer ${HF_TOKEN}"),
    ("header", "Bearer <your token>"),
    ("header", "bearer of the long-awaited news"),
    ("id", "AKIAIOSFODNN7" + "EXAMPLE"),
    ("key", "sk-..."),
    ("model", "org/sk-hynix-something-with-a-very-long-name-indeed"),
    ("model", "hf_internal_testing/tiny-random-model-with-a-long-name"),
    ("commit", "0123456789abcdef0123" * 2),
    ("wandb_project", "0123456789abcdef0123" * 2),
    ("url", "https://user:password@host/x"),
    ("url", "https://user:${PASS}@host/x"),
    ("url", "http://localhost:8080/@x"),
    ("url", "s3://bucket/path@v1"),
    ("r", "16"),
    ("", ""),
]


@pytest.mark.parametrize(("key", "raw", "kind"), SECRETS)
def test_secrets_are_named(key, raw, kind):
    assert find(key, raw) == kind


@pytest.mark.parametrize(("key", "raw"), CLEAN)
def test_other_text_is_clean(key, raw):
    assert find(key, raw) is None


@pytest.mark.parametrize(("key", "raw", "kind"), SECRETS)
@pytest.mark.parametrize("frame", ["{}: {}\n", '{{"{}": "{}"}}', "  {} = '{}'  # note", "--{}={}"])
def test_secrets_are_masked_wherever_they_stand(key, raw, kind, frame):
    secret = {"bearer token": raw[7:], "password in a URL": "s3cr3tpw"}.get(kind, raw)
    text = redact(frame.format(key, raw))
    assert secret not in text
    assert "***" in text
    assert text.startswith(frame.format(key, "|").split("|")[0].split(":")[0])


def test_several_in_one_text():
    one, two = SECRETS[0][1], SECRETS[5][1]
    assert redact(f"{one} and {two}, r: 16") == "*** and ***, r: 16"


def test_an_escape_before_a_secret_does_not_hide_it():
    assert redact("a\\n" + SECRETS[0][1]) == "a\\n***"


@given(st.text(max_size=200))
def test_redaction_is_stable(text):
    assert redact(redact(text)) == redact(text)
    find(text[:20], text)


@pytest.mark.parametrize(
    "text",
    [
        *("sk-ant-" * 200_000, "sk-" * 400_000, "hf_" * 400_000, "Bearer " * 200_000, "://a:" * 200_000),
        *("wandb" * 200_000, "aws" * 300_000, "secretaccess" * 100_000, "xoxb-" * 200_000, "a" * 1_000_000),
    ],
)
def test_masking_takes_linear_time(text):
    started = time.process_time()
    redact(text)
    find(text, text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("HF_TOKEN", True), ("WANDB_API_KEY", True), ("AWS_SECRET_ACCESS_KEY", True), ("DB_PASSWORD", True),
        ("huggingface_token", True), ("OPENAI_APIKEY", True), ("PAD_TOKEN", False), ("MAX_TOKENS", False),
        ("TOKENIZER", False), ("WANDB_PROJECT", False), ("TOKEN", False), ("SECRET_NAME", False),
    ],
)  # fmt: skip
def test_names_of_credentials(name, is_one):
    assert credential(name) is is_one


@pytest.mark.parametrize(
    "text",
    [
        "- name: DB_PASSWORD\n  value: kept\n", "- value: kept\n  name: DB_PASSWORD\n",
        "{name: HF_TOKEN, value: 'kept'}", '{"name": "HF_TOKEN", "value": "kept"}',
        '"name": "HF_TOKEN",\n "value": "kept"',
    ],
)  # fmt: skip
def test_the_variable_of_a_manifest_is_masked(text):
    assert redact(text) == text.replace("kept", MASK)


@pytest.mark.parametrize(
    "text",
    [
        "- name: EPOCHS\n  value: 3\n", "- name: HF_TOKEN\n  value: $(OTHER)\n", "name: PAD_TOKEN\nvalue: eos\n",
        "- name: HF_TOKEN\n  valueFrom: {secretKeyRef: {name: a, key: b}}\n",
    ],
)  # fmt: skip
def test_other_variables_stay_as_they_are(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["WANDB_API_KEY"] = "{}"',
        "os.environ.setdefault('WANDB_API_KEY', '{}')",
        'wandb.login(key="{}")',
        '"os.environ[\\"WANDB_API_KEY\\"] = \\"{}\\"\\n",',
    ],
    ids=["item", "default", "login", "cell"],
)
def test_a_key_in_a_program_is_masked(line):
    key = "0123456789abcdef" * 2 + "01234567"
    assert redact(line.format(key)) == line.format("***")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("export HF_TOKEN=S3cr3tZeug9", "export HF_TOKEN=***"),
        ("HF_TOKEN=S3cr3t9 run --hub-token S3cr3t9 --r 8", "HF_TOKEN=*** run --hub-token *** --r 8"),
        ("[run,--hub_token,S3cr3t9,--hub_token=S3cr3t9]", "[run,--hub_token,***,--hub_token=***]"),
        ("- --hub_token\n- S3cr3t9\n- --r", "- --hub_token\n- ***\n- --r"),
        ('"--hub_token", "S3cr3t9", "--r"', '"--hub_token", "***", "--r"'),
        ('--hub_token S3"cr3t9" --r 8', '--hub_token ***"***" --r 8'),
        ("hub_token: S3cr3t9\nr: 8", "hub_token: ***\nr: 8"),
        ('"hub_token": "S3cr3t9",\n "r": 8', '"hub_token": "***",\n "r": 8'),
        ("WANDB_API_KEY:\n  - S3cr3t9\nr: 8", "WANDB_API_KEY:\n  - ***\nr: 8"),
        ("f(hub_token='hf_'+'S3cr3t9', r=8)", "f(hub_token='***'+'***', r=8)"),
        ("f(hub_token='hf_' 'S3cr3t9', r=8)", "f(hub_token='***' '***', r=8)"),
        ("hub_token=('hf_'\n  'S3cr3t9')", "hub_token=('***'\n  '***')"),
        ('os.environ.setdefault("HF_TOKEN", "S3cr3t9")', 'os.environ.setdefault("HF_TOKEN", "***")'),
        ("${HF_TOKEN:-S3cr3t9}", "${HF_TOKEN:-***}"),
        ("https://user:p@S3cr3t9@host/x", "https://user:***@host/x"),
        ("https://user:p/S3cr3t9@host/x", "https://user:***@host/x"),
        ("wandb: {key: " + "0123456789" * 4 + "}", "wandb: {key: ***}"),
        ("wandb:\n  project: a\n  key: " + "0123456789" * 4, "wandb:\n  project: a\n  key: ***"),
    ],
)
def test_what_stands_behind_the_name_of_a_credential_is_masked(text, masked):
    assert redact(text) == masked
    assert redact(masked) == masked


def test_a_token_in_pieces_or_behind_escapes_is_masked_under_any_name():
    body = BODY[:34]
    assert redact(f"note: '{'hf_' + body[:9]}' + '{body[9:]}'") == "note: '***' + '***'"
    assert redact(f'note: "\\x68f_{body}"') == 'note: "***"'
    assert redact(f'{{"note": "\\u0068f_{body}"}}') == '{"note": "***"}'


@pytest.mark.parametrize(
    "text",
    [
        "tokenizer: abc12345", "max_tokens: 40960", "token_type: abc12345", "pad_token: abc12345", "eos_token: </s>",
        "save_token: abc12345", "image_token: abc12345", "--max_tokens 40960 --tokenizer abc12345", "key: abc12345",
        "hub_token: null\nr: 8", "hub_token:\nlearning_rate: 1", "hub_token:\n- path: abc12345", "use_auth_token: true",
        "hub_token=hub_token", "hub_token=args.hf_token", "hub_token=os.environ['HF_TOKEN']", "HF_TOKEN=$HF_TOKEN",
        "token=userdata.get('HF_TOKEN')", "- hub_token\n- learning_rate", "--hub_token was removed",
        "(HF_TOKEN, WANDB_API_KEY)", "secret: {secretName: abc12345}", "${WANDB_API_KEY:?set it first}",
        "http://localhost:8080/a/b@main", "git+https://github.com/a/b@v1", "path: 'C:\\x\\users'",
    ],
)  # fmt: skip
def test_ordinary_settings_are_never_masked(text):
    assert redact(text) == text


@pytest.mark.parametrize(
    ("key", "is_one"),
    [
        ("hub_token", True), ("env.HF_TOKEN", True), ("--api-key", True), ("--token", True), ("wandb_api_key", True),
        ("save_token", False), ("video_token", False), ("pad_token", False), ("tokens", False), ("key", False),
    ],
)  # fmt: skip
def test_keys_of_secrets(key, is_one):
    assert key_of_secret(key) is is_one
    assert mask(key, "S3cr3t9") == (MASK if is_one else "S3cr3t9")
    assert mask(key, "${HF_TOKEN}") == "${HF_TOKEN}"


def test_the_values_of_a_file_are_known_for_other_places():
    text = "env: [{name: HF_TOKEN, value: S3cr3tZeug9}]\npassword: Other8Zeug\npad_token: NotThat88\nsecret: axolotl\n"
    assert values(text) == {"S3cr3tZeug9", "Other8Zeug"}
    assert hide('{"value": "S3cr3tZeug9"}', values(text)) == '{"value": "***"}'


@pytest.mark.parametrize(
    "text",
    ["hf_token=" * 10_000, "--token " * 10_000, "password='a'" * 10_000, "password='a'+" * 10_000,
     "secret: " * 10_000, "hf_" + "a'b" * 30_000, "://u:a/" * 10_000 + "@", "\\x" * 40_000, "secret:" + "\n " * 40_000],
    ids=range(9),
)  # fmt: skip
def test_masking_by_names_takes_linear_time(text):
    started = time.process_time()
    redact(text)
    half = time.process_time() - started
    redact(text + text)
    assert time.process_time() - started < max(5 * half, 2)
