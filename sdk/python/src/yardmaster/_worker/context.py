from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, Protocol

from .._durations import Duration
from .._errors import Release
from .._payloads import as_json
from .._wire import LogEntryLevel
from .outcomes import Fields
from .signal import AbortSignal

#: Progress of parts of the work: a percentage, or ``{"percent": …, "message": …}``.
SubProgress = Mapping[str, "float | Mapping[str, Any]"]

#: Level, message, timestamp and metadata, as the API has them.
LogEntry = dict[str, Any]

ReportAction = Literal["checkpoint", "event", "ephemeral"]


@dataclass(frozen=True)
class JobInfo:
    """What a handler knows about its job, besides the payload."""

    id: str
    name: str
    #: Number of this attempt, from 1.
    attempt: int
    #: Attempts after the first.
    max_retries: int
    #: Longest time between two heartbeats, which the worker sends.
    timeout_seconds: float
    created_at: datetime
    #: What the latest ``save`` of any attempt has stored; None without one.
    checkpoint: Any = None


class Reporter(Protocol):
    """Where a context sends what a handler reports, from the thread of the handler."""

    def progress(self, report: Fields, /) -> None: ...

    def log(self, entry: LogEntry, /) -> None: ...


class AsyncReporter(Reporter, Protocol):
    async def send(self, action: ReportAction, data: Any) -> None: ...


class BlockingReporter(Reporter, Protocol):
    def send(self, action: ReportAction, data: Any) -> None: ...


class Log:
    """Writes to the log of a job, in batches: ``ctx.log.info("no profile", file="cat.png")``."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter

    def write(self, level: LogEntryLevel, message: str, metadata: Mapping[str, Any] | None = None) -> None:
        entry: LogEntry = {"level": level, "message": str(message), "timestamp": _now()}
        if metadata:
            entry["metadata"] = dict(metadata)
        self._reporter.log(entry)

    def debug(self, message: str, metadata: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self.write("debug", message, {**(metadata or {}), **more})

    def info(self, message: str, metadata: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self.write("info", message, {**(metadata or {}), **more})

    def warn(self, message: str, metadata: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self.write("warn", message, {**(metadata or {}), **more})

    warning = warn

    def error(self, message: str, metadata: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self.write("error", message, {**(metadata or {}), **more})


#: Log of the job whose handler runs in this task or thread; None outside of handlers.
current_log: ContextVar[Log | None] = ContextVar("yardmaster_log", default=None)


#: A percentage that is computed may be outside of 0 to 100 by this much.
_ROUNDING = 1e-6


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class _BaseContext:
    def __init__(self, job: JobInfo, signal: AbortSignal, reporter: Reporter) -> None:
        self.job = job
        #: Aborted when the job is killed or lost, or when the worker stops.
        self.signal = signal
        self.log = Log(reporter)

    @property
    def attempt(self) -> int:
        """Number of this attempt, from 1."""
        return self.job.attempt

    @property
    def checkpoint(self) -> Any:
        """What the latest ``save`` of any attempt before this one has stored; None without one."""
        return self.job.checkpoint

    def release(self, delay: Duration = 0, reason: str | None = None) -> Release:
        """Return an exception to raise: the job goes back to the queue, and no attempt is counted.

        Without a delay, it is claimed again at once.
        """
        return Release(delay, reason)


class Context(_BaseContext):
    """What an ``async def`` handler may do about its job."""

    def __init__(self, job: JobInfo, signal: AbortSignal, reporter: AsyncReporter) -> None:
        super().__init__(job, signal, reporter)
        self._reporter = reporter

    async def progress(self, percent: float, message: str, sub_progress: SubProgress | None = None) -> None:
        """Show how far the work is, from 0 to 100. It does not wait for the service.

        When it is called often, the newest report is sent, at most every 200 ms, and the last one in any case.
        """
        self._reporter.progress(progress_of(percent, message, sub_progress))

    async def save(self, checkpoint: Any) -> None:
        """Store a checkpoint for the next attempt, any JSON value. Returns when it is stored."""
        await self._reporter.send("checkpoint", checkpoint)

    async def event(self, data: Any, *, ephemeral: bool = False) -> None:
        """Add an event with any JSON value to the history. Returns when it is stored, or the storage is full.

        An ephemeral one is stored nowhere: it is sent once, to the streams that are open, and may be lost.
        """
        await self._reporter.send("ephemeral" if ephemeral else "event", data)


class SyncContext(_BaseContext):
    """What a ``def`` handler may do about its job, in its thread or process; see :class:`Context`."""

    def __init__(self, job: JobInfo, signal: AbortSignal, reporter: BlockingReporter) -> None:
        super().__init__(job, signal, reporter)
        self._reporter = reporter

    def progress(self, percent: float, message: str, sub_progress: SubProgress | None = None) -> None:
        self._reporter.progress(progress_of(percent, message, sub_progress))

    def save(self, checkpoint: Any) -> None:
        self._reporter.send("checkpoint", checkpoint)

    def event(self, data: Any, *, ephemeral: bool = False) -> None:
        self._reporter.send("ephemeral" if ephemeral else "event", data)


def progress_of(percent: float, message: str, sub_progress: SubProgress | None) -> Fields:
    """Return a report as the API has it. Raises ValueError for an invalid argument."""
    if not _is_percent(percent):
        raise ValueError(f"percent must be a number from 0 to 100; it is {percent!r}")
    if not isinstance(message, str) or message == "":
        raise ValueError("message must be a text that is not empty")
    report: Fields = {"percent": _clamped(percent), "message": message}
    if sub_progress is not None:
        parts = {
            name: dict(part) if isinstance(part, Mapping) else {"percent": part} for name, part in sub_progress.items()
        }
        for name, part in parts.items():
            if not _is_percent(part.get("percent")):
                raise ValueError(f"The part {name} must have a percent from 0 to 100")
            part["percent"] = _clamped(part["percent"])
        report["subProgress"] = as_json(parts, "sub_progress")
    return report


def _is_percent(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -_ROUNDING <= value <= 100 + _ROUNDING


def _clamped(percent: float) -> float:
    return min(max(percent, 0), 100)
