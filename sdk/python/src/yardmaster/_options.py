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
    """What is missing is read from the environment. Raises ValueError, which names what is missing there too."""
    env = os.environ
    full = (url or env.get("YARDMASTER_URL") or "http://127.0.0.1:8080").rstrip("/").removesuffix("/api/v1")
    if urlsplit(full).scheme not in ("http", "https"):
        raise ValueError(f"The option url, or YARDMASTER_URL, is no http or https URL: {full}")
    key = (api_key or env.get("YARDMASTER_API_KEY") or "").strip()  # One from a file may end with a line break.
    if not key:
        raise ValueError("Set the option api_key, or the variable YARDMASTER_API_KEY")
    if not key.isascii() or not key.isprintable():
        raise ValueError("The option api_key, or YARDMASTER_API_KEY, has a character that no key has")
    name = space or env.get("YARDMASTER_SPACE")
    if not name:
        raise ValueError("Set the option space, or the variable YARDMASTER_SPACE")
    return Target(full, key, name)


class JobOptions(TypedDict, total=False):
    """Options of a job. Those that are left out have the default of the service."""

    #: Not before this time has passed.
    delay: Duration
    #: Not before this time. A datetime needs a time zone.
    scheduled_for: datetime | str
    #: Attempts after the first. Default: 3.
    max_retries: int
    #: Delays between attempts. Default: none.
    retry: RetryRequest
    #: Longest time between two heartbeats, which the worker sends. Default: 300 s.
    timeout: Duration
    #: Longest time of one attempt. Default: none.
    max_run: Duration
    #: Longest time until a worker starts the job. Default: none.
    start_within: Duration
    #: Head start in the queue, in seconds. Default: 0.
    priority: int
    #: Words by which ``jobs`` and ``operations`` find the job: at most 10.
    tags: Sequence[str]
    #: Create the job only if no job has this key.
    unique: UniqueRequest
    #: Where the service reports the end of the job.
    callback_url: str
    callback_headers: Mapping[str, str]
    callback_on: Sequence[CreateJobCallbackOn]


@dataclass(frozen=True)
class NewJob:
    """A job to create. The payload is a dict, a dataclass, or a model of pydantic or msgspec; or None."""

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
    """Return the body of a create. Raises TypeError or ValueError for an option that is not valid."""
    body: dict[str, Any] = {"name": job.name, "payload": job.payload}
    for option, value in job.options.items():
        if option in _DURATIONS:
            body[_DURATIONS[option]] = seconds_of(cast(Duration, value), option)
        elif option in _WIRE:
            body[_WIRE[option]] = value
        elif option == "scheduled_for":
            body["scheduledFor"] = text_of(cast("datetime | str", value), option)
        else:
            raise TypeError(f"There is no option {option!r} of a job")
    return body


class JobFilter(TypedDict, total=False):
    """Which jobs to list: those that pass all of these."""

    #: One of these.
    status: JobStatus | Sequence[JobStatus]
    #: One of these.
    name: str | Sequence[str]
    #: All of these.
    tag: str | Sequence[str]
    #: Text in the JSON of payload, result or error, in upper or lower case.
    q: str
    #: Created at this time or later. A datetime needs a time zone.
    created_after: datetime | str
    #: Created before this time.
    created_before: datetime | str
    #: By creation: newest first (``desc``, the default) or oldest first.
    order: Literal["asc", "desc"]
    #: Jobs in one call, at most 100. Default: 50.
    page_size: int


class OperationOptions(TypedDict, total=False):
    """Options of an operation."""

    #: Maximum number of jobs to change. Default: all.
    limit: int
    #: Only count the jobs that would be changed. Default: False.
    dry_run: bool
    #: Shown with the operation.
    reason: str
    #: When the jobs become claimable; only of requeue, and of reschedule, which needs it.
    delay: Duration


_PARAMETERS = {"created_after": "createdAfter", "created_before": "createdBefore", "page_size": "limit"}


def query_of(jobs: JobFilter) -> str:
    """Return the query of a list. Raises TypeError or ValueError for a part that is not valid."""
    query: dict[str, Any] = {}
    for part, value in jobs.items():
        if part not in JobFilter.__annotations__:
            raise TypeError(f"There is no filter {part!r} of jobs")
        is_time = part in ("created_after", "created_before")
        query[_PARAMETERS.get(part, part)] = text_of(cast("datetime | str", value), part) if is_time else value
    return urlencode(query, doseq=True)


def text_of(at: datetime | str, option: str) -> str:
    if isinstance(at, str):
        return at
    if at.tzinfo is None:
        raise ValueError(f"{option} must have a time zone")
    return at.isoformat()
