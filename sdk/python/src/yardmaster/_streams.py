"""The stream requests of both clients, and how they read the responses."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypedDict, cast
from urllib.parse import quote, urlencode

from ._errors import YardmasterError
from ._http import Request, Target, space_path
from ._wire import JobStatus, Progress

#: Maximum random wait before a reconnect, in seconds: the first, doubled with each failure in a row.
_FIRST, _MOST = 0.5, 30.0
#: A connection that lasts this many seconds resets the backoff.
_LASTING = 5.0
_ENDS = ("completed", "dead", "killed")


class _StreamMessageRequired(TypedDict):
    type: str
    #: Time of the event, in ISO 8601 UTC. For ``init``, the moment that it describes.
    timestamp: str


class StreamMessage(_StreamMessageRequired, total=False):
    """A stream message, as the service sends it. Ignore types that you don't know."""

    jobId: str
    jobName: str
    spaceId: str
    #: Status of the job after the event.
    status: JobStatus
    #: Data of the event, such as the result for ``completed``.
    data: Any
    #: Latest progress report; only in ``init``, and only if the key may see nothing but progress.
    progress: Progress
    #: Jobs of the space by status; only in ``init`` and ``counts``.
    counts: dict[JobStatus, int]
    #: Number of the event in the job's history; only if the stream was resumed.
    seq: int
    #: Whether events before this ``init`` were lost.
    missed: bool


#: Called before each reconnect with the reason.
OnDisconnect = Callable[[YardmasterError], object]


class Stream:
    """The state of a stream of a job or a space across reconnects. It makes no calls."""

    def __init__(self, path: str, *, is_of_job: bool, since: int | None = None) -> None:
        self._path = path
        self._is_of_job = is_of_job
        self._last_id = None if since is None else str(since)
        self._failures = 0
        #: Whether the service has said that no more messages will follow.
        self.has_ended = False

    def request(self) -> Request:
        """Return the call that opens the next connection, which resumes after the last numbered event."""
        self._is_resumed = self._last_id is not None
        self._opened_at = math.inf
        self._rest, self._fields = b"", dict[bytes, bytes]()
        headers = {"accept": "text/event-stream"}
        if self._last_id is not None:
            headers["last-event-id"] = self._last_id
        return Request("GET", self._path, headers=headers)

    def read(self, piece: bytes) -> Iterator[StreamMessage]:
        """Yield the messages that a chunk of the response completes. Raises YardmasterError for anything else."""
        self._opened_at = min(self._opened_at, time.monotonic())
        *lines, self._rest = (self._rest + piece).split(b"\n")  # Not splitlines: JSON may have other separators.
        for line in lines:
            if line:
                name, _, value = line.partition(b":")
                self._fields[name] = value.strip()
                continue
            fields, self._fields = self._fields, {}
            if fields.get(b"event") == b"expired":
                raise YardmasterError("UNAUTHENTICATED", "The stream token has expired", status=401)
            if fields.get(b"event") == b"ended":
                self.has_ended = True
                return
            if b"data" in fields:
                self._last_id = fields[b"id"].decode() if b"id" in fields else self._last_id
                yield _message_in(fields[b"data"])

    def is_last(self, message: StreamMessage) -> bool:
        """Return whether a message says that the job has ended.

        On a resumed stream, events from before ``init`` follow it. Unless the job is completed, it may have been
        requeued since then.
        """
        if not self._is_of_job:
            return False
        if message["type"] == "init":
            self._init_at = message["timestamp"]
            return message.get("status") in _ENDS and not self._is_resumed
        is_new = not self._is_resumed or message["timestamp"] > self._init_at
        return message["type"] in _ENDS and (is_new or message["type"] == "completed")

    def pause_after(self, error: YardmasterError) -> float:
        """Return the wait before the next connection, in seconds. Raises an error that a reconnect can't fix."""
        if not error.is_temporary:
            raise error
        if time.monotonic() - self._opened_at >= _LASTING:
            self._failures = 0
        pause = random.uniform(0, min(_FIRST * 2 ** min(self._failures, 10), _MOST))
        self._failures += 1
        return max(pause, error.retry_after)


def _message_in(data: bytes) -> StreamMessage:
    try:
        message: Any = json.loads(data)
        if isinstance(message["type"], str) and isinstance(message["timestamp"], str):
            return cast(StreamMessage, message)
    except (ValueError, TypeError, KeyError):
        pass
    raise YardmasterError("NO_RESPONSE", "The stream has a message that is not from the service; check the URL")


def job_stream(job_id: str, since: int | None) -> Stream:
    return Stream(f"/realtime/{quote(job_id, safe='')}", is_of_job=True, since=since)


def space_stream(
    target: Target, names: Sequence[str], types: Sequence[str], tags: Sequence[str], counts: bool = False
) -> Stream:
    filters = {"name": names, "type": types, "tag": tags, **({"counts": 1} if counts else {})}
    query = urlencode(filters, doseq=True, quote_via=quote)
    return Stream(f"/realtime{space_path(target, f'?{query}' if query else '')}", is_of_job=False)
