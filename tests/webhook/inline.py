"""Judging in the process itself, for tests and fuzzing of what stands around it."""

from __future__ import annotations

from loralint.engine.lint import Job
from loralint.webhook.judging import Judged, Task, judge
from loralint.webhook.patch import Patched, patched
from loralint.webhook.pool import Unjudged
from loralint.webhook.review import Request, read_request
from loralint.webhook.worker import place_in_code


class Inline:
    """Has no deadline, since nothing could end it."""

    def __init__(self, job: Job, *, pods: bool = False) -> None:
        self._job = job
        self._pods = pods

    async def judge(self, task: Task, seconds: float) -> Judged:
        """Judge an object. Raises Unjudged."""
        del seconds
        try:
            return judge(task, self._job)
        except Exception as error:  # noqa: BLE001 - as a worker outlives every fault of a look
            raise Unjudged("internal", place_in_code(error)) from None

    async def patch(self, data: dict[str, str], seconds: float) -> Patched:
        """Mend a map. Raises Unjudged."""
        del seconds
        try:
            return patched(data, self._job)
        except Exception as error:  # noqa: BLE001 - as a worker outlives every fault of a look
            raise Unjudged("internal", place_in_code(error)) from None

    async def read(self, body: bytes, seconds: float) -> Request:
        """Read a large review. Raises BadReviewError."""
        del seconds
        return read_request(body, pods=self._pods)
