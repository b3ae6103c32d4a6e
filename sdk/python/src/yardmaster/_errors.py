from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ._durations import Duration, seconds_of
from ._wire import FaultDetail, JobStatus, Settled


class YardmasterError(Exception):
    """A call that was refused, or had no response. Its text is the message of the service.

    Codes of the SDK itself: ``NO_RESPONSE`` (none came from the service, or one of something else), ``TIMEOUT`` (the
    time limit of the caller is over), ``JOB_DEAD`` (the last attempt of the job has failed).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int | None = None,
        job_status: JobStatus | None = None,
        request_id: str | None = None,
        details: Sequence[FaultDetail] = (),
        job_error: Any = None,
        retry_after: float = 0,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        #: Status of the HTTP response; None without one.
        self.status = status
        #: Status of the job now; only of a 409, and of JOB_DEAD and JOB_KILLED of a result.
        self.job_status = job_status
        #: Finds the call in the log of the service; None without a response.
        self.request_id = request_id
        #: One entry for each invalid field of a 400 that has several.
        self.details = list(details)
        #: Error of the job, with all its causes; only of JOB_DEAD.
        self.job_error = job_error
        #: Seconds that the service asks to wait before the next try; 0 for none.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    @property
    def is_temporary(self) -> bool:
        """Whether the call may succeed when it is sent again."""
        status = self.status
        # A proxy without a service behind it may answer with any status, such as a page with 404. But 413 is its limit.
        if self.code == "NO_RESPONSE":
            return status != 413 and not self.is_of_key
        return status is not None and (status >= 500 or status in (408, 429))

    @property
    def is_without_effect(self) -> bool:
        """Whether the call may succeed later, and the service says that it has done nothing."""
        return self.status == 429 or self.code in ("OVERLOADED", "STORAGE_FULL")

    @property
    def is_of_key(self) -> bool:
        """Whether the API key is wrong, so that an operator must act."""
        return self.status in (401, 403)


#: Of the service, in seconds.
MOST_RETRY_DELAY, MOST_DELAY = 604_800.0, 31_622_400.0


class Aborted(Exception):
    """Why a handler must stop. What it does afterwards is ignored, except with :class:`Draining`."""


class Killed(Aborted):
    """The job was killed."""


class DeliveryLost(Aborted):
    """Another worker has or had the job."""


class TimedOut(Aborted):
    """The attempt is over: it had no heartbeat in time, or ran for too long."""


class Draining(Aborted):
    """The worker stops. A result is still reported; otherwise the job is released, which costs no attempt."""


class NonRetryable(Exception):
    """Raised by a handler: the job is dead, whatever retries are left."""


class RetryAfter(Exception):
    """Raised by a handler: the attempt has failed, and the next one must not begin before this delay."""

    def __init__(self, delay: Duration, message: str = "Try again later") -> None:
        super().__init__(message)
        self.seconds = _seconds_of(delay, "the delay of RetryAfter", MOST_RETRY_DELAY)


class Release(Exception):
    """Raised by a handler (``raise ctx.release(...)``): the job goes back to the queue, and no attempt is counted."""

    def __init__(self, delay: Duration = 0, reason: str | None = None) -> None:
        super().__init__(reason or "the job is released")
        self.seconds = _seconds_of(delay, "the delay of a release", MOST_DELAY)
        self.reason = reason


def _seconds_of(delay: Duration, option: str, most: float) -> float:
    """A time that has passed already, such as a negative difference of two times, is no delay."""
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
    is_past = isinstance(seconds, int | float) and seconds < 0
    return seconds_of(0 if is_past else delay, option, most)


def abort_reason_of(error: YardmasterError) -> Aborted | None:
    """Return why a handler must stop after this refusal; None if it need not."""
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
    """Return the refusal in an entry of settle."""
    code: str = entry.get("code") or "INTERNAL"
    return YardmasterError(
        code, entry.get("error") or code, status=_STATUS.get(code, 409), job_status=entry.get("jobStatus")
    )
