"""Requests, responses and connections of both clients."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast
from urllib.parse import quote

import httpx

from ._errors import YardmasterError

#: Time for the response of a call in addition to its wait, in seconds.
RESPONSE = 10.0
#: The service sends a comment every 15 s, so a stream that is silent for longer than this has stalled.
STREAM = httpx.Timeout(RESPONSE, read=45.0)


@dataclass(frozen=True)
class Target:
    """Where calls go."""

    url: str  # URL of the service, without /api/v1.
    api_key: str = field(repr=False)
    space: str


@dataclass(frozen=True)
class Request:
    """One call, which can be retried."""

    method: str
    path: str  # Below /api/v1, percent-encoded.
    body: bytes | None = None  # JSON, unless the headers name another type.
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait: float = 0  # How long the service may wait before it responds, in seconds.
    #: Whether to return ``{"items", "nextCursor"}``: the list of the response and its header x-next-cursor.
    is_page: bool = False
    #: Whether a retry would take effect a second time. Such a call is retried only if it certainly had no effect.
    is_once: bool = False

    def may_repeat(self, error: YardmasterError) -> bool:
        return error.is_without_effect if self.is_once else error.is_temporary


def space_path(target: Target, rest: str) -> str:
    return f"/spaces/{quote(target.space, safe='')}{rest}"


def job_path(job_id: str, rest: str = "") -> str:
    return f"/jobs/{quote(job_id, safe='')}{rest}"


def arguments(target: Target, request: Request, timeout: float | httpx.Timeout | None) -> dict[str, Any]:
    """Return the arguments of an httpx request."""
    headers = {"x-api-key": target.api_key, **request.headers}
    if request.body is not None:
        headers.setdefault("content-type", "application/json")
    return {
        "method": request.method,
        "url": f"{target.url}/api/v1{request.path}",
        "content": request.body,
        "headers": headers,
        "timeout": request.wait + RESPONSE if timeout is None else timeout,
    }


def no_response(error: Exception) -> YardmasterError:
    return YardmasterError("NO_RESPONSE", f"No response: {str(error) or type(error).__name__}")


def parse(response: httpx.Response, is_page: bool = False) -> Any:
    """Read the JSON of a 2xx response. A body that isn't the service's comes from a proxy or is incomplete."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if response.is_success and body is not None:
        return {"items": body, "nextCursor": response.headers.get("x-next-cursor")} if is_page else body
    request_id = response.headers.get("x-request-id")
    retry_after = _retry_after_of(response.headers.get("retry-after"))
    if not isinstance(body, dict) or "code" not in body:
        message = f"Status {response.status_code} without JSON of the service; check the URL"
        raise YardmasterError(
            "NO_RESPONSE", message, status=response.status_code, request_id=request_id, retry_after=retry_after
        )
    error = cast("dict[str, Any]", body)
    raise YardmasterError(
        error["code"],
        error.get("error") or error["code"],
        status=response.status_code,
        job_status=error.get("jobStatus"),
        job_id=error.get("jobId"),
        request_id=request_id,
        details=error.get("details") or (),
        retry_after=retry_after,
    )


def is_stream(response: httpx.Response) -> bool:
    """Return whether a response is a stream of the service; 204 means that no more messages will follow."""
    kind: str = response.headers.get("content-type", "")
    return response.status_code == 204 or (response.is_success and kind.startswith("text/event-stream"))


def _retry_after_of(header: str | None) -> float:
    """Parse a number of seconds or a date. Returns seconds, at most an hour."""
    if header is None:
        return 0
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(timezone.utc)).total_seconds()
        except (ValueError, TypeError):
            return 0
    return min(max(seconds, 0), 3_600)


#: By default, httpx makes calls beyond the hundredth wait for a connection until they time out.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=50)


_httpx_logger = logging.getLogger("httpx")
_is_own = ContextVar("yardmaster_call", default=False)


def _is_wanted(record: logging.LogRecord) -> bool:
    """Hide the line that httpx logs for each call of the SDK, unless the user has set the level of that logger."""
    return not _is_own.get() or record.levelno > logging.INFO or _httpx_logger.level != logging.NOTSET


_httpx_logger.addFilter(_is_wanted)


@contextmanager
def own_call() -> Generator[None, None, None]:
    token = _is_own.set(True)
    try:
        yield
    except httpx.HTTPError as error:
        raise no_response(error) from error
    finally:
        _is_own.reset(token)


# Both are written by hand, because an asyncio client has separate connections for each event loop.
class Connections:
    """The connections of this process. Sharing them with a forked process would mix up their responses."""

    def __init__(self) -> None:
        self._pool = (os.getpid(), httpx.Client(limits=_LIMITS))

    def get(self) -> httpx.Client:
        if self._pool[0] != os.getpid():
            self._pool = (os.getpid(), httpx.Client(limits=_LIMITS))
        return self._pool[1]

    def close(self) -> None:
        self.get().close()


class AsyncConnections:
    """The connections of each event loop and process."""

    def __init__(self) -> None:
        self._pools: dict[asyncio.AbstractEventLoop, tuple[int, httpx.AsyncClient]] = {}

    def get(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        pool = self._pools.get(loop)
        if pool is None or pool[0] != os.getpid():
            for closed in [each for each in self._pools if each.is_closed()]:
                self._pools.pop(closed, None)
            pool = self._pools[loop] = (os.getpid(), httpx.AsyncClient(limits=_LIMITS))
        return pool[1]

    async def close(self) -> None:
        """Close the connections of the running event loop."""
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool[1].aclose()
