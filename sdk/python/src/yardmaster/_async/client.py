from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
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
from .job import AsyncJob
from .operations import AsyncOperations
from .schedules import AsyncSchedules
from .transport import AsyncTransport
from .watch import watch

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncYardmaster:
    """A client for one space, usable from any number of event loops.

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
        self._transport = AsyncTransport(self.target, seconds_of(retry_window, "retry_window"))
        #: Bulk operations on the jobs of the space.
        self.operations = AsyncOperations(self)
        #: Jobs at recurring times.
        self.schedules = AsyncSchedules(self)
        #: Makes a call, and retries until a response says what it did.
        self.send = self._transport.send
        #: Yields the messages of a stream.
        self.follow = partial(watch, self._transport)

    async def create(
        self,
        name: str,
        payload: Any = None,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[JobOptions],
    ) -> AsyncJob:
        """Create a job. A retry after a lost response, or with the same idempotency key, makes no second job."""
        request = _calls.create(self.target, NewJob(name, payload, options), idempotency_key)
        created = cast(KnownJob, await self.send(request))
        return AsyncJob(self, created["id"], created["name"], created["status"])

    async def create_many(self, jobs: Sequence[NewJob], *, idempotency_key: str | None = None) -> list[AsyncJob]:
        """Create up to 1,000 jobs in one call, in this order."""
        request = _calls.create(self.target, jobs, idempotency_key)
        created = cast(list[JobSummary], await self.send(request))
        return [AsyncJob(self, job["id"], job["name"], job["status"]) for job in created]

    def job(self, job_id: str) -> AsyncJob:
        """Return a handle to an existing job, for example to wait for its result. Makes no call."""
        return AsyncJob(self, job_id, None, None)

    async def get(
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
        return cast(JobWithEvents, await self.send(_calls.read(job_id, events, events_after, events_limit)))

    async def jobs(self, **filter: Unpack[JobFilter]) -> AsyncIterator[ListedJob]:
        """List the jobs of the space, page by page. No job is listed twice, even if jobs change while you read."""
        query, cursor = query_of(filter), None
        while True:
            page = await self.send(_calls.jobs(self.target, query, cursor))
            for job in cast(list[ListedJob], page["items"]):
                yield job
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
    ) -> AsyncGenerator[StreamMessage, None]:
        """Watch the events of the space: those with one of the names, one of the types, and all of the tags.

        ``counts`` adds the number of jobs by status. If the connection breaks, the watch calls ``on_disconnect`` with
        the error and reconnects, until you close the iterator. Each connection starts with the message ``init``: list
        the jobs again, because earlier events may be missing. Raises YardmasterError if the service refuses the stream.
        """
        return self.follow(space_stream(self.target, names, types, tags, counts), on_disconnect)

    async def spaces(self) -> AsyncIterator[Space]:
        """List the spaces that have jobs, with their counts."""
        cursor = None
        while True:
            page = cast(SpaceList, await self.send(_calls.spaces(cursor)))
            for space in page["spaces"]:
                yield space
            cursor = page["nextCursor"]
            if cursor is None:
                return

    async def stats(self) -> SpaceStats:
        """Count the jobs of the space by status and by name."""
        return cast(SpaceStats, await self.send(_calls.stats(self.target)))

    async def requeue(self, job_id: str, delay: Duration = 0) -> None:
        """Put a dead or killed job back in the queue with a fresh set of attempts.

        After a lost response, a retry may raise ``JOB_NOT_DEAD`` although the job was requeued.
        """
        await self.send(_calls.requeue(job_id, delay))

    async def copy(self, job_id: str, payload: Any = ...) -> AsyncJob:
        """Create a job with the name, options and tags of another one, and with its payload unless you pass one.

        The call isn't retried after a lost response, because a retry would make a second job.
        """
        created = cast(KnownJob, await self.send(_calls.copy(job_id, payload)))
        return AsyncJob(self, created["id"], created["name"], created["status"])

    async def delete(self, job_id: str) -> None:
        """Delete a job that has ended. After a lost response, a retry may raise ``JOB_NOT_FOUND``."""
        await self.send(_calls.delete(job_id))

    async def pause(self, names: Sequence[str] | None = None) -> None:
        """Stop claims for these names, or without names for the whole space, until ``resume``."""
        if names is None or len(names) > 0:  # An empty list must not mean the whole space.
            await self.send(_calls.pause(self.target, "pause", names))

    async def resume(self, names: Sequence[str] | None = None) -> None:
        """Restart claims for these names, or without names for the whole space."""
        if names is None or len(names) > 0:  # An empty list must not mean the whole space.
            await self.send(_calls.pause(self.target, "resume", names))

    async def kill(self, job_id: str, reason: str | None = None) -> None:
        """Kill a job: it is not retried, and a handler that is running it is aborted."""
        await self.send(_calls.kill(job_id, reason))

    async def create_stream_token(
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
        return cast(StreamToken, await self.send(request))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
