# Generated from _async/job.py by scripts/sdk/wire.mjs; do not edit.
from __future__ import annotations

import math
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, cast

from .. import _calls
from .._durations import Duration, seconds_of
from .._streams import OnDisconnect, StreamMessage, job_stream
from .._wire import JobStatus, JobWithEvents

if TYPE_CHECKING:
    from .client import Yardmaster


class Job:
    """A handle to a job."""

    def __init__(self, client: Yardmaster, job_id: str, name: str | None, status: JobStatus | None) -> None:
        self._client = client
        self.id = job_id
        #: Name and status of the job when it was created; None for a handle made from an ID.
        self.name = name
        self.status = status

    def result(self, timeout: Duration | None = None) -> Any:
        """Wait until the job is completed and return its result.

        Raises YardmasterError with the code ``JOB_DEAD``, ``JOB_KILLED`` or ``TIMEOUT``.
        """
        seconds = math.inf if timeout is None else seconds_of(timeout, "timeout")
        end = time.monotonic() + seconds
        while True:
            wait = min(max(end - time.monotonic(), 0), _calls.LONG_POLL)
            request = _calls.wait_for(self.id, wait)
            job = cast(JobWithEvents, self._client.send(request, max(end - time.monotonic(), 1)))
            if _calls.has_result(job):
                return job.get("result")
            if time.monotonic() >= end:
                raise _calls.timed_out(job, seconds)

    def get(
        self, *, events: bool = True, events_after: int | None = None, events_limit: int | None = None
    ) -> JobWithEvents:
        """Return the job with its history or a part of it; see :meth:`Yardmaster.get`."""
        return self._client.get(self.id, events=events, events_after=events_after, events_limit=events_limit)

    def watch(
        self, since: int | None = None, on_disconnect: OnDisconnect | None = None
    ) -> Generator[StreamMessage, None, None]:
        """Watch the job until it ends: first the message ``init`` with its status, then each event as it happens.

        ``since`` is the number of the event to start after; 0 for the whole history. If the connection breaks, the
        watch calls ``on_disconnect`` with the error, reconnects, and resumes after the last event. Raises
        YardmasterError if the service refuses the stream.
        """
        return self._client.follow(job_stream(self.id, since), on_disconnect)

    def kill(self, reason: str | None = None) -> None:
        """Kill the job: it is not retried, and a handler that is running it is aborted."""
        self._client.kill(self.id, reason)
