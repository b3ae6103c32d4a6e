from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from .._backoff import Backoff
from .._errors import Draining, YardmasterError, abort_reason_of
from .._payloads import as_json
from .context import LogEntry, ReportAction
from .loop_calls import LoopCalls
from .outcomes import Fields
from .settle import Stopped

if TYPE_CHECKING:
    from .attempt import Attempt

_PROGRESS_INTERVAL = 0.2


class AttemptReporter:
    """Sends the reports of one attempt's handler. ``progress`` and ``log`` are thread-safe."""

    def __init__(self, attempt: Attempt, calls: LoopCalls) -> None:
        self._attempt = attempt
        self._calls = calls
        self.raise_if_over = attempt.raise_if_over
        self._lock = threading.Lock()
        self._newest: Fields | None = None
        self._is_scheduled = False
        self._is_closed = False
        self._sending: asyncio.Task[None] | None = None
        self._in_flight: asyncio.Task[None] | None = None

    def log(self, entry: LogEntry) -> None:
        self._attempt.log.add(entry)

    async def send(self, report: Fields) -> None:
        """Store a checkpoint or an event. Raises the refusal, or the reason if the job is lost."""
        if report["action"] == "ephemeral":
            return await self._send_ephemeral(report["data"])
        backoff = Backoff()
        while True:
            try:
                return await self._report(report)
            except YardmasterError as error:
                if error.code != "STORAGE_FULL":
                    raise
                if report["action"] == "event":
                    return
                wait = backoff.next(error)
            await asyncio.sleep(wait)

    async def _report(self, report: Fields) -> None:
        if self._attempt.gone is not None:
            raise self._attempt.gone
        error = await self._attempt.report(report)
        if isinstance(error, Stopped):
            raise Draining("the worker is shutting down")
        if error is not None:
            raise self._aborted_by(error)

    def _aborted_by(self, error: Exception) -> Exception:
        """Abort the handler if a refusal shows that the job is lost. Returns the error to raise in the handler."""
        reason = abort_reason_of(error) if isinstance(error, YardmasterError) else None
        if reason is None:
            return error
        self._attempt.abort(reason)
        return reason

    async def _send_ephemeral(self, data: Any) -> None:
        if self._attempt.gone is not None:
            raise self._attempt.gone
        try:
            await self._attempt.report_ephemeral(data)
        except YardmasterError as error:
            # It may be lost, and always is after the handler has returned.
            if not error.is_temporary and not self._attempt.is_over:
                raise self._aborted_by(error) from None
        if self._attempt.gone is not None:
            raise self._attempt.gone

    def progress(self, report: Fields) -> None:
        self.raise_if_over()
        with self._lock:
            self._newest = report
            is_scheduled, self._is_scheduled = self._is_scheduled, True
        if not is_scheduled:
            self._calls.call(self._start)

    def _start(self) -> None:
        with self._lock:
            self._is_scheduled = False
        if self._sending is None and not self._is_closed:
            self._sending = asyncio.get_running_loop().create_task(self._send_progress())

    async def _send_progress(self) -> None:
        while not self._is_closed:
            with self._lock:
                newest, self._newest = self._newest, None
            if newest is None:
                break
            self._in_flight = asyncio.get_running_loop().create_task(self._send_one(newest))
            await asyncio.wait({self._in_flight})
            self._in_flight = None
            await asyncio.sleep(_PROGRESS_INTERVAL)
        self._sending = None

    async def _send_one(self, report: Fields) -> None:
        try:
            await self._report({"action": "progress", **report})
        except Exception as error:
            is_full = isinstance(error, YardmasterError) and error.code == "STORAGE_FULL"
            if not is_full and not self._attempt.is_over:
                self._attempt.warn("report", f"a progress report was refused: {error}")

    async def last_progress(self, limit: float) -> Fields | None:
        """Wait for the progress report that is being sent. Returns the newest unsent one, or None."""
        self._is_closed = True
        if self._in_flight is not None:
            await asyncio.wait({self._in_flight}, timeout=limit)
        if self._sending is not None:
            self._sending.cancel()
        return self._newest


class _Passing:
    """Passes reports of a handler to the event loop of the worker."""

    def __init__(self, reporter: AttemptReporter, loop: asyncio.AbstractEventLoop) -> None:
        self._reporter = reporter
        self._loop = loop
        self.log = reporter.log
        self.progress = reporter.progress

    def _start(self, action: ReportAction, data: Any) -> Future[None]:
        report: Fields = {"action": action, "data": as_json(data, "event" if action == "ephemeral" else action)}
        self._reporter.raise_if_over()
        return asyncio.run_coroutine_threadsafe(self._reporter.send(report), self._loop)


class LoopReporter(_Passing):
    """Reporter for a handler in an event loop."""

    async def send(self, action: ReportAction, data: Any) -> None:
        await asyncio.wrap_future(self._start(action, data))


class ThreadReporter(_Passing):
    """Reporter for a handler in a thread."""

    def send(self, action: ReportAction, data: Any) -> None:
        self._start(action, data).result()
