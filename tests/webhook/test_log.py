"""What libraries have to say goes the way of our own lines, without what they quote."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys

import pytest

from loralint.webhook.log import Libraries, Log
from tests.webhook.server import ROOT

CLOSED = """
import os, sys
os.close(0)
os.close(1)
from loralint.webhook.output import Output, keep_numbers
keep_numbers()
sys.stdout = None  # as Python has it where it was closed before the start
lost = []
output = Output(lambda: lost.append(1))
output("line")
output.close()
print(os.open(os.devnull, os.O_RDONLY) > 2, len(lost), file=sys.stderr)
"""


@pytest.fixture
def logged():
    lines = []
    handler, logger = Libraries(Log(write=lines.append)), logging.getLogger("uvicorn.error")
    logger.addHandler(handler)
    yield lambda: [json.loads(one) for one in lines]
    logger.removeHandler(handler)


def test_warnings_of_the_server_are_lines_of_json(logged):
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    (line,) = logged()
    assert (line["level"], line["event"], line["said"]) == ("info", "uvicorn.error", "Invalid HTTP request received.")


def test_a_fault_is_told_by_its_place_and_not_by_what_it_quotes(logged):
    token = "hf_" + "c" * 34
    try:
        {}[token]
    except KeyError:
        logging.getLogger("uvicorn.error").exception("failed on %s\n%s", token, token)
    (line,) = logged()
    assert line["level"] == "error"
    assert line["place"].startswith("KeyError at test_log.py:")
    assert line["said"] == "failed on %s"
    assert token not in json.dumps(line)


def test_no_other_file_takes_the_place_of_a_closed_output():
    done = subprocess.run(
        [sys.executable, "-c", CLOSED], stderr=subprocess.PIPE, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stderr.split() == ["True", "1"]
