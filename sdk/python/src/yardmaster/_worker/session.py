from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from .._async.transport import AsyncTransport
from .._errors import Draining, YardmasterError, abort_reason_of
from .._http import Target
from .._streams import StreamMessage
from .._warnings import OnWarning, WorkerWarning
from .._wire import ClaimedJob
from .attempt import STOP_REASON, Attempt
from .handlers import Handler
from .heartbeats import MOST_INTERVAL, Heartbeats
from .kill_stream import watch_kills
from .loop_calls import LoopCalls
from .loop_watch import LoopWatch
from .outbox import Outbox
from .poller import Poller
from .process import ProcessPool
from .settle import Outcome, settle_within
from .waiting import wait_within

#: How long handlers may continue after being aborted because the worker is shutting down, in seconds.
_GRACE = 5.0
#: How long a worker retries its last call, in seconds.
_LAST_CALL = 5.0
#: Time to cancel the tasks of handlers that continue after the end, in seconds.
_CANCEL = 1.0


@dataclass(frozen=True)
class SessionOptions:
    handlers: Mapping[str, Handler]
    concurrency: int
    drain: float
    auto_ack: bool
    warn: OnWarning


class Session:
    """One run of a worker: its jobs, heartbeats, stream and shutdown.

    It runs in its own event loop. ``handler_loop`` is the loop of ``async def`` handlers, which may block it.
    """

    def __init__(self, target: Target, options: SessionOptions, handler_loop: asyncio.AbstractEventLoop) -> None:
        self.options = options
        #: Calls into the loop of the handlers, and into this one.
        self.handler_calls = LoopCalls(handler_loop)
        self.calls: LoopCalls
        self.warn = options.warn
        self.transport = AsyncTransport(target)
        self.processes = ProcessPool()
        self.slots = options.concurrency
        #: Wakes the poller.
        self.freed = asyncio.Event()
        #: Set to stop the polls.
        self.stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        self._changed = asyncio.Event()
        self._attempts: dict[int, Attempt] = {}
        self._keys = 0
        self._error: Exception | None = None
        self._background: set[asyncio.Task[Any]] = set()
        self.outbox = Outbox(self.transport, warn=self.warn, fail=self.fail, changed=self._changed.set)
        self.heartbeats = Heartbeats(self.transport, refused=self._refused, failed=self.fail)
        self._watch = LoopWatch(handler_loop, blocked=self._blocked, turned=self.freed.set)

    @property
    def is_draining(self) -> bool:
        return self.stopping.is_set()

    @property
    def has_room(self) -> bool:
        """Whether another job could start. While a handler blocks its event loop, none can."""
        return self.slots > 0 and self._watch.is_turning

    def handler_of(self, job: ClaimedJob) -> Handler:
        return self.options.handlers[job["name"]]

    def background(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine until it or the session ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def fail(self, error: Exception) -> None:
        """Stop the worker with an error that someone has to fix."""
        self._error = self._error or error
        self.stop()

    def stop(self) -> None:
        """Stop polling and drain. A second call releases all jobs immediately."""
        if self.is_draining and self._error is None:
            self._hurry.set()
        self.stopping.set()
        self.freed.set()
        self._changed.set()

    async def run(self, poller: Poller) -> None:
        """Run until stopped and drained. Raises the error that ended the session."""
        self.calls = LoopCalls(asyncio.get_running_loop())
        stream = watch_kills(
            self.transport,
            list(self.options.handlers),
            message=self._on_message,
            begun=self.heartbeats.beat_now,
            missing=self._stream_is_missing,
        )
        self.background(stream)
        self.background(self.heartbeats.run())
        if any(handler.kind == "loop" for handler in self.options.handlers.values()):
            self.background(self._watch.run())
        try:
            await poller.run(self)
            await self._drain()
        finally:  # Even if it is canceled.
            await self._settle_rest()
            await self._close()
        if self._error is not None:
            raise self._error

    def _on_message(self, message: StreamMessage) -> None:
        for attempt in list(self._attempts.values()):
            if attempt.job["id"] == message.get("jobId"):
                attempt.on_message(message)

    def _stream_is_missing(self, why: str) -> None:
        late = f"up to {MOST_INTERVAL:.0f} s later"
        message = f"can't open the kill stream; a kill isn't noticed until the next heartbeat, {late} ({why})"
        self.warn(WorkerWarning("stream", message))

    def _refused(self, key: int, refusal: YardmasterError) -> None:
        reason = abort_reason_of(refusal)
        if reason is None:
            self.fail(refusal)
        elif key in self._attempts:
            self._attempts[key].abort(reason)

    def _blocked(self) -> None:
        job_ids = tuple(attempt.job["id"] for attempt in self._attempts.values() if attempt.is_in_loop)
        if job_ids:
            message = "the event loop was blocked for more than 5 s, by a handler of one of these jobs"
            self.warn(WorkerWarning("blocked", message, job_ids))

    async def _drain(self) -> None:
        """Wait for the handlers, then abort them and give them a moment."""
        if self._error is None and await self._is_idle_within(self.options.drain):
            return
        for attempt in list(self._attempts.values()):
            attempt.abort(Draining(STOP_REASON))
        await self._is_idle_within(_GRACE)

    async def _is_idle_within(self, seconds: float) -> bool:
        """Wait until no job is left. Returns False if time runs out; True if idle or stopped a second time."""
        end = time.monotonic() + seconds
        while self._attempts or not self.outbox.is_empty:
            left = end - time.monotonic()
            if self._hurry.is_set():
                return True
            if left <= 0:
                return False
            await wait_within(self._changed, left)
            self._changed.clear()
        return True

    async def _settle_rest(self) -> None:
        """Send the unstored outcomes and release all other jobs."""
        await self.outbox.stop()
        rest: list[Outcome] = [outcome for attempt in self._attempts.values() for outcome in attempt.close()]
        error = await settle_within(self.transport, rest, _LAST_CALL)
        if error is not None:
            ids = tuple(outcome["jobId"] for outcome in rest)
            self.warn(WorkerWarning("lost", f"jobs could not be released: {error.message}", ids))

    async def _close(self) -> None:
        self.processes.close()
        calls = [attempt.call for attempt in self._attempts.values() if attempt.call is not None]
        for call in calls:
            call.cancel()
        for task in self._background:
            task.cancel()
        left = {*self._background, *(call.end for call in calls)}
        if left:
            await asyncio.wait(left, timeout=_CANCEL)
        await self.transport.close()

    def attempt(self, job: ClaimedJob) -> Attempt:
        """Assign a slot to a claimed job."""
        self._keys += 1
        attempt = self._attempts[self._keys] = Attempt(self, job, self._keys)
        self.slots -= 1
        return attempt

    def free_slot(self) -> None:
        self.slots += 1
        self.freed.set()

    def remove(self, attempt: Attempt) -> None:
        self._attempts.pop(attempt.key, None)
        self.heartbeats.end(attempt.key)
        self._changed.set()
