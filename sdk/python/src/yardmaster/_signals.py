"""Signals of the program, and of the processes of handlers."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any


def on_signal(number: int, act: Callable[[], object]) -> Callable[[], None]:
    """Call a function at a signal, and then the handler that the program has for it.

    Returns a function that restores that handler. A forked process restores it on its own, at its first signal.
    """
    before, pid = signal.getsignal(number), os.getpid()
    if before is None:  # It was not installed from Python, which could not restore it.
        return lambda: None

    def handle(number: int, frame: FrameType | None) -> None:
        if os.getpid() != pid:
            signal.signal(number, before)
            os.kill(os.getpid(), number)
            return
        act()
        if callable(before) and not _is_of_python(before):
            with suppress(SystemExit, KeyboardInterrupt):  # The program ends once the worker has drained.
                before(number, frame)

    def restore() -> None:
        if signal.getsignal(number) is handle:
            signal.signal(number, before)

    signal.signal(number, handle)
    return restore


def _is_of_python(handler: Any) -> bool:
    """Whether a handler is that of Python or asyncio.run for Ctrl-C, which would end the program at once."""
    function = getattr(handler, "func", handler)  # asyncio.run has a functools.partial.
    return handler is signal.default_int_handler or str(getattr(function, "__module__", "")).startswith("asyncio.")


def lead_group() -> None:
    """Make this process the leader of a group, to which the processes belong that it starts."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()


def kill_group(pid: int) -> None:
    """Kill a process that leads a group, and the rest of the group."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
