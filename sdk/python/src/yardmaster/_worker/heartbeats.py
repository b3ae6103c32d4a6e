from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from .._async.transport import AsyncTransport
from .._backoff import Backoff
from .._errors import YardmasterError, abort_reason_of, refusal_in
from .._warnings import logger
from .._wire import ClaimedJob
from .settle import SETTLE, settle
from .waiting import wait_within

#: Longest time between two heartbeats of a job, in seconds.
MOST_INTERVAL = 60.0
_LEAST_RESPONSE, _MOST_RESPONSE = 2.0, 10.0
#: A lost heartbeat is retried within this time, in seconds, unless the key is rate-limited.
_MOST_WAIT = 5.0


@dataclass
class _Beat:
    job_id: str
    token: str
    interval: float
    due: float


class Heartbeats:
    """Sends the heartbeats of all running jobs of a worker in one call."""

    def __init__(
        self,
        transport: AsyncTransport,
        *,
        refused: Callable[[int, YardmasterError], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._transport = transport
        self._refused, self._failed = refused, failed
        self._beats: dict[int, _Beat] = {}
        self._changed = asyncio.Event()
        self._is_due_now = False

    def start(self, key: int, job: ClaimedJob) -> None:
        """Send heartbeats for a job until ``end``."""
        interval = min(job["timeoutSeconds"] / 3, MOST_INTERVAL)
        self._beats[key] = _Beat(job["id"], job["deliveryToken"], interval, time.monotonic() + interval)
        self._changed.set()

    def end(self, key: int) -> None:
        self._beats.pop(key, None)

    def beat_now(self) -> None:
        """Send a heartbeat for every job now, to find out which jobs are lost."""
        self._is_due_now = True
        self._changed.set()

    async def run(self) -> None:
        """Send heartbeats until canceled."""
        backoff = Backoff()
        while True:
            await self._until_due()
            try:
                await self._beat_all()
                backoff = Backoff()
                continue
            except Exception as error:  # Whatever happened, the jobs need more heartbeats.
                if not isinstance(error, YardmasterError):
                    logger.exception("Heartbeats failed")
                elif error.is_of_key:
                    self._failed(error)
                wait = backoff.next(error)
                # Until the Retry-After has passed, any call is refused.
                is_limited = isinstance(error, YardmasterError) and error.code == "RATE_LIMITED"
            shortest = min((beat.interval for beat in self._beats.values()), default=_MOST_WAIT)
            await asyncio.sleep(wait if is_limited else min(wait, _MOST_WAIT, shortest / 2))
            self.beat_now()  # Retry a lost heartbeat soon instead of when the next one is due.

    async def _until_due(self) -> None:
        while True:
            self._changed.clear()
            due = min((beat.due for beat in self._beats.values()), default=None)
            left = None if due is None else due - time.monotonic()
            if left is not None and (self._is_due_now or left <= 0):
                break
            self._is_due_now = False
            await wait_within(self._changed, left)
        self._is_due_now = False

    async def _beat_all(self) -> None:
        beats = list(self._beats.items())
        most = SETTLE[0]
        for i in range(0, len(beats), most):
            await self._beat(beats[i : i + most])

    async def _beat(self, beats: list[tuple[int, _Beat]]) -> None:
        outcomes = [{"jobId": beat.job_id, "deliveryToken": beat.token, "action": "keepalive"} for _, beat in beats]
        shortest = min(beat.interval for _, beat in beats)
        sent_at = time.monotonic()
        entries = await settle(self._transport, outcomes, min(max(shortest, _LEAST_RESPONSE), _MOST_RESPONSE))
        for (key, beat), entry in zip(beats, entries, strict=True):
            beat.due = sent_at + beat.interval
            if entry["success"]:
                continue
            refusal = refusal_in(entry)
            is_final = abort_reason_of(refusal) is not None or refusal.is_of_key
            if is_final and self._beats.pop(key, None) is not None:
                self._refused(key, refusal)
