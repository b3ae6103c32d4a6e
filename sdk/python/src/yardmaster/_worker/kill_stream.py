from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import httpx

from .._transport import AsyncTransport, Target, space_path
from .._wire import JOB_LOST_EVENTS

_FIRST, _MOST = 0.5, 30.0
#: A connection of this length counts as a success. Seconds.
_LASTING = 5.0
#: After so many failures in a row there is a warning.
_FAILURES_BEFORE_WARNING = 5
#: A longer query is refused with its headers. Then the stream has all names.
_MOST_QUERY = 6_000

#: An event of the stream of a space.
Message = dict[str, Any]


def _path_of(target: Target, names: Sequence[str]) -> str:
    query = urlencode([("type", each) for each in JOB_LOST_EVENTS])
    of_names = urlencode([("name", name) for name in names], quote_via=quote)
    if len(of_names) < _MOST_QUERY:
        query = f"{query}&{of_names}"
    return f"/realtime{space_path(target, '')}?{query}"


async def follow_space(
    transport: AsyncTransport,
    names: Sequence[str],
    *,
    message: Callable[[Message], None],
    begun: Callable[[], None],
    missing: Callable[[str], None],
) -> None:
    """Follow the ends of attempts in the space until it is canceled. Reconnect after a disconnection.

    ``begun`` is called when a stream has begun: what happened before is not in it. Without the scope ``jobs:read``
    there is no stream, and heartbeats find out instead.
    """
    path, failures = _path_of(transport.target, names), 0
    while True:
        began_at, why = float("inf"), "the response ends"
        try:
            async with transport.stream(path) as response:
                if response.status_code == 204:
                    missing("status 204")
                    return
                async for event in _messages_of(response):
                    if event["type"] == "init":
                        began_at = time.monotonic()
                        begun()
                    else:
                        message(event)
        except Exception as error:  # Whatever it is, the worker continues without the stream, and tries again.
            why = str(error) or type(error).__name__
        failures = 1 if time.monotonic() - began_at > _LASTING else failures + 1
        if failures == _FAILURES_BEFORE_WARNING:
            missing(why)
        await asyncio.sleep(random.random() * min(_FIRST * 2 ** min(failures, 10), _MOST))


async def _messages_of(response: httpx.Response) -> AsyncGenerator[Message, None]:
    """Read server-sent events, of which each has one line of data. Other lines are comments and settings."""
    rest = b""
    async for part in response.aiter_bytes():  # Its aiter_lines would also split at U+2028, which texts may have.
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield json.loads(line.removeprefix(b"data:"))
