"""Call handlers without a service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from ._errors import Aborted, YardmasterError
from ._payloads import as_json
from ._worker.context import Context, JobInfo, LogEntry, ReportAction, SyncContext
from ._worker.handlers import call_blocking, call_in_loop, handler_of
from ._worker.outcomes import Fields, end_of, replacement_of, size_of
from ._worker.signal import AbortSignal

#: Default limit of the service for a result, in bytes of JSON.
_MOST_RESULT = 262_144
_STATUS: dict[str, Literal["completed", "failed", "released"]] = {
    "complete": "completed",
    "fail": "failed",
    "release": "released",
}


@dataclass
class Run:
    """A recording of what a handler returned and reported."""

    status: Literal["completed", "failed", "released"] = "completed"
    #: Result of the handler, as the service would store it; None unless completed.
    result: Any = None
    #: Error of the attempt, as the service would store it; None unless failed.
    error: dict[str, Any] | None = None
    #: Whether the service would retry the job; False unless failed.
    is_retryable: bool = False
    #: Delay of the retry or the release, in seconds; None for the default.
    delay_seconds: float | None = None
    progress: list[Fields] = field(default_factory=list["Fields"])
    checkpoints: list[Any] = field(default_factory=list[Any])
    events: list[Any] = field(default_factory=list[Any])
    ephemeral_events: list[Any] = field(default_factory=list[Any])
    logs: list[LogEntry] = field(default_factory=list["LogEntry"])

    def end(self, end: Fields) -> None:
        if end["action"] == "complete" and size_of(end["result"]) > _MOST_RESULT:
            too_large = f"result must be at most {_MOST_RESULT} bytes of JSON"
            end = replacement_of(end, YardmasterError("TOO_LARGE", too_large, status=413)) or end
        self.status = _STATUS[end["action"]]
        self.result = end.get("result")
        self.error = end.get("error")
        self.is_retryable = self.status == "failed" and end.get("retryable", True)
        self.delay_seconds = end.get("retryAfterSeconds", end.get("delaySeconds"))


class _Recorder:
    def __init__(self, run: Run) -> None:
        self._run = run
        self.progress = run.progress.append
        self.log = run.logs.append

    def send(self, action: ReportAction, data: Any) -> None:
        of_action = {
            "checkpoint": self._run.checkpoints,
            "event": self._run.events,
            "ephemeral": self._run.ephemeral_events,
        }
        of_action[action].append(as_json(data, "event" if action == "ephemeral" else action))


class _AsyncRecorder(_Recorder):
    async def send(self, action: ReportAction, data: Any) -> None:  # type: ignore[override]
        super().send(action, data)


async def run_async(
    handler: Callable[..., Any],
    payload: Any = None,
    *,
    checkpoint: Any = None,
    attempt: int = 1,
    name: str = "test",
    signal: AbortSignal | None = None,
) -> Run:
    """Call a handler as ``run`` does, but in the event loop of the test."""
    run, signal = Run(), signal or AbortSignal()
    job = JobInfo("test", name, attempt, 3, 300, datetime.now(timezone.utc), checkpoint)
    called = handler_of(handler, process=False, cancel=True)
    if called.kind == "thread":
        context = SyncContext(job, signal, _Recorder(run))
        run.end(await asyncio.to_thread(call_blocking, called, context, as_json(payload, "payload")))
        return run
    task = asyncio.ensure_future(
        call_in_loop(called, Context(job, signal, _AsyncRecorder(run)), as_json(payload, "payload"))
    )
    loop = asyncio.get_running_loop()

    def cancel(_: Aborted) -> None:
        loop.call_soon_threadsafe(task.cancel)

    signal.on_abort(cancel)
    await asyncio.wait({task})
    run.end(end_of(error=asyncio.CancelledError(), context=None) if task.cancelled() else task.result())
    return run


def run(
    handler: Callable[..., Any],
    payload: Any = None,
    *,
    checkpoint: Any = None,
    attempt: int = 1,
    name: str = "test",
    signal: AbortSignal | None = None,
) -> Run:
    """Call a handler without a service and record what it reports::

        assert run(resize, {"image": "cat.png"}).result == {"width": 320}

    The payload is what a producer would pass: a dict, a dataclass or a model. To abort the handler as a worker would,
    pass a ``signal`` and call ``signal.abort(Killed())``.
    """
    work = run_async(handler, payload, checkpoint=checkpoint, attempt=attempt, name=name, signal=signal)
    with ThreadPoolExecutor(1) as thread:  # The test's own thread may already run a loop.
        return thread.submit(asyncio.run, work).result()
