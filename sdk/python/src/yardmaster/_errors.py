from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ._durations import Duration, seconds_of
from ._wire import FaultDetail, JobStatus, Settled


class YardmasterError(Exception):
    """A call that was refused or got no response. Its text is the message of the service.

    The SDK itself raises these codes: ``NO_RESPONSE`` (the service didn't respond, or something else did, such as a
    proxy), ``TIMEOUT`` (the caller's time limit has passed), ``JOB_DEAD`` (the last attempt of the job failed).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        job_status: JobStatus | None = None,
        job_id: str | None = None,
        request_id: str | None = None,
        details: Sequence[FaultDetail] = (),
        job_error: Any = None,
        retry_after: float = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: HTTP status; None without a response.
        self.status = status
        #: Current status of the job; only for a 409, and for errors of ``result``.
        self.job_status = job_status
        #: ID of the job in the way; only for ``JOB_NOT_UNIQUE`` and ``SCHEDULE_RUNNING``.
        self.job_id = job_id
        #: ID of the request in the logs of the service; None without a response.
        self.request_id = request_id
        #: One entry per invalid field, if a 400 has several.
        self.details = list(details)
        #: Error of the job, with all its causes; only for JOB_DEAD.
        self.job_error = job_error
        #: Seconds to wait before a retry, from Retry-After; 0 without one.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def is_temporary(self) -> bool:
        """Whether a retry may succeed."""
        status = self.status
        # A proxy that has lost its service may answer with any status, such as a 404 page. A 413 is its own limit.
        if self.code == "NO_RESPONSE":
            return status != 413 and not self.is_of_key
        return status is not None and (status >= 500 or status in (408, 429))

    @property
    def is_without_effect(self) -> bool:
        """Whether the call certainly had no effect, so that a retry is safe."""
        return self.status == 429 or self.code in ("OVERLOADED", "STORAGE_FULL")

    @property
    def is_of_key(self) -> bool:
        """Whether the API key is invalid or lacks a scope, so that someone has to act."""
        return self.status in (401, 403)


#: Longest delays that the service accepts, in seconds.
MOST_RETRY_DELAY, MOST_DELAY = 604_800.0, 31_622_400.0


class Aborted(Exception):
    """The reason for aborting a handler. Except for :class:`Draining`, what the handler does next is ignored."""


class Killed(Aborted):
    """The job was killed."""


class DeliveryLost(Aborted):
    """Another worker has taken over the job."""


class TimedOut(Aborted):
    """The attempt timed out: no heartbeat arrived in time, or it ran for too long."""


class Draining(Aborted):
    """The worker is shutting down. A result is still reported; otherwise the job is released."""


class NonRetryable(Exception):
    """Raise this in a handler to make the job dead, even if retries are left."""


class RetryAfter(Exception):
    """Raise this in a handler to fail the attempt and set the delay before the next one."""

    def __init__(self, delay: Duration, message: str = "Try again later") -> None:
        super().__init__(message)
        self.seconds = _seconds_of(delay, "the delay of RetryAfter", MOST_RETRY_DELAY)


class Release(Exception):
    """Raise ``ctx.release(...)`` in a handler to put the job back in the queue without using up an attempt."""

    def __init__(self, delay: Duration = 0, reason: str | None = None) -> None:
        super().__init__(reason or "the job is released")
        self.seconds = _seconds_of(delay, "the delay of a release", MOST_DELAY)
        self.reason = reason


def _seconds_of(delay: Duration, option: str, most: float) -> float:
    """Convert a delay to seconds, and a negative one, such as the time to a past moment, to 0."""
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
    is_past = isinstance(seconds, int | float) and seconds < 0
    return seconds_of(0 if is_past else delay, option, most)


def abort_reason_of(error: YardmasterError) -> Aborted | None:
    """Return the reason to abort a handler after this refusal; None if it may continue."""
    if error.code == "JOB_KILLED":
        return Killed("the job was killed")
    if error.code in ("DELIVERY_LOST", "JOB_NOT_FOUND"):
        return DeliveryLost("another worker has the job")
    if error.code not in ("JOB_NOT_RUNNING", "JOB_NOT_DELIVERED"):
        return None
    if error.job_status == "killed":
        return Killed("the job was killed")
    return TimedOut("the attempt timed out")


_STATUS = {
    "OVERLOADED": 503,
    "UNAVAILABLE": 503,
    "STORAGE_FULL": 503,
    "STORAGE_UNSAFE": 503,
    "INTERNAL": 500,
    "FORBIDDEN": 403,
    "JOB_NOT_FOUND": 404,
}


def refusal_in(entry: Settled) -> YardmasterError:
    """Return the refusal in one entry of a settle response."""
    code: str = entry.get("code") or "INTERNAL"
    return YardmasterError(
        code, entry.get("error") or code, status=_STATUS.get(code, 409), job_status=entry.get("jobStatus")
    )
