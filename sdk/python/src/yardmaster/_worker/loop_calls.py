from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class LoopCalls:
    """Calls functions in an event loop, in their order, from other threads.

    The loop is woken once for all calls that wait: to wake it costs more than most of these functions. They see the
    context variables of the one who made this.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._context = contextvars.copy_context()
        self._waiting: deque[tuple[Callable[..., object], tuple[object, ...]]] = deque()
        self._is_woken = False

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function soon; not when the loop is closed."""
        self._waiting.append((function, arguments))
        if self._is_woken:
            return
        self._is_woken = True
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        self._is_woken = False  # First, so that a call that comes after the last one of these wakes the loop again.
        while self._waiting:
            function, arguments = self._waiting.popleft()
            self._loop.call_soon(function, *arguments, context=self._context)
