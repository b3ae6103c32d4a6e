# Generated from _async/client.py by scripts/sdk/wire.mjs; do not edit.
from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from .. import _calls
from .._durations import Duration, seconds_of
from .._http import Target
from .._options import JobFilter, JobOptions, NewJob, query_of, target_of
from .._streams import OnDisconnect, StreamMessage, job_stream, space_stream
from .._wire import (
    JobStatus,
    JobSummary,
    JobWithEvents,
    KnownJob,
    ListedJob,
    Space,
    SpaceList,
    SpaceStats,
    StreamToken,
    StreamTokenRequestScope,
)
from .operations import Operations
from .transport import Transport
from .watch import watch

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Job:
    """Names a job."""

    def __init__(self, client: Yardmaster, job_id: str, name: str | None, status: JobStatus | None) -> None:
        self._client = client
        self.id = job_id
        #: Name and status of the job when it was created; None for a job by its id.
        self.name = name
        self.status = status

    def result(self, timeout: Duration | None = None) -> Any:
        """Wait until the job is completed, and return its result.

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
        """Return the job with its history, or a part of it; see :meth:`Yardmaster.get`."""
        return self._client.get(self.id, events=events, events_after=events_after, events_limit=events_limit)

    def watch(
        self, since: int | None = None, on_disconnect: OnDisconnect | None = None
    ) -> Generator[StreamMessage, None, None]:
        """Follow the job until it ends: the message ``init``, which has its status, and then each event as it happens.

        ``since``: the number of an event after which to begin; 0 for the whole history. The watch reconnects when a
        connection breaks, and resumes after the last event. ``on_disconnect`` gets the error before each reconnection.
        Raises YardmasterError when the service refuses the stream.
        """
        return self._client.follow(job_stream(self.id, since), on_disconnect)

    def kill(self, reason: str | None = None) -> None:
        """End the job."""
        self._client.kill(self.id, reason)


class Yardmaster:
    """A client of one space, for any number of threads.

    Calls that have no response, or are refused for now, are sent again for ``retry_window``. What is not given is read
    from ``YARDMASTER_URL``, ``YARDMASTER_API_KEY`` and ``YARDMASTER_SPACE``.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        api_key: str | None = None,
        space: str | None = None,
        retry_window: Duration = _calls.RETRY_WINDOW,
    ) -> None:
        self.target: Target = target_of(url, api_key, space)
        self._transport = Transport(self.target, seconds_of(retry_window, "retry_window"))
        #: Changes many jobs.
        self.operations = Operations(self)
        #: Makes a call, and sends it again until a response says what it did.
        self.send = self._transport.send
        #: Yields the messages of a stream.
        self.follow = partial(watch, self._transport)

    def create(
        self,
        name: str,
        payload: Any = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> Job:
        """Create a job. Sent again after a lost response, or with the same idempotency key, it makes one job."""
        request = _calls.create(self.target, NewJob(name, payload, options), idempotency_key)
        created = cast(KnownJob, self.send(request))
        return Job(self, created["id"], created["name"], created["status"])

    def create_many(self, jobs: Sequence[NewJob], *, idempotency_key: str | None = None) -> list[Job]:
        """Create up to 1,000 jobs with one call, in this order."""
        request = _calls.create(self.target, jobs, idempotency_key)
        created = cast(list[JobSummary], self.send(request))
        return [Job(self, job["id"], job["name"], job["status"]) for job in created]

    def job(self, job_id: str) -> Job:
        """Return a job by its id, for example to wait for its result. It makes no call."""
        return Job(self, job_id, None, None)

    def get(
        self,
        job_id: str,
        *,
        events: bool = True,
        events_after: int | None = None,
        events_limit: int | None = None,
    ) -> JobWithEvents:
        """Return a job with its history; without it, and the key ``events``, if ``events`` is false.

        ``events_after`` and ``events_limit`` return a page of at most 100 events: those after this number, which is the
        end of the id of an event. Read on after the last one until a page is empty.
        """
        return cast(JobWithEvents, self.send(_calls.read(job_id, events, events_after, events_limit)))

    def jobs(self, **filter: Unpack[JobFilter]) -> Iterator[ListedJob]:
        """List jobs of the space, page after page: no job comes twice, whatever changes in the meantime."""
        query, cursor = query_of(filter), None
        while True:
            page = self.send(_calls.jobs(self.target, query, cursor))
            yield from cast(list[ListedJob], page["items"])
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def watch(
        self,
        *,
        names: Sequence[str] = (),
        types: Sequence[str] = (),
        tags: Sequence[str] = (),
        counts: bool = False,
        on_disconnect: OnDisconnect | None = None,
    ) -> Generator[StreamMessage, None, None]:
        """Follow the events of the space: those with one of the names, one of the types, and all of the tags.

        ``counts``: include the number of jobs by status. The watch reconnects until you close the iterator. Each
        connection begins with the message ``init``: events before it may be missing, so list the jobs again.
        ``on_disconnect`` gets the error before each reconnection. Raises YardmasterError when the service refuses the
        stream.
        """
        return self.follow(space_stream(self.target, names, types, tags, counts), on_disconnect)

    def spaces(self) -> Iterator[Space]:
        """List the spaces that have jobs, with their counts."""
        cursor = None
        while True:
            page = cast(SpaceList, self.send(_calls.spaces(cursor)))
            yield from page["spaces"]
            cursor = page["nextCursor"]
            if cursor is None:
                return

    def stats(self) -> SpaceStats:
        """Count the jobs of the space by status and by name."""
        return cast(SpaceStats, self.send(_calls.stats(self.target)))

    def requeue(self, job_id: str, delay: Duration = 0) -> None:
        """Put a dead or killed job back in the queue, with all of its attempts.

        After a lost response it may raise ``JOB_NOT_DEAD`` although the job waits.
        """
        self.send(_calls.requeue(job_id, delay))

    def copy(self, job_id: str, payload: Any = ...) -> Job:
        """Create a job with the name, options and tags of another one, and with its payload if none is given.

        It is not sent again after a lost response, because that would make a second job.
        """
        created = cast(KnownJob, self.send(_calls.copy(job_id, payload)))
        return Job(self, created["id"], created["name"], created["status"])

    def delete(self, job_id: str) -> None:
        """Remove a job that has ended. After a lost response it may raise ``JOB_NOT_FOUND`` although it is removed."""
        self.send(_calls.delete(job_id))

    def pause(self, names: Sequence[str] | None = None) -> None:
        """Pause the jobs of these names, or without names the whole space: they are not claimed until ``resume``."""
        if names is None or len(names) > 0:  # It must not mean the whole space.
            self.send(_calls.pause(self.target, "pause", names))

    def resume(self, names: Sequence[str] | None = None) -> None:
        """End the pause of these names, or without names every pause of the space."""
        if names is None or len(names) > 0:  # It must not mean the whole space.
            self.send(_calls.pause(self.target, "resume", names))

    def kill(self, job_id: str, reason: str | None = None) -> None:
        """End a job: it is not attempted any more, and a handler that works on it is aborted."""
        self.send(_calls.kill(job_id, reason))

    def create_stream_token(
        self,
        scope: StreamTokenRequestScope,
        *,
        job_ids: Sequence[str] | None = None,
        tag: str | None = None,
        space_id: str | None = None,
        expires_in: Duration | None = None,
    ) -> StreamToken:
        """Create a token that opens some streams for a short time, for a page that must not have the API key.

        Exactly one of ``job_ids``, ``tag`` and ``space_id`` is required.
        """
        request = _calls.create_stream_token(scope, job_ids, tag, space_id, expires_in)
        return cast(StreamToken, self.send(request))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
