from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import httpx

from .._backoff import Backoff
from .._errors import YardmasterError, abort_reason_of, refusal_in
from .._payloads import json_bytes
from .._transport import Request, Target, arguments, no_response, parse, space_path
from .._warnings import logger
from .._wire import ClaimedJob
from .settle import SETTLE, entries_of

_MOST_INTERVAL = 60.0
_LEAST_RESPONSE, _MOST_RESPONSE = 2.0, 10.0
_BLOCKED = 5.0
_TURN = 0.5


@dataclass
class _Beat:
    job_id: str
    token: str
    interval: float
    due: float
    #: Whether the handler runs on the event loop.
    on_loop: bool


class Heartbeats:
    """Sends the heartbeats of all running jobs of a worker, one call for all, in a thread with its own connection.

    So a handler that blocks the event loop keeps its job. The thread also watches whether the loop is blocked.
    """

    def __init__(
        self,
        target: Target,
        *,
        refused: Callable[[int, YardmasterError], None],
        failed: Callable[[Exception], None],
        blocked: Callable[[tuple[str, ...]], None],
    ) -> None:
        """``refused`` and ``failed`` are called in the event loop, ``blocked`` in the thread."""
        self._target = target
        self._refused, self._failed, self._blocked = refused, failed, blocked
        self._loop = asyncio.get_running_loop()
        self._beats: dict[int, _Beat] = {}
        self._wake = threading.Condition()
        self._is_due_now = False
        self._is_closed = False
        self._turned_at = time.monotonic()
        self._is_reported = False
        self._turn()
        threading.Thread(target=self._run, name="yardmaster-heartbeats", daemon=True).start()

    def start(self, key: int, job: ClaimedJob, on_loop: bool) -> None:
        """Send heartbeats of a job, until ``end``."""
        interval = min(job["timeoutSeconds"] / 3, _MOST_INTERVAL)
        beat = _Beat(job["id"], job["deliveryToken"], interval, time.monotonic() + interval, on_loop)
        with self._wake:
            self._beats[key] = beat
            self._wake.notify()

    def end(self, key: int) -> None:
        with self._wake:
            self._beats.pop(key, None)

    def beat_now(self) -> None:
        """Send one for each job now, to find out which jobs are lost."""
        with self._wake:
            self._is_due_now = True
            self._wake.notify()

    def close(self) -> None:
        self._turning.cancel()
        with self._wake:
            self._is_closed = True
            self._beats.clear()
            self._wake.notify()

    def _turn(self) -> None:
        self._turned_at = time.monotonic()
        self._is_reported = False
        self._turning = self._loop.call_later(_TURN, self._turn)

    def _run(self) -> None:
        backoff = Backoff()
        with httpx.Client() as http:
            while self._wait():
                try:
                    self._beat_all(http)
                    backoff = Backoff()
                except Exception as error:  # Whatever it is, the jobs need further heartbeats.
                    if not isinstance(error, YardmasterError):
                        logger.exception("Heartbeats have failed")
                    elif error.is_of_key:
                        self._tell(self._failed, error)
                    # A lost heartbeat is repeated soon, and not only at the next one.
                    self._sleep(backoff.next(error))
                    self.beat_now()

    def _wait(self) -> bool:
        """Wait until a heartbeat is due. Returns False when there are no more."""
        with self._wake:
            while not self._is_closed:
                self._watch()
                due = min((beat.due for beat in self._beats.values()), default=None)
                now = time.monotonic()
                if due is not None and (self._is_due_now or due <= now):
                    self._is_due_now = False
                    return True
                self._is_due_now = False
                self._wake.wait(None if due is None else min(due - now, _TURN))
            return False

    def _sleep(self, seconds: float) -> None:
        with self._wake:
            self._wake.wait_for(lambda: self._is_closed, seconds)

    def _watch(self) -> None:
        """Report that the event loop is blocked, once until it turns again."""
        job_ids = tuple(beat.job_id for beat in self._beats.values() if beat.on_loop)
        if job_ids and not self._is_reported and time.monotonic() - self._turned_at > _BLOCKED:
            self._is_reported = True
            self._blocked(job_ids)

    def _beat_all(self, http: httpx.Client) -> None:
        with self._wake:
            beats = list(self._beats.items())
        most = SETTLE[0]
        for i in range(0, len(beats), most):
            self._beat(http, beats[i : i + most])

    def _beat(self, http: httpx.Client, beats: list[tuple[int, _Beat]]) -> None:
        outcomes = [{"jobId": beat.job_id, "deliveryToken": beat.token, "action": "keepalive"} for _, beat in beats]
        request = Request("POST", space_path(self._target, "/jobs/settle"), json_bytes({"outcomes": outcomes}))
        shortest = min(beat.interval for _, beat in beats)
        sent_at = time.monotonic()
        timeout = min(max(shortest, _LEAST_RESPONSE), _MOST_RESPONSE)
        try:
            response = http.request(**arguments(self._target, request, timeout))
        except httpx.HTTPError as error:
            raise no_response(error) from error
        entries = entries_of(parse(response), len(beats))
        for (key, beat), entry in zip(beats, entries, strict=True):
            beat.due = sent_at + beat.interval
            if entry["success"]:
                continue
            refusal = refusal_in(entry)
            if abort_reason_of(refusal) is None and not refusal.is_of_key:
                continue
            with self._wake:
                is_known = self._beats.pop(key, None) is not None
            if is_known:
                self._tell(self._refused, key, refusal)

    def _tell(self, function: Callable[..., None], *values: object) -> None:
        with suppress(RuntimeError):  # The loop is closed: the worker has ended.
            self._loop.call_soon_threadsafe(function, *values)
