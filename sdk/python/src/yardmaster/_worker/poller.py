from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from .._backoff import Backoff
from .._errors import YardmasterError
from .._http import Request, space_path
from .._payloads import json_bytes
from .._warnings import WorkerWarning
from .._wire import Poll, PolledJobs
from .claims import begin
from .health import Health
from .outbox import FAILURES_BEFORE_WARNING
from .settle import Report

if TYPE_CHECKING:
    from .session import Session

_WAIT = 20.0
#: How long to collect free slots, so that one poll claims jobs for several, in seconds. Shorter than for outcomes.
_COLLECT = 0.002
#: Limit of the service for the jobs of one poll.
_MOST_JOBS = 50


class Poller:
    """Claims jobs while there are free slots, one call at a time."""

    def __init__(self, worker_id: str, health: Health) -> None:
        self._worker_id = worker_id
        self._health = health

    async def run(self, session: Session) -> None:
        """Poll until the session is stopping."""
        backoff = Backoff()
        stopped = asyncio.get_running_loop().create_task(session.stopping.wait())
        try:
            while await self._has_room(session):
                reports = session.outbox.take()
                try:
                    polled = await self._poll(session, reports, stopped)
                except YardmasterError as error:
                    session.outbox.failed(reports, error)
                    if session.is_draining:
                        return
                    # A poll with outcomes may be refused because of them, so it is tried without.
                    if not error.is_temporary and (not reports or error.is_of_key):
                        session.fail(error)
                        return
                    if backoff.failures == FAILURES_BEFORE_WARNING:
                        session.warn(WorkerWarning("unavailable", f"polls fail: {error.message}"))
                    await asyncio.wait({stopped}, timeout=backoff.next(error))
                    continue
                backoff = Backoff()
                session.outbox.answered(reports, polled.get("settled") or [])
                begin(session, polled["jobs"])
        finally:
            stopped.cancel()

    async def _has_room(self, session: Session) -> bool:
        """Wait until there is a free slot. Returns False if the session is stopping."""
        while not session.has_room and not session.is_draining:
            if session.slots > 0:
                self._health.asked()  # A handler blocks the event loop, so the worker must soon count as unhealthy.
            session.freed.clear()
            await session.freed.wait()
        if session.slots < session.options.concurrency and not session.is_draining:
            await asyncio.sleep(_COLLECT)
        return not session.is_draining

    async def _poll(self, session: Session, reports: Sequence[Report], stopped: asyncio.Task[bool]) -> PolledJobs:
        """Make one call. A stop closes its connection, so the service releases jobs that it would have returned."""
        transport, options = session.transport, session.options
        # A poll with outcomes doesn't wait for a job, so that the outcomes are confirmed immediately. The next does.
        wait = 0.0 if reports else _WAIT
        poll: Poll = {
            "types": list(options.handlers),
            "count": min(session.slots, _MOST_JOBS),
            "workerId": self._worker_id,
        }
        if options.auto_ack:
            poll["autoAck"] = True
        if reports:
            poll["settle"] = [report.outcome for report in reports]  # type: ignore[misc]
        else:
            poll["waitSeconds"] = wait
        self._health.asked()
        request = Request("POST", space_path(transport.target, "/jobs/poll"), json_bytes(poll), wait=wait)
        call = asyncio.get_running_loop().create_task(transport.once(request))
        try:
            await asyncio.wait({call, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            call.cancel()  # No effect if it is done.
        try:
            polled: Any = await call
        except asyncio.CancelledError:
            raise YardmasterError("NO_RESPONSE", "The worker is shutting down") from None
        if not isinstance(polled, dict) or "jobs" not in polled:
            raise YardmasterError("NO_RESPONSE", "The response is not from the service; check the URL")
        self._health.answered()
        return cast(PolledJobs, polled)
