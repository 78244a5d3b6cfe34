"""A process that judges one object after another, so that whoever waits for it can end it at any moment.

Started as `python -m loralint.webhook.worker OPTIONS`; reads tasks from its standard input and ends with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from loralint.engine.lint import Job
from loralint.webhook.judging import Task, judge, settings_of, webhook_job
from loralint.webhook.patch import patched
from loralint.webhook.review import BadReviewError, read_request
from loralint.webhook.wire import HEADER, Options, options_of, pack, task_of

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
_MEMORY = 2 << 30  # bytes of address space; the largest object that is judged takes a tenth
# Judged once, so that nobody's first object waits for what is loaded late.
_WARM = (
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w"},'
    '"data":{"a.yaml":"base_model: m\\nadapter: lora\\ndatasets: []"}}'
)


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends, however that happens."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we asked
        os._exit(1)


def _bounded() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def job_of(options: Options) -> Job:
    """What a worker judges by. Raises SettingsError, and ValueError for a name that is not known."""
    settings = settings_of(options.settings, options.settings_file) if options.settings else None
    return webhook_job(
        gpu=options.gpu, target=options.target, select=options.select, ignore=options.ignore, settings=settings
    )


def answer(message: dict[str, Any], job: Job, *, pods: bool) -> dict[str, Any]:
    """Do what a message asks. What goes wrong is told by its place in our code: its text may quote a config."""
    does: dict[str, Callable[[], dict[str, Any]]] = {
        "judge": lambda: judge(task_of(message), job)._asdict(),
        "patch": lambda: patched(message["data"], job)._asdict(),
        "read": lambda: _read(message["body"], pods=pods),
    }
    try:
        return does[message["does"]]()
    except BadReviewError as error:
        return {"bad": str(error)}
    except Exception as error:  # noqa: BLE001 - a worker outlives every fault of a look
        return {"error": place_in_code(error)}


def _read(body: str, *, pods: bool) -> dict[str, Any]:
    request = read_request(body.encode("utf-8", "surrogateescape"), pods=pods)
    return {**request._asdict(), "head": request.head._asdict()}


def place_in_code(error: BaseException) -> str:
    """`KeyError at x.py:12`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "an unknown place"
    return f"{type(error).__name__} at {place}"


def _message(stream: BinaryIO) -> dict[str, Any] | None:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    body = stream.read(HEADER.unpack(header)[0])
    message: dict[str, Any] = json.loads(body)
    return message


def main() -> None:
    """Judge until nobody asks any more."""
    given = json.loads(sys.argv[1])
    die_with_parent(given["parent"])
    _bounded()
    if given["nice"]:
        os.nice(10)
    options = options_of(given)
    job = job_of(options)
    judge(Task(_WARM), job)
    gc.freeze()
    gc.set_threshold(50_000)  # nothing of a review is a cycle; see `loralint.cli`
    out = sys.stdout.buffer
    out.write(pack({"ready": True}))
    out.flush()
    while (message := _message(sys.stdin.buffer)) is not None:
        out.write(pack(answer(message, job, pods=options.pods)))
        out.flush()


if __name__ == "__main__":
    main()
