# Generated from _async/client.py by scripts/sdk/wire.mjs; do not edit.
from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from .. import _calls
from .._durations import Duration, seconds_of
from .._http import Target
from .._options import JobFilter, JobOptions, NewJob, query_of, target_of
from .._streams import OnDisconnect, StreamMessage, space_stream
from .._wire import (
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
from .job import Job
from .operations import Operations
from .schedules import Schedules
from .transport import Transport
from .watch import watch

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Yardmaster:
    """A client for one space, usable from any number of threads.

    It retries calls that get no response or are refused temporarily, for ``retry_window``. Missing arguments are read
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
        #: Bulk operations on the jobs of the space.
        self.operations = Operations(self)
        #: Jobs at recurring times.
        self.schedules = Schedules(self)
        #: Makes a call, and retries until a response says what it did.
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
        """Create a job. A retry after a lost response, or with the same idempotency key, makes no second job."""
        request = _calls.create(self.target, NewJob(name, payload, options), idempotency_key)
        created = cast(KnownJob, self.send(request))
        return Job(self, created["id"], created["name"], created["status"])

    def create_many(self, jobs: Sequence[NewJob], *, idempotency_key: str | None = None) -> list[Job]:
        """Create up to 1,000 jobs in one call, in this order."""
        request = _calls.create(self.target, jobs, idempotency_key)
        created = cast(list[JobSummary], self.send(request))
        return [Job(self, job["id"], job["name"], job["status"]) for job in created]

    def job(self, job_id: str) -> Job:
        """Return a handle to an existing job, for example to wait for its result. Makes no call."""
        return Job(self, job_id, None, None)

    def get(
        self,
        job_id: str,
        *,
        events: bool = True,
        events_after: int | None = None,
        events_limit: int | None = None,
    ) -> JobWithEvents:
        """Return a job with its history; if ``events`` is false, without it and without the key ``events``.

        ``events_after`` and ``events_limit`` select a page of at most 100 events, which starts after this event number.
        An event's ID ends with its number. To read the whole history, continue after the last event until a page is
        empty.
        """
        return cast(JobWithEvents, self.send(_calls.read(job_id, events, events_after, events_limit)))

    def jobs(self, **filter: Unpack[JobFilter]) -> Iterator[ListedJob]:
        """List the jobs of the space, page by page. No job is listed twice, even if jobs change while you read."""
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
        """Watch the events of the space: those with one of the names, one of the types, and all of the tags.

        ``counts`` adds the number of jobs by status. If the connection breaks, the watch calls ``on_disconnect`` with
        the error and reconnects, until you close the iterator. Each connection starts with the message ``init``: list
        the jobs again, because earlier events may be missing. Raises YardmasterError if the service refuses the stream.
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
        """Put a dead or killed job back in the queue with a fresh set of attempts.

        After a lost response, a retry may raise ``JOB_NOT_DEAD`` although the job was requeued.
        """
        self.send(_calls.requeue(job_id, delay))

    def copy(self, job_id: str, payload: Any = ...) -> Job:
        """Create a job with the name, options and tags of another one, and with its payload unless you pass one.

        The call isn't retried after a lost response, because a retry would make a second job.
        """
        created = cast(KnownJob, self.send(_calls.copy(job_id, payload)))
        return Job(self, created["id"], created["name"], created["status"])

    def delete(self, job_id: str) -> None:
        """Delete a job that has ended. After a lost response, a retry may raise ``JOB_NOT_FOUND``."""
        self.send(_calls.delete(job_id))

    def pause(self, names: Sequence[str] | None = None) -> None:
        """Stop claims for these names, or without names for the whole space, until ``resume``."""
        if names is None or len(names) > 0:  # An empty list must not mean the whole space.
            self.send(_calls.pause(self.target, "pause", names))

    def resume(self, names: Sequence[str] | None = None) -> None:
        """Restart claims for these names, or without names for the whole space."""
        if names is None or len(names) > 0:  # An empty list must not mean the whole space.
            self.send(_calls.pause(self.target, "resume", names))

    def kill(self, job_id: str, reason: str | None = None) -> None:
        """Kill a job: it is not retried, and a handler that is running it is aborted."""
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
        """Create a short-lived token for some streams, for a web page that must not have the API key.

        Pass exactly one of ``job_ids``, ``tag`` and ``space_id``.
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
