from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from .._errors import Aborted
from .._warnings import logger


class AbortSignal:
    """Tells a handler to stop, and why. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._event = threading.Event()
        self._callbacks: list[Callable[[Aborted], None]] = []
        #: ``Killed``, ``DeliveryLost``, ``TimedOut`` or ``Draining``; None until the signal is aborted.
        self.reason: Aborted | None = None

    @property
    def aborted(self) -> bool:
        return self.reason is not None

    def raise_if_aborted(self) -> None:
        """Raise the reason if the signal is aborted."""
        if self.reason is not None:
            raise self.reason

    def wait(self, timeout: float | None = None) -> bool:
        """Block the thread until the signal is aborted, or until the timeout. Returns whether it is aborted."""
        return self._event.wait(timeout)

    async def wait_async(self) -> Aborted:
        """Wait until the signal is aborted and return the reason."""
        loop = asyncio.get_running_loop()
        event = asyncio.Event()

        def wake(_: Aborted) -> None:
            loop.call_soon_threadsafe(event.set)

        self.on_abort(wake)
        await event.wait()
        assert self.reason is not None
        return self.reason

    def on_abort(self, callback: Callable[[Aborted], None]) -> None:
        """Call a function with the reason, in the thread that aborts; now, if the signal is already aborted."""
        with self._lock:
            if self.reason is None:
                self._callbacks.append(callback)
                return
        callback(self.reason)

    def abort(self, reason: Aborted) -> None:
        """Abort the signal, unless it is already aborted. Workers do this; call it only in tests."""
        with self._lock:
            if self.reason is not None:
                return
            self.reason = reason
            callbacks, self._callbacks = self._callbacks, []
        self._event.set()
        for callback in callbacks:
            try:
                callback(reason)
            except Exception:
                logger.exception("A callback of an abort signal failed")
