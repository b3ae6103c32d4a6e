from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from .waiting import wait_within

_BLOCKED = 5.0
_INTERVAL = 0.5


class LoopWatch:
    """Watches from another event loop whether the loop of the handlers is blocked."""

    def __init__(
        self, watched: asyncio.AbstractEventLoop, *, blocked: Callable[[], None], turned: Callable[[], None]
    ) -> None:
        """``blocked`` is called when the loop hasn't turned for 5 s, once until the next ``turned``."""
        self._watched = watched
        self._blocked, self._turned = blocked, turned
        self._answered = asyncio.Event()
        self._answered.set()

    @property
    def is_turning(self) -> bool:
        return self._answered.is_set()

    async def run(self) -> None:
        """Watch until canceled."""
        loop = asyncio.get_running_loop()

        def answer() -> None:
            with suppress(RuntimeError):  # The watch has ended.
                loop.call_soon_threadsafe(self._answered.set)

        while True:
            self._answered.clear()
            self._watched.call_soon_threadsafe(answer)
            if not await wait_within(self._answered, _BLOCKED):
                self._blocked()
                await self._answered.wait()
            self._turned()
            await asyncio.sleep(_INTERVAL)
