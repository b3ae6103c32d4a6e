from __future__ import annotations

import asyncio
from collections.abc import Callable

from .._async.transport import AsyncTransport
from .._backoff import Backoff
from .._errors import YardmasterError, refusal_in
from .._payloads import json_bytes
from .._warnings import OnWarning, WorkerWarning
from .._wire import Settled
from .settle import SETTLE, TURN, Report, Stopped, settle, settle_each

#: How long to collect outcomes, so that one call carries several, in seconds.
_COLLECT = 0.005
#: Number of failures of a call after which the worker warns.
FAILURES_BEFORE_WARNING = 3


class Outbox:
    """Sends outcomes until the service has accepted or refused each of them.

    ::

        add → queue ─ next poll ──────┬─ accepted or refused → done
                    └ settle, ≤ 5 ms ─┘  no answer → settle again, with backoff
    """

    def __init__(
        self,
        transport: AsyncTransport,
        *,
        warn: OnWarning,
        fail: Callable[[Exception], None],
        changed: Callable[[], None],
    ) -> None:
        self._transport = transport
        self._warn = warn
        self._fail = fail
        self._changed = changed
        self._queue: list[tuple[Report, int]] = []
        self._pending = 0
        self._timer: asyncio.TimerHandle | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._is_stopped = False

    @property
    def is_empty(self) -> bool:
        """Whether every report is done."""
        return self._pending == 0

    async def stop(self) -> None:
        """Stop sending. Unfinished reports get Stopped."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()
        queued, self._queue = self._queue, []
        for report, _ in queued:
            self._finish(report, Stopped())
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def add(self, *reports: Report) -> None:
        """Queue reports, and send them in order."""
        self._pending += len(reports)
        self._queue += [(report, len(json_bytes(report.outcome))) for report in reports]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_COLLECT, self._flush)

    def send_now(self, reports: list[Report]) -> None:
        """Send reports in a separate call."""
        self._pending += len(reports)
        self._start(reports, None)

    def take(self) -> list[Report]:
        """Take reports out of the queue for a poll."""
        return self._take(TURN)

    def answered(self, reports: list[Report], entries: list[Settled]) -> None:
        """Finish the reports that a poll carried, according to its response."""
        left, why = self._accept(reports, entries)
        self.failed(left, why)

    def failed(self, reports: list[Report], why: Exception | None) -> None:
        """Send the reports of a failed poll again."""
        if reports:
            self._start(reports, why)

    def _flush(self) -> None:
        self._timer = None
        while self._queue:
            self._start(self._take(SETTLE), None)

    def _take(self, limits: tuple[int, int]) -> list[Report]:
        count, most_bytes = limits
        taken = size = 0
        while taken < min(len(self._queue), count):
            size += self._queue[taken][1]
            if size > most_bytes and taken > 0:
                break
            taken += 1
        some, self._queue = self._queue[:taken], self._queue[taken:]
        return [report for report, _ in some]

    def _start(self, reports: list[Report], error: Exception | None) -> None:
        if self._is_stopped:
            for report in reports:
                self._finish(report, Stopped())
            return
        call = asyncio.get_running_loop().create_task(self._deliver(reports, error))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _deliver(self, reports: list[Report], error: Exception | None) -> None:
        """Send reports until each is done. ``error`` is a failure to wait for first."""
        backoff = Backoff()
        left, failure = reports, error
        try:
            while left:
                if isinstance(failure, YardmasterError) and not failure.is_temporary:
                    refused, left = left, []
                    await self._refused(refused, failure)
                    return
                if failure is not None:
                    await self._wait_after(failure, backoff, left)
                left, failure = await self._settle(left)
        except asyncio.CancelledError:
            for report in left:
                self._finish(report, Stopped())
            raise

    async def _wait_after(self, failure: Exception, backoff: Backoff, left: list[Report]) -> None:
        if backoff.failures == FAILURES_BEFORE_WARNING:
            ids = tuple(report.outcome["jobId"] for report in left)
            self._warn(WorkerWarning("unavailable", f"reports fail and are retried: {failure}", ids))
        await asyncio.sleep(backoff.next(failure))

    async def _settle(self, reports: list[Report]) -> tuple[list[Report], Exception | None]:
        """Make one call with reports. Returns the reports to send again, and why."""
        try:
            entries = await settle(self._transport, [report.outcome for report in reports])
        except YardmasterError as error:
            return reports, error
        return self._accept(reports, entries)

    def _accept(self, reports: list[Report], entries: list[Settled]) -> tuple[list[Report], Exception | None]:
        """Finish reports according to their entries. Returns the reports to send again, and why."""
        if len(entries) != len(reports):
            return reports, YardmasterError("NO_RESPONSE", "The response does not have one entry per outcome")
        again: list[Report] = []
        why: Exception | None = None
        for report, entry in zip(reports, entries, strict=True):
            refusal = None if entry["success"] else refusal_in(entry)
            # What to do about full storage is up to the caller.
            if refusal is not None and refusal.is_temporary and refusal.code != "STORAGE_FULL":
                again.append(report)
                why = refusal
            else:
                self._finish(report, refusal)
        return again, why

    async def _refused(self, reports: list[Report], refusal: YardmasterError) -> None:
        """Send each report alone, because one of them is invalid and the whole call was refused."""
        if refusal.is_of_key:
            for report in reports:
                self._finish(report, refusal)
            return
        left = dict(enumerate(reports))
        try:
            outcomes = [report.outcome for report in reports]
            await settle_each(self._transport, outcomes, lambda n, error: self._finish(left.pop(n), error))
        except asyncio.CancelledError:
            for report in left.values():
                self._finish(report, Stopped())
            raise

    def _finish(self, report: Report, error: Exception | None) -> None:
        self._pending -= 1
        if isinstance(error, YardmasterError) and error.is_of_key:
            self._fail(error)
        report.done(error)
        self._changed()
