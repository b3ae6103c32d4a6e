from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .._errors import (
    Aborted,
    DeliveryLost,
    Draining,
    Killed,
    Release,
    TimedOut,
    YardmasterError,
    abort_reason_of,
)
from .._streams import StreamMessage
from .._warnings import WarningKind, WorkerWarning, logger
from .._wire import ClaimedJob
from .handlers import LoopCall
from .invoke import invoke
from .job_log import JobLog
from .outcomes import Fields, release_of
from .reporter import AttemptReporter
from .settle import Outcome, Report, Stopped, call_of
from .signal import AbortSignal

if TYPE_CHECKING:
    from .session import Session

#: Longest time for which logs and progress may delay the end of an attempt, in seconds.
_FLUSH = 10.0
STOP_REASON = "worker is shutting down"
_STOPPED = Release(0, STOP_REASON)
#: Delay of a job whose handler could not be called, in seconds.
_AGAIN = 5.0


class Attempt:
    """A claimed job in this worker.

    ::

        claimed ─ack→ running ─handler returns→ unsettled ─outcome stored→ removed
           └ lost: nothing more is sent; it is removed when its handler returns

    It has a slot until its handler returns, and gets heartbeats until its outcome is stored.
    """

    def __init__(self, session: Session, job: ClaimedJob, key: int) -> None:
        self._session = session
        self.job = job
        self.key = key
        self.signal = AbortSignal()
        self.log = JobLog(session.transport, job["id"], session.warn, session.calls)
        #: Why nothing more may be sent: the job is lost, or the worker has released it.
        self.gone: Aborted | None = None
        self._waiting: set[asyncio.Future[Exception | None]] = set()
        self._has_ended = False
        self._is_draining = False
        #: Outcome of the handler, while the log is being sent.
        self._end: Fields | None = None
        self._unsettled: list[Outcome] | None = None
        #: Call of an async def handler.
        self.call: LoopCall | None = None

    @property
    def is_in_loop(self) -> bool:
        """Whether the handler is running in the event loop of the handlers."""
        return self.call is not None and self.call.has_begun and not self.call.end.done()

    @property
    def is_over(self) -> bool:
        """Whether it is too late for the handler to report anything."""
        return self.gone is not None or self._has_ended

    def raise_if_over(self) -> None:
        if self.gone is not None:
            raise self.gone
        if self._has_ended:
            raise RuntimeError("The handler has returned")

    def warn(self, kind: WarningKind, message: str) -> None:
        self._session.warn(WorkerWarning(kind, message, (self.job["id"],)))

    def outcome(self, fields: Fields) -> Outcome:
        return {"jobId": self.job["id"], "deliveryToken": self.job["deliveryToken"], **fields}

    async def report(self, fields: Fields) -> Exception | None:
        """Send a report. Returns None if it is stored; the refusal, or the reason if the attempt is aborted first."""
        future: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

        def done(error: Exception | None) -> None:
            if not future.done():
                future.set_result(error)

        self._waiting.add(future)
        try:
            self._session.outbox.add(Report(self.outcome(fields), done))
            return await future
        finally:
            self._waiting.discard(future)

    async def report_ephemeral(self, data: Any) -> None:
        """Send an ephemeral event once. Raises the refusal."""
        call = call_of(self.outcome({"action": "event", "data": data}), "?ephemeral=true")
        await self._session.transport.once(call)

    def start(self) -> None:
        """Call the handler after a successful ack."""
        if self._session.is_draining:
            self._settle([self.outcome(release_of(_STOPPED))])
            return
        self._session.heartbeats.start(self.key, self.job)
        self._session.background(self._run())

    def drop(self) -> None:
        """Remove a job that another worker has taken over."""
        self._session.free_slot()
        self._session.remove(self)

    async def _run(self) -> None:
        reporter = AttemptReporter(self, self._session.calls)
        try:
            end = await invoke(self, self._session, reporter)
        except Exception:  # For example, no thread could be started. No attempt is used up.
            logger.exception("A handler of %s could not be called (%s)", self.job["name"], self.job["id"])
            end = release_of(Release(_AGAIN, "the worker could not call the handler"))
        self._has_ended = True
        if self._is_draining and end["action"] == "fail":
            end = release_of(_STOPPED)
        self._end = end
        if self.gone is not None:
            self._session.background(self.log.close(_FLUSH))
            self.drop()
            return
        await self.log.close(_FLUSH)
        progress = await reporter.last_progress(_FLUSH)
        last = [] if progress is None else [self.outcome({"action": "progress", **progress})]
        self._settle([*last, self.outcome(end)])

    def _settle(self, outcomes: list[Outcome]) -> None:
        """Queue the last outcomes and free the slot, so that the next poll can carry them."""
        if self.gone is not None:
            self.drop()
            return
        self._unsettled = outcomes
        reports = [Report(outcome, lambda _: None) for outcome in outcomes[:-1]]
        self._session.outbox.add(*reports, Report(outcomes[-1], self._settled))
        self._session.free_slot()

    def _settled(self, error: Exception | None) -> None:
        if isinstance(error, Stopped):
            return  # The session sends it again when it ends.
        if isinstance(error, YardmasterError):
            kind: WarningKind = "report" if abort_reason_of(error) is None else "lost"
            self.warn(kind, f"the outcome of a job was refused: {error.message}")
        self._session.remove(self)

    def abort(self, reason: Aborted) -> None:
        """Abort the handler. Unless the worker is draining, nothing more is sent.

        An attempt whose outcome is being sent is left alone, because the reason may be an effect of that very outcome.
        """
        if self._unsettled is not None or self.gone is not None:
            return
        if isinstance(reason, Draining):
            self._is_draining = True
        else:
            self._leave(reason)
            self._session.heartbeats.end(self.key)
        self._abort_handler(reason)
        if isinstance(reason, DeliveryLost | TimedOut):
            self.warn("lost", f"a handler was aborted: {reason}")

    def _abort_handler(self, reason: Aborted) -> None:
        self.signal.abort(reason)
        if self.call is not None and self._session.handler_of(self.job).is_cancelled:
            self.call.cancel()

    def _leave(self, reason: Aborted) -> None:
        self.gone = reason
        for future in self._waiting:
            if not future.done():
                future.set_result(reason)

    def on_message(self, message: StreamMessage) -> None:
        """Abort the handler if an event proves that the job is lost; otherwise find out with a heartbeat.

        The event can be about an earlier attempt.
        """
        kind = message["type"]
        data: Any = message.get("data") or {}
        if kind == "killed":
            self.abort(Killed("the job was killed"))
        elif kind == "dead" or (kind == "retried" and data.get("attemptNumber") == self.job["attempt"]):
            self.abort(TimedOut("the attempt timed out"))
        elif self._unsettled is None:
            self._session.heartbeats.beat_now()

    def close(self) -> list[Outcome]:
        """End the attempt because the worker stops. Returns its unstored outcomes, or a release if it has none."""
        if self.gone is not None:
            return []
        unsettled = self._unsettled or [self.outcome(self._end or release_of(_STOPPED))]
        self._leave(Draining(STOP_REASON))
        self._abort_handler(Draining(STOP_REASON))
        return unsettled
