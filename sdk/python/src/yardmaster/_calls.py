"""The requests of both clients, and how they read the responses."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import quote, urlencode

from ._durations import Duration, seconds_of
from ._error_objects import line_of
from ._errors import YardmasterError
from ._http import Request, Target, job_path, space_path
from ._options import NewJob, OperationOptions, body_of
from ._payloads import json_bytes
from ._schedules import NewSchedule, definition_of
from ._wire import JobWithEvents, OperationFilterRequest, OperationRequestAction, StreamTokenRequestScope

#: Longest wait of one call, in seconds: the limit of the service.
LONG_POLL = 20.0
RETRY_WINDOW = 60.0


def create(target: Target, jobs: NewJob | Sequence[NewJob], idempotency_key: str | None) -> Request:
    body: Any = body_of(jobs) if isinstance(jobs, NewJob) else [body_of(job) for job in jobs]
    # Without `prefer`, the service would ignore an option that it doesn't know.
    headers = {"idempotency-key": idempotency_key or str(uuid.uuid4()), "prefer": "handling=strict"}
    return Request("POST", space_path(target, "/jobs"), json_bytes(body), headers)


def wait_for(job_id: str, wait: float) -> Request:
    query = f"?events=0&waitSeconds={wait:.3f}" if wait > 0 else "?events=0"
    return Request("GET", job_path(job_id, query), wait=wait)


def read(job_id: str, events: bool, events_after: int | None, events_limit: int | None) -> Request:
    options = {"events": None if events else 0, "eventsAfter": events_after, "eventsLimit": events_limit}
    query = urlencode({name: value for name, value in options.items() if value is not None})
    return Request("GET", job_path(job_id, f"?{query}" if query else ""))


def jobs(target: Target, query: str, cursor: str | None) -> Request:
    return Request("GET", space_path(target, f"/jobs?{_after(cursor, query)}"), is_page=True)


def spaces(cursor: str | None) -> Request:
    return Request("GET", f"/spaces?{_after(cursor, 'limit=100')}")


def _after(cursor: str | None, query: str) -> str:
    return query if cursor is None else f"{query}&{urlencode({'cursor': cursor})}"


def stats(target: Target) -> Request:
    return Request("GET", space_path(target, "/stats"))


def requeue(job_id: str, delay: Duration) -> Request:
    return Request("POST", job_path(job_id, "/requeue"), json_bytes({"delaySeconds": seconds_of(delay, "delay")}))


def copy(job_id: str, payload: Any) -> Request:
    body = json_bytes({} if payload is ... else {"payload": payload})
    return Request("POST", job_path(job_id, "/copy"), body, is_once=True)


def delete(job_id: str) -> Request:
    return Request("DELETE", job_path(job_id))


def pause(target: Target, action: str, names: Sequence[str] | None) -> Request:
    return Request("POST", space_path(target, f"/{action}"), json_bytes({} if names is None else {"names": names}))


def start_operation(
    target: Target,
    action: OperationRequestAction,
    jobs: OperationFilterRequest,
    options: OperationOptions,
    idempotency_key: str | None,
) -> Request:
    body: dict[str, Any] = {"action": action, "filter": jobs}
    for option, value in options.items():
        if option == "delay":
            body["delaySeconds"] = seconds_of(cast(Duration, value), option)
        elif option in ("limit", "dry_run", "reason"):
            body["dryRun" if option == "dry_run" else option] = value
        else:
            raise TypeError(f"Operations have no option {option!r}")
    headers = {"idempotency-key": idempotency_key or str(uuid.uuid4())}
    return Request("POST", space_path(target, "/operations"), json_bytes(body), headers)


def create_stream_token(
    scope: StreamTokenRequestScope,
    job_ids: Sequence[str] | None,
    tag: str | None,
    space_id: str | None,
    expires_in: Duration | None,
) -> Request:
    fields = {"scope": scope, "jobIds": job_ids, "tag": tag, "spaceId": space_id}
    body: dict[str, Any] = {key: value for key, value in fields.items() if value is not None}
    if expires_in is not None:
        body["expiresInSeconds"] = round(seconds_of(expires_in, "expires_in"))
    return Request("POST", "/stream-tokens", json_bytes(body))


def operation(method: str, operation_id: str) -> Request:
    return Request(method, f"/operations/{quote(operation_id, safe='')}")


def sync_schedules(target: Target, owner: str, schedules: Sequence[NewSchedule], prune: bool) -> Request:
    listed = [{"id": each.id, **definition_of(each.job, each.options)} for each in schedules]
    body = json_bytes({"owner": owner, "schedules": listed, "prune": prune})
    return Request("PUT", space_path(target, "/schedules"), body)


def schedules(target: Target, cursor: str | None) -> Request:
    return Request("GET", space_path(target, f"/schedules?{_after(cursor, 'limit=100')}"))


def schedule(method: str, target: Target, schedule_id: str, body: Any = None) -> Request:
    return Request(method, _schedule_path(target, schedule_id), None if body is None else json_bytes(body))


def run_schedule(target: Target, schedule_id: str, payload: Any) -> Request:
    body = json_bytes({} if payload is ... else {"payload": payload})
    return Request("POST", _schedule_path(target, schedule_id, "/run"), body, is_once=True)


def _schedule_path(target: Target, schedule_id: str, rest: str = "") -> str:
    return space_path(target, f"/schedules/{quote(schedule_id, safe='')}{rest}")


class OperationWait:
    """Chooses the wait before an operation is read again: from 0.1 s, doubling up to 2 s."""

    def __init__(self, timeout: Duration | None) -> None:
        self._seconds = math.inf if timeout is None else seconds_of(timeout, "timeout")
        self._end = time.monotonic() + self._seconds
        self._next = 0.1

    def next(self) -> float:
        """Return the next wait in seconds. Raises YardmasterError ``TIMEOUT`` after the time limit."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise YardmasterError("TIMEOUT", f"The operation is still running after {self._seconds} s")
        wait, self._next = min(self._next, left), min(self._next * 2, 2.0)
        return wait


def kill(job_id: str, reason: str | None) -> Request:
    return Request("POST", job_path(job_id, "/kill"), json_bytes({} if reason is None else {"reason": reason}))


def has_result(job: JobWithEvents) -> bool:
    """Return whether a job is completed. Raises YardmasterError if it will never have a result."""
    status = job["status"]
    if status == "dead":
        error = job.get("error")
        raise YardmasterError("JOB_DEAD", f"The job is dead: {line_of(error)}", job_status=status, job_error=error)
    if status == "killed":
        raise YardmasterError("JOB_KILLED", "Job has been killed", job_status=status)
    return status == "completed"


def timed_out(job: JobWithEvents, seconds: float) -> YardmasterError:
    status = job["status"]
    return YardmasterError("TIMEOUT", f"The job is {status} after {seconds} s", job_status=status)
