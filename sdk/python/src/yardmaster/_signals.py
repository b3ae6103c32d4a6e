"""Signal handling in the program and in the processes of handlers."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any


def on_signal(number: int, act: Callable[[], object]) -> Callable[[], None]:
    """Call a function on a signal, and then the program's own handler for it.

    Returns a function that restores the program's handler. A forked process restores it at its first signal.
    """
    before, pid = signal.getsignal(number), os.getpid()
    if before is None:  # It wasn't installed from Python, which can't restore it.
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
    """Return whether a handler is the default one of Python or asyncio.run for Ctrl-C, which would end the program."""
    function = getattr(handler, "func", handler)  # asyncio.run installs a functools.partial.
    return handler is signal.default_int_handler or str(getattr(function, "__module__", "")).startswith("asyncio.")


def lead_group() -> None:
    """Make this process the leader of a process group, which its child processes join."""
    if hasattr(os, "setpgrp"):
        os.setpgrp()


def kill_group(pid: int) -> None:
    """Kill the group that a process leads."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
