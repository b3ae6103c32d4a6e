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
    """The job of a handler, without the payload."""

    id: str
    name: str
    #: Number of this attempt, starting at 1.
    attempt: int
    #: Maximum number of retries after the first attempt.
    max_retries: int
    #: Longest time between heartbeats, which the worker sends.
    timeout_seconds: float
    created_at: datetime
    #: Latest checkpoint, saved by an earlier attempt; None without one.
    checkpoint: Any = None


class Reporter(Protocol):
    """Receives what a handler reports through its context, in the handler's thread."""

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


#: Percentage points by which a rounding error may leave the range 0 to 100.
_ROUNDING = 1e-6


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class _BaseContext:
    def __init__(self, job: JobInfo, signal: AbortSignal, reporter: Reporter) -> None:
        self.job = job
        #: Aborted if the job is killed or lost, or the worker is shutting down.
        self.signal = signal
        self.log = Log(reporter)

    @property
    def attempt(self) -> int:
        """Number of this attempt, starting at 1."""
        return self.job.attempt

    @property
    def checkpoint(self) -> Any:
        """Latest checkpoint, saved by an earlier attempt; None without one."""
        return self.job.checkpoint

    def release(self, delay: Duration = 0, reason: str | None = None) -> Release:
        """Return an exception to raise, which puts the job back in the queue without using up an attempt.

        Without a delay, the job can be claimed again immediately.
        """
        return Release(delay, reason)


class Context(_BaseContext):
    """What an ``async def`` handler can do with its job."""

    def __init__(self, job: JobInfo, signal: AbortSignal, reporter: AsyncReporter) -> None:
        super().__init__(job, signal, reporter)
        self._reporter = reporter

    async def progress(self, percent: float, message: str, sub_progress: SubProgress | None = None) -> None:
        """Report progress, from 0 to 100 percent, without waiting for the service.

        Call it as often as you like: the SDK sends the newest report at most every 200 ms, and always the last one.
        """
        self._reporter.progress(progress_of(percent, message, sub_progress))

    async def save(self, checkpoint: Any) -> None:
        """Save a checkpoint, any JSON value, for the next attempt. Returns when it is stored."""
        await self._reporter.send("checkpoint", checkpoint)

    async def event(self, data: Any, *, ephemeral: bool = False) -> None:
        """Add an event with any JSON value to the job's history. Returns when it is stored, or storage is full.
        An ephemeral event isn't stored: it is sent once to open streams and may be lost.
        """
        await self._reporter.send("ephemeral" if ephemeral else "event", data)


class SyncContext(_BaseContext):
    """What a ``def`` handler can do with its job, in its thread or process; see :class:`Context`."""

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
    """Return a report in the form of the API. Raises ValueError for an invalid argument."""
    if not _is_percent(percent):
        raise ValueError(f"percent must be a number from 0 to 100; got {percent!r}")
    if not isinstance(message, str) or message == "":
        raise ValueError("message must be a non-empty string")
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
