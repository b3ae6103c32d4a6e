from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class LoopCalls:
    """Calls functions in an event loop from other threads, in order.

    Waking the loop costs more than most of these functions, so it is woken once for all pending calls. They see the
    context variables of whoever created this.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = contextvars.copy_context()
        self._waiting: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._is_woken = False
        self._is_collecting = False

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function soon, unless the loop is closed."""
        self._waiting.append((function, arguments))
        self._wake()

    def call_together(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function from another loop, together with its other calls of this iteration. For one loop only."""
        self._waiting.append((function, arguments))
        if not self._is_collecting:
            self._is_collecting = True
            asyncio.get_running_loop().call_soon(self._wake_collected)

    def _wake_collected(self) -> None:
        self._is_collecting = False
        self._wake()

    def _wake(self) -> None:
        if self._is_woken:
            return
        self._is_woken = True
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        self._is_woken = False  # First, so that a call that arrives after these wakes the loop again.
        while self._waiting:
            function, arguments = self._waiting.popleft()
            self._loop.call_soon(function, *arguments, context=self._context)
