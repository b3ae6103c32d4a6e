from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from .._transport import Target, space_path
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

# The debug log of websockets shows the headers, and so the key.
_logger = logging.getLogger("yardmaster.stream")
_logger.setLevel(logging.INFO)


def _url_of(target: Target, names: Sequence[str]) -> str:
    query = urlencode([("type", each) for each in JOB_LOST_EVENTS])
    of_names = urlencode([("name", name) for name in names], quote_via=quote)
    if len(of_names) < _MOST_QUERY:
        query = f"{query}&{of_names}"
    return f"ws{target.url.removeprefix('http')}/api/v1/realtime{space_path(target, '')}?{query}"


async def follow_space(
    target: Target,
    names: Sequence[str],
    *,
    message: Callable[[Message], None],
    begun: Callable[[], None],
    missing: Callable[[str], None],
) -> None:
    """Follow the ends of attempts in the space, until it is canceled. It comes again after a disconnection.

    ``begun`` is called when a stream has begun: what happened before is not in it. Without the package websockets, or
    without the scope ``jobs:read``, there is no stream, and heartbeats find out instead.
    """
    try:
        from websockets.asyncio.client import connect
    except ImportError:
        missing("install yardmaster-sdk[stream]")
        return

    class Connect(connect):
        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc  # Another server must not get the key.

    failures = 0
    while True:
        began = time.monotonic()
        try:
            url, headers = _url_of(target, names), {"x-api-key": target.api_key}
            async with Connect(url, additional_headers=headers, logger=_logger, close_timeout=1) as socket:
                async for text in socket:
                    event = json.loads(text)
                    if event["type"] == "init":
                        begun()
                    else:
                        message(event)
        except Exception as error:  # Whatever it is, the worker continues without the stream, and tries again.
            _logger.debug("The stream has ended: %s", type(error).__name__)
        failures = 0 if time.monotonic() - began > _LASTING else failures + 1
        if failures == _FAILURES_BEFORE_WARNING:
            missing("it cannot be opened; does the key have jobs:read?")
        await asyncio.sleep(random.random() * min(_FIRST * 2 ** min(failures, 10), _MOST))
