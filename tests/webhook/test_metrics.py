"""The names that others build alerts on, and labels that nobody outside can multiply."""

from __future__ import annotations

from pathlib import Path

from loralint.webhook.metrics import Metrics
from tests.webhook.reviews import BAD, body, config_map

GUIDE = Path(__file__).parents[2] / "docs" / "webhook.md"


def test_the_guide_names_every_metric():
    told = GUIDE.read_text(encoding="utf-8")
    for family in Metrics().registry.collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert f"`{name}`" in told


def test_labels_come_from_a_closed_list(ask):
    metrics = Metrics()
    for number in range(5):
        ask(body({**config_map(BAD), "kind": f"Kind{number}"}, operation=f"VERB{number}"), metrics=metrics)
    said = metrics.text().decode()
    assert "Kind" not in said.replace("ConfigMap", "")
    assert "VERB" not in said
    assert 'kind="other",mode="enforce",operation="other",verdict="skip"} 5.0' in said


def test_findings_are_counted_by_rule(ask):
    metrics = Metrics()
    ask(body(config_map(BAD)), metrics=metrics)
    ask(body(config_map(BAD)), metrics=metrics)
    assert 'loralint_findings_total{rule="LL304",severity="S"} 2.0' in metrics.text().decode()


def test_what_alerts_count_is_there_before_the_first_time():
    said = Metrics().text().decode()
    for reason in ("too-large", "busy", "deadline", "crashed", "internal"):
        assert f'loralint_skipped_total{{reason="{reason}"}} 0.0' in said
