from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypedDict, cast
from urllib.parse import urlencode, urlsplit

from ._durations import Duration, seconds_of
from ._http import Target
from ._wire import CreateJobCallbackOn, JobStatus, RetryRequest, UniqueRequest


def target_of(url: str | None, api_key: str | None, space: str | None) -> Target:
    """Read the options and the environment. Raises ValueError that names what is missing or invalid."""
    env = os.environ
    full = (url or env.get("YARDMASTER_URL") or "http://127.0.0.1:8080").rstrip("/").removesuffix("/api/v1")
    if urlsplit(full).scheme not in ("http", "https"):
        raise ValueError(f"The url option or YARDMASTER_URL is not an HTTP URL: {full}")
    key = (api_key or env.get("YARDMASTER_API_KEY") or "").strip()  # A key from a file may end with a line break.
    if not key:
        raise ValueError("Set the api_key option or the YARDMASTER_API_KEY variable")
    if not key.isascii() or not key.isprintable():
        raise ValueError("The api_key option or YARDMASTER_API_KEY contains a character that no API key contains")
    name = space or env.get("YARDMASTER_SPACE")
    if not name:
        raise ValueError("Set the space option or the YARDMASTER_SPACE variable")
    return Target(full, key, name)


class JobOptions(TypedDict, total=False):
    """Job options. The service has a default for each."""

    #: Delay before the job can be claimed. Default: none.
    delay: Duration
    #: Time from which the job can be claimed. A datetime needs a time zone. Default: now.
    scheduled_for: datetime | str
    #: Maximum number of retries after the first attempt. Default: 3.
    max_retries: int
    #: Delays between attempts. Default: none.
    retry: RetryRequest
    #: Longest time between heartbeats, which the worker sends. Default: 300 s.
    timeout: Duration
    #: Maximum duration of one attempt. Default: none.
    max_run: Duration
    #: Maximum wait until a worker starts the job; after it, the job is dead. Default: none.
    start_within: Duration
    #: Head start in the queue, in seconds. Default: 0.
    priority: int
    #: Up to 10 words by which ``jobs`` and ``operations`` can find the job.
    tags: Sequence[str]
    #: Creates the job only if no other job holds this key.
    unique: UniqueRequest
    #: URL to which the service posts the outcome of the job.
    callback_url: str
    #: Headers of the callback.
    callback_headers: Mapping[str, str]
    #: Outcomes that trigger the callback. Default: completed and dead.
    callback_on: Sequence[CreateJobCallbackOn]


@dataclass(frozen=True)
class NewJob:
    """A job to create. The payload is a dict, a dataclass, a pydantic model, a msgspec Struct or None."""

    name: str
    payload: Any = None
    options: JobOptions = field(default_factory=JobOptions)


_WIRE = {
    "max_retries": "maxRetries",
    "retry": "retry",
    "priority": "priority",
    "tags": "tags",
    "unique": "unique",
    "callback_url": "callbackUrl",
    "callback_headers": "callbackHeaders",
    "callback_on": "callbackOn",
}
_DURATIONS = {
    "delay": "delaySeconds",
    "timeout": "timeoutSeconds",
    "max_run": "maxRunSeconds",
    "start_within": "startWithinSeconds",
}


def body_of(job: NewJob) -> dict[str, Any]:
    """Return the request body that creates a job. Raises TypeError or ValueError for an invalid option."""
    body: dict[str, Any] = {"name": job.name, "payload": job.payload}
    for option, value in job.options.items():
        if option in _DURATIONS:
            body[_DURATIONS[option]] = seconds_of(cast(Duration, value), option)
        elif option in _WIRE:
            body[_WIRE[option]] = value
        elif option == "scheduled_for":
            body["scheduledFor"] = text_of(cast("datetime | str", value), option)
        else:
            raise TypeError(f"Jobs have no option {option!r}")
    return body


class JobFilter(TypedDict, total=False):
    """Filters of a job list, combined with AND."""

    #: Only jobs with this status, or one of several.
    status: JobStatus | Sequence[JobStatus]
    #: Only jobs with this name, or one of several.
    name: str | Sequence[str]
    #: Only jobs with this tag, or with all of several.
    tag: str | Sequence[str]
    #: Only jobs created by the schedule with this ID.
    schedule: str
    #: Only jobs with this text in the JSON of their payload, result or error. Case-insensitive.
    q: str
    #: Only jobs created at or after this time. A datetime needs a time zone.
    created_after: datetime | str
    #: Only jobs created before this time.
    created_before: datetime | str
    #: Sort by creation time: newest first (``desc``) or oldest first (``asc``). Default: ``desc``.
    order: Literal["asc", "desc"]
    #: Number of jobs to fetch per call, at most 100. Default: 50.
    page_size: int


class OperationOptions(TypedDict, total=False):
    """Options of an operation."""

    #: Maximum number of jobs to change. Default: all.
    limit: int
    #: Only count the jobs that would be changed. Default: False.
    dry_run: bool
    #: Reason, shown with the operation.
    reason: str
    #: Delay until the jobs are claimable. Only for requeue, and required for reschedule.
    delay: Duration


_PARAMETERS = {"created_after": "createdAfter", "created_before": "createdBefore", "page_size": "limit"}


def query_of(jobs: JobFilter) -> str:
    """Return the query of a job list. Raises TypeError or ValueError for an invalid filter."""
    query: dict[str, Any] = {}
    for part, value in jobs.items():
        if part not in JobFilter.__annotations__:
            raise TypeError(f"Jobs have no filter {part!r}")
        is_time = part in ("created_after", "created_before")
        query[_PARAMETERS.get(part, part)] = text_of(cast("datetime | str", value), part) if is_time else value
    return urlencode(query, doseq=True)


def text_of(at: datetime | str, option: str) -> str:
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{option} must have a time zone")
    return at.isoformat()
