from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


class LoopThread:
    """Runs a coroutine in its own event loop and thread, so that the caller's loop can't block it."""

    _loop: asyncio.AbstractEventLoop
    _task: asyncio.Task[None]

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._end: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._is_running = threading.Event()
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run, work), name="yardmaster-worker", daemon=True).start()
        self._is_running.wait()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._task = self._loop.create_task(work)
            self._is_running.set()
            await asyncio.wait({self._task})

        try:
            asyncio.run(main())
            error = None if self._task.cancelled() else self._task.exception()
        except BaseException as raised:  # Something in the loop called exit.
            error = raised
        if error is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(error)

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the loop from any thread, unless the coroutine has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    async def wait(self) -> None:
        """Wait for the coroutine and raise its error. If this is canceled, it cancels the coroutine first."""
        end = asyncio.wrap_future(self._end)
        try:
            await asyncio.shield(end)
        except asyncio.CancelledError:
            self.call(self._task.cancel)
            await asyncio.wait({end})
            raise
