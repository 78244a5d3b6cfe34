from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import loralint
from loralint.authoring.__main__ import ROOT
from loralint.authoring.compile import compiled, read_rules
from loralint.authoring.docs import TOPIC_TITLES
from loralint.authoring.docs_coverage import keys
from loralint.authoring.docs_vocabulary import DATA, OPERATOR_TEXTS, PLACEHOLDERS
from loralint.authoring.markdown import table
from loralint.authoring.names import TOPICS
from loralint.authoring.parameter import ParameterFile
from loralint.authoring.rule import PLACEHOLDER, RuleFile
from loralint.canonical.fields import FIELDS
from loralint.checks import TEMPLATES
from loralint.checks.conditions import OPERATORS
from loralint.engine.baseline import count
from loralint.engine.score import CAP, COST, score
from loralint.engine.settings import Settings, load_settings
from loralint.engine.settings_file import KEYS
from loralint.facts import FACTS
from loralint.frameworks.detect import NAMES, reader
from loralint.model import ORIGINS, Finding, Span
from loralint.render.json_v1 import render

DOCS = ROOT / "docs"
RULES = [rule for _, rule in read_rules(ROOT / "rules")]


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def words(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    return {path: text for path, text in compiled(ROOT).items() if path.startswith("docs/")}


def test_four_pages_are_generated(generated):
    assert sorted(generated) == ["docs/coverage.md", "docs/golden.md", "docs/rules.md", "docs/vocabulary.md"]
    for text in generated.values():
        assert text.startswith("<!-- Written by `python -m loralint.authoring`")
        assert text.endswith("\n")


def test_every_topic_has_a_title():
    assert set(TOPIC_TITLES) == set(TOPICS)


def test_every_rule_stands_in_the_table_and_has_a_section(generated):
    text = generated["docs/rules.md"]
    for rule in RULES:
        name = f"{rule.id} {rule.name}"
        assert f"| [{name}](#{name.lower().replace(' ', '-')}) |" in text
        assert f"\n### {name}\n" in text


def test_the_section_of_a_rule(generated):
    text = generated["docs/rules.md"]
    section = text[text.index("### LL214") :]
    section = section[: section.index("\n### LL", 5)]
    assert "\n**Training crawls under emulation, or stops at start with PyTorch 2.2 and older:**\n" in section
    assert "&lt;gpu.name&gt; has no bf16 (compute capability &lt;gpu.capability&gt;, bf16 needs 8.0)" in section
    assert "    bf16: true  # <- A bf16, becomes bf16: false\n" in section
    assert "\nWrite bf16: false and fp16: true, or take a card of the Ampere generation or newer." in section
    assert (
        "\nLooks where precision.bf16 is true and gpu.bf16 is false and not (model.fp16_unsafe is known and" in section
    )
    order = ["Training crawls", "#### Why", "#### Examples", "#### What to write", "#### Sources"]
    assert [section.index(one) for one in order] == sorted(section.index(one) for one in order)


def test_tables_have_one_width(generated):
    for path, text in generated.items():
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(widths) == 1, (path, block[:200])


def test_links_lead_somewhere():
    for file in DOCS.glob("*.md"):
        text = file.read_text("utf-8")
        for target, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            other = (DOCS / target).resolve() if target else file
            assert other.exists(), f"{file.name} links {target}"
            if anchor:
                page = other.read_text("utf-8")
                headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
                slugs = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
                assert anchor in slugs | set(re.findall(r'<a id="([\w-]+)"></a>', page)), f"{file.name} links #{anchor}"


def test_every_golden_entry_is_listed(generated):
    text = generated["docs/golden.md"]
    for file in sorted((ROOT / "golden" / "parameters").glob("*.yaml")):
        parameter = ParameterFile.model_validate(yaml_of(file))
        section = text[text.index(f"\n## {parameter.parameter}\n") :]
        for entry in parameter.entries:
            assert f"| **{entry.id}**<br>" in section
            assert f"\n- **{entry.id}**: " in section


def yaml_of(file: Path):
    from loralint.authoring.load import load

    return load(file)


def test_the_bounds_of_the_product_step(generated):
    text = generated["docs/golden.md"]
    row = next(line for line in text.splitlines() if line.startswith("| **step-product**"))
    assert "| 0.0026 (x/÷ 10) | 1.0e-05 to 0.1 | above 2.5: **S**, " in row
    assert "<br>above 0.1: note, " in row
    assert row.endswith("| measured |")


@pytest.mark.parametrize(
    ("framework", "field", "expected"),
    [
        ("axolotl", "adapter.rank", "lora_r"),
        ("llamafactory", "adapter.rank", "lora_rank"),
        ("llamafactory-v1", "adapter.rank", "peft_config.r"),
        ("trl", "adapter.targets", "lora_target_modules"),
        ("peft", "adapter.rank", "r"),
        ("torchtune", "optim.lr", "optimizer.lr"),
        ("transformers", "batch.micro", "per_device_train_batch_size"),
        ("axolotl", "batch.micro", "micro_batch_size"),
    ],
)
def test_the_key_of_a_field(framework, field, expected, generated):
    assert keys(field, reader(NAMES[framework]))[0] == expected
    text = generated["docs/coverage.md"]
    section = text[text.index(f"\n### {field.partition('.')[0]}\n") :]
    block = next(one for one in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE) if f" {framework} |" in one)
    header, *rows = [line.split(" | ") for line in block.replace("|\n", "\n").splitlines()]
    row = next(one for one in rows if one[0] == f"| `{field}`")
    assert row[[cell.strip() for cell in header].index(framework)].startswith(f"`{expected}`")


