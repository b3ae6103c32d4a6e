from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections import deque
from typing import Any

from .._async.transport import AsyncTransport
from .._backoff import Backoff
from .._errors import YardmasterError
from .._http import Request, job_path
from .._payloads import json_bytes
from .._warnings import OnWarning, WorkerWarning
from .context import LogEntry
from .loop_calls import LoopCalls
from .waiting import wait_within

_INTERVAL = 0.2
_BATCH_ENTRIES = 500
_BATCH_BYTES = 900_000  # The service accepts 1 MB.
_BUFFER = 10_000
_ENTRY_BYTES = 15_000  # The service accepts 16 KB.
_HEADERS = {"content-type": "application/x-ndjson", "content-encoding": "gzip"}


class JobLog:
    """Sends the log of a job in batches and in order. While the service is unavailable, it keeps the newest entries."""

    def __init__(self, transport: AsyncTransport, job_id: str, warn: OnWarning, calls: LoopCalls) -> None:
        self._transport = transport
        self._job_id = job_id
        self._warn = warn
        self._calls = calls
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._dropped = 0
        self._is_closed = False
        self._is_woken = False
        self._is_due = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None

    def add(self, entry: LogEntry) -> None:
        """Add an entry, from any thread."""
        line = line_of(entry)
        with self._lock:
            if self._is_closed:
                return
            self._lines.append(line)
            if len(self._lines) > _BUFFER:
                self._lines.popleft()
                self._dropped += 1
            wakes = not self._is_woken or len(self._lines) == _BATCH_ENTRIES
            self._is_woken = True
        if wakes:
            self._calls.call(self._start)

    async def close(self, limit: float) -> None:
        """Send the rest, and drop entries that can't be sent within this time."""
        with self._lock:
            self._is_closed = True
        self._start()
        if self._sending is not None:
            _, unsent = await asyncio.wait({self._sending}, timeout=limit)
            if unsent:
                self._sending.cancel()
                await asyncio.wait({self._sending})

    def _start(self) -> None:
        if self._is_closed or len(self._lines) >= _BATCH_ENTRIES:
            self._is_due.set()
        if self._sending is None and self._lines:
            self._sending = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        while self._lines:
            if not self._is_closed and len(self._lines) < _BATCH_ENTRIES:
                await wait_within(self._is_due, _INTERVAL)
            self._is_due.clear()
            with self._lock:
                batch = self._take()
            try:
                await self._post(batch)
            except asyncio.CancelledError:
                self._warn_of(f"{len(batch) + len(self._lines)} log entries were dropped: time ran out")
                raise
            except YardmasterError as error:
                self._warn_of(f"{len(batch)} log entries were dropped: {error.message}")
        # There is no await after the loop, but threads can add entries at any time.
        self._sending = None
        with self._lock:
            self._is_woken = bool(self._lines)
        self._start()

    def _take(self) -> list[bytes]:
        batch: list[bytes] = []
        if self._dropped > 0:
            message = f"{self._dropped} log entries were dropped, because they could not be sent in time"
            batch.append(json_bytes({"level": "warn", "message": message}))
            self._warn_of(message)
            self._dropped = 0
        size = 0
        while self._lines and len(batch) < _BATCH_ENTRIES:
            size += len(self._lines[0]) + 1
            if size > _BATCH_BYTES:
                break
            batch.append(self._lines.popleft())
        return batch

    async def _post(self, batch: list[bytes]) -> None:
        """Send a batch, and retry until the service responds. A batch whose response is lost may be stored twice."""
        body = gzip.compress(b"\n".join(batch) + b"\n", 6)
        request = Request("POST", job_path(self._job_id, "/logs"), body, _HEADERS)
        backoff = Backoff()
        while True:
            try:
                await self._transport.once(request)
                return
            except YardmasterError as error:
                if not error.is_temporary:
                    raise
                wait = backoff.next(error)
            await asyncio.sleep(wait)

    def _warn_of(self, message: str) -> None:
        self._warn(WorkerWarning("logs", message, (self._job_id,)))


def line_of(entry: LogEntry) -> bytes:
    """Return an entry as JSON. If it is too long, it is cut, because the service would refuse the whole batch."""
    line = _encode(entry)
    if len(line) <= _ENTRY_BYTES:
        return line
    # A character can take six bytes of JSON.
    cut = f"{entry['message'][: _ENTRY_BYTES // 6 - 50]} …"
    return _encode({**entry, "message": cut, "metadata": {"cut": True}})


def _encode(entry: dict[str, Any]) -> bytes:
    """Return an entry as JSON, with metadata that JSON can't represent as text."""
    try:
        return json_bytes(entry)
    except (TypeError, ValueError):
        metadata = {str(name): str(value) for name, value in entry["metadata"].items()}
        return json.dumps({**entry, "metadata": metadata}).encode()
