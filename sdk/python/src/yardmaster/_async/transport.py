from __future__ import annotations

import asyncio
import math
import time
from contextlib import aclosing
from typing import Any

import httpx

from .._backoff import Backoff
from .._errors import YardmasterError
from .._http import STREAM, AsyncConnections, Request, Target, arguments, is_stream, own_call, parse


class AsyncTransport:
    """Makes calls. A forked process opens its own connections."""

    def __init__(self, target: Target, window: float = 0) -> None:
        self.target = target
        self._window = window
        self._connections = AsyncConnections()

    async def once(self, request: Request, timeout: float | None = None) -> Any:
        """Make a call once."""
        with own_call():
            response = await self._connections.get().request(**arguments(self.target, request, timeout))
        return parse(response, request.is_page)

    async def send(self, request: Request, window: float = math.inf) -> Any:
        """Retry a call until a response says what it did, or until the retry window or a shorter one has passed."""
        end = time.monotonic() + min(self._window, window)
        backoff = Backoff()
        while True:
            try:
                return await self.once(request)
            except YardmasterError as error:
                wait = backoff.next(error)
                if not request.may_repeat(error) or time.monotonic() + wait > end:
                    raise
            await asyncio.sleep(wait)

    async def open(self, request: Request) -> httpx.Response:
        """Open a stream of server-sent events. Status 204 means that no more messages will follow."""
        http = self._connections.get()
        with own_call():
            response = await http.send(http.build_request(**arguments(self.target, request, STREAM)), stream=True)
            if is_stream(response):
                return response
            async with aclosing(response):
                await response.aread()
        parse(response)
        raise YardmasterError("NO_RESPONSE", "The response is not a stream of the service; check the URL")

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()