def test_every_field_has_its_row(generated):
    rows = re.findall(r"^\| `([\w.]+)` \|", generated["docs/coverage.md"], re.MULTILINE)
    read = {entry.field for module in NAMES.values() for entry in reader(module).table}
    assert read - set(rows) == set()
    assert {row for row in rows if "." in row} <= set(FIELDS)


def test_the_vocabulary_holds_every_name(generated):
    text = generated["docs/vocabulary.md"]
    assert words(text) >= OPERATORS | set(FACTS) | set(FIELDS) | set(PLACEHOLDERS)
    assert [f"\n### {name}\n" in text for name in TEMPLATES] == [True] * len(TEMPLATES)
    assert set(OPERATOR_TEXTS) == OPERATORS
    assert set(DATA) == set(TEMPLATES)


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_message_asks_only_for_what_its_check_brings(rule: RuleFile):
    known = {"value", "key", "suggest", "framework", *DATA[rule.uses]}
    asked = {name for text in (rule.message, rule.help) for name in PLACEHOLDER.findall(text) if ":" not in name}
    assert asked <= known


def test_writing_rules_knows_every_field_of_a_rule():
    text = page("writing-rules.md")
    fields = {field.alias or name for name, field in RuleFile.model_fields.items()}
    assert fields <= words(text[text.index("# All fields of a rule file") :])


def test_the_rule_that_is_shown_is_the_rule_that_is_shipped():
    text = page("writing-rules.md")
    shown = yaml.safe_load(re.search(r"```yaml\n(id: .*?)```", text, re.DOTALL)[1])
    shipped = yaml.safe_load((ROOT / "rules/checkpoint/LL431-save-not-multiple-of-eval.yaml").read_text("utf-8"))
    assert {**shown, "examples": 0} == {**shipped, "examples": 0}
    assert RuleFile.model_validate(shown).id == "LL431"


def test_the_golden_entry_that_is_shown_is_valid():
    text = page("writing-rules.md")
    shown = yaml.safe_load(re.search(r"```yaml\n(parameter: .*?)```", text, re.DOTALL)[1])
    assert ParameterFile.model_validate(shown | {"why": shown["why"] * 3}).parameter == "adapter.dropout"


def test_settings_names_every_key_and_its_example_loads(tmp_path):
    text = page("settings.md")
    rows = set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE))
    assert rows == set(KEYS)
    example = re.search(r"```toml\n(.*?)```", text, re.DOTALL)[1]
    assert set(tomllib.loads(example)) == set(KEYS)
    (tmp_path / ".git").mkdir()
    (tmp_path / "loralint.toml").write_text(example, "utf-8")
    settings = load_settings(str(tmp_path))
    assert (settings.gpu, settings.fail_on, settings.exceptions[0].expires) == ("A100-80GBx8", "S", "2027-03-31")


def test_the_ignore_comments_that_are_shown_work(tmp_path):
    (tmp_path / "config.yaml").write_text(
        "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 16\nlora_alpha: -16  # loralint: ignore[LL207] w\n"
        "lora_target_linear: true\nmicro_batch_size: 1\nlearning_rate: 0.0002\n",
        "utf-8",
    )
    run = loralint.check(tmp_path / "config.yaml", settings=Settings()).runs[0]
    lifted = [one for one in run.findings if one.rule == "LL207"]
    assert [one.suppressed for one in lifted] == [{"by": "inline", "reason": "w"}]
    assert count(lifted, str(tmp_path)).total() == 0


def test_output_has_the_numbers_of_the_score():
    text = page("output.md")
    assert re.findall(r"^\| ([SAB]) \| (\d+) \| (\d+) \|$", text, re.MULTILINE) == [
        (tier, str(COST[tier]), str(CAP[tier])) for tier in COST
    ]
    assert "100 - 15 - 2 * 3 = 79" in text
    assert score([finding("A", "a"), finding("B", "b"), finding("B", "c")]) == 79
    assert score([finding("S", "a")]) == 49


def finding(tier: str, key: str) -> Finding:
    return Finding("LL001", "name", tier, "", "", Span("f", 0, 0, 1, 1, 1, 1), key, "", "", None, "set")


def test_output_names_every_field_of_the_json(tmp_path):
    (tmp_path / "c.yaml").write_text(
        "base_model: meta-llama/Llama-3.1-8B\nadapter: lora\nlora_r: 16\nlora_alpha: -16\nlora_target_linear: true\n"
        "micro_batch_size: 1\nbf16: true\n",
        "utf-8",
    )
    report = loralint.check(tmp_path / "c.yaml", settings=Settings(), show_settings=True)
    body = json.loads(render(report, color=False))
    said = words(page("output.md"))
    run = body["runs"][0]
    assert run["findings"]
    assert run["notes"]
    assert set(run) <= said
    for part in (*run["findings"], *run["notes"], *run["settings"]):
        assert set(part) <= said, part
    assert {"by", "reason", "expires", "edits", "text", *ORIGINS} <= said


def test_a_table_keeps_its_cells_in_one_line():
    assert table(("a", "b"), [("x\ny", "z")]) == "| a | b |\n| --- | --- |\n| x y | z |\n"
