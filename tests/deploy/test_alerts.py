"""When the alerts of the chart fire, as promtool finds from series like those of the service and the API server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from tests.deploy.test_chart import CHART

PROMTOOL = os.environ.get("PROMTOOL") or shutil.which("promtool")
pytestmark = pytest.mark.skipif(not PROMTOOL, reason="no promtool: neither PROMTOOL=PATH nor promtool on the PATH")
RULES = CHART / "files" / "alerts.yaml"
OPENED = 'apiserver_admission_webhook_fail_open_count{name="warn.configmaps.loralint.dev",type="validating"}'
# an hour of minutes: the service as it is when nothing happens
QUIET = {
    'up{job="apiserver"}': "1x60",
    'loralint_build_info{version="0.1.0"}': "1x60",
    'loralint_cert_expiry_timestamp_seconds{which="leaf"}': "900000x60",
    "loralint_internal_errors_total": "2x60",
    "loralint_refused_total": "7x60",
    "loralint_log_lines_dropped_total": "3x60",
    'loralint_skipped_total{reason="busy"}': "0x60",
    'loralint_admission_duration_seconds_bucket{hook="validate",le="1.0"}': "0+60x60",
    'loralint_admission_duration_seconds_bucket{hook="validate",le="2.0"}': "0+60x60",
    'loralint_admission_duration_seconds_bucket{hook="validate",le="+Inf"}': "0+60x60",
    OPENED: "4x60",
}
CASES = {
    "nothing happens": ({}, 55, set()),
    "a request is refused": ({"loralint_refused_total": "7x30 8x30"}, 35, {"LoralintRefuses"}),
    "it was half an hour ago": ({"loralint_refused_total": "7x20 8x40"}, 55, set()),
    "a pod starts anew": ({"loralint_refused_total": "7x30 0x30"}, 35, set()),
    "a line of the log is lost": ({"loralint_log_lines_dropped_total": "3x30 9x30"}, 35, {"LoralintLogLost"}),
    "a fault of ours": ({"loralint_internal_errors_total": "2x30 3x30"}, 35, {"LoralintInternalErrors"}),
    "for a while objects are skipped": (
        {'loralint_skipped_total{reason="busy"}': "0x20 1+1x40"}, 40, {"LoralintSkips"},
    ),
    "a subresource is skipped": ({'loralint_skipped_total{reason="subresource"}': "0+1x60"}, 55, set()),
    "an old failure to ask": ({}, 5, set()),
    "one more": ({OPENED: "4x30 5x30"}, 35, {"LoralintNotAsked"}),
    "the first of all": ({OPENED: "_x30 1x30"}, 35, {"LoralintNotAsked"}),
    "the first, later": ({OPENED: "_x30 1x30"}, 50, set()),
    "nobody looked before": ({OPENED: "_x30 1x30", 'up{job="apiserver"}': "_x30 1x30"}, 35, set()),
    "a webhook of others": ({OPENED.replace("loralint.dev", "example.org"): "0+1x60"}, 35, set()),
    "every second review takes over a second": (
        {'loralint_admission_duration_seconds_bucket{hook="validate",le="1.0"}': "0+30x60"}, 55, {"LoralintSlow"},
    ),
    "the certificate ends in three days": (
        {'loralint_cert_expiry_timestamp_seconds{which="leaf"}': "200000x180"}, 90, {"LoralintCertificateExpires"},
    ),
    "nobody is there": (
        {'loralint_build_info{version="0.1.0"}': "1x10", "loralint_refused_total": "7x10"}, 40, {"LoralintAbsent"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "minute", "fires"), CASES.values(), ids=CASES)
def test_what_fires(tmp_path, given, minute, fires):
    series = {**QUIET, **given}
    for name, values in series.items():
        if minute > 60 and values.endswith("x60"):
            series[name] = f"{values[:-2]}180"
    question = {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{minute}m",
        "exp_samples": [{"labels": f'{{alertname="{one}"}}', "value": 1} for one in sorted(fires)],
    }  # fmt: skip
    told = [{"series": name, "values": values} for name, values in series.items()]
    test = {
        "rule_files": [str(RULES)], "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": told, "promql_expr_test": [question]}],
    }  # fmt: skip
    file = tmp_path / "test.yaml"
    file.write_text(json.dumps(test), encoding="utf-8")
    done = subprocess.run(
        [PROMTOOL, "test", "rules", str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_valid():
    subprocess.run([PROMTOOL, "check", "rules", str(RULES)], check=True, capture_output=True, timeout=60)
