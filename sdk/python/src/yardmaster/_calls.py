"""The calls of both clients: what they send, and what they read from the responses."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from ._errors import YardmasterError
from ._options import NewJob, body_of
from ._payloads import json_bytes
from ._transport import Request, Target, job_path, space_path
from ._wire import JobStatus, JobWithEvents

#: The service waits at most this long before it responds. Seconds.
LONG_POLL = 20.0
RETRY_WINDOW = 60.0


def create(target: Target, jobs: NewJob | Sequence[NewJob], idempotency_key: str | None) -> Request:
    body: Any = body_of(jobs) if isinstance(jobs, NewJob) else [body_of(job) for job in jobs]
    headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
    return Request("POST", space_path(target, "/jobs"), json_bytes(body), headers)


def read(job_id: str, wait: float = 0) -> Request:
    return Request("GET", job_path(job_id, f"?waitSeconds={wait:.3f}" if wait > 0 else ""), wait=wait)


def listing(
    target: Target, status: JobStatus | None, name: str | None, limit: int | None, offset: int | None
) -> Request:
    given = {"status": status, "name": name, "limit": limit, "offset": offset}
    query = urlencode({key: value for key, value in given.items() if value is not None})
    return Request("GET", space_path(target, f"/jobs?{query}"))


def kill(job_id: str, reason: str | None) -> Request:
    return Request("POST", job_path(job_id, "/kill"), json_bytes({} if reason is None else {"reason": reason}))


def has_result(job: JobWithEvents) -> bool:
    """Whether a job is completed. Raises YardmasterError for one that will have no result."""
    status = job["status"]
    if status == "dead":
        error = job.get("error")
        text = error if isinstance(error, str) else json.dumps(error)
        raise YardmasterError("JOB_DEAD", f"The job is dead: {text}", job_status=status, job_error=error)
    if status == "killed":
        raise YardmasterError("JOB_KILLED", "Job has been killed", job_status=status)
    return status == "completed"


def timed_out(job: JobWithEvents, seconds: float) -> YardmasterError:
    status = job["status"]
    return YardmasterError("TIMEOUT", f"The job is {status} after {seconds} s", job_status=status)
