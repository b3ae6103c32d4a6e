"""Run handlers in processes, so that the work of one doesn't slow down the others."""

from __future__ import annotations

import atexit
import multiprocessing
import pickle
import threading
import time
from typing import Any

from .._errors import Draining, YardmasterError
from .._signals import kill_group
from .context import BlockingReporter, SyncContext
from .handlers import Handler
from .outcomes import Fields, ProcessError, end_of
from .process_child import serve
from .signal import AbortSignal

#: Seconds after which a process that ignores an abort is killed.
_GRACE = 5.0
_LOOK = 0.5


class _Child:
    """A process that calls handlers, one at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self.connection, theirs = context.Pipe()
        # A daemon process can't have children.
        self.process = context.Process(target=serve, args=(theirs,), name="yardmaster-handler", daemon=False)
        self.process.start()
        theirs.close()

    def send(self, *message: Any) -> None:
        try:
            with self._lock:
                self.connection.send(message)
        except (OSError, ValueError):
            pass  # The process has died, as its reader will notice.

    def kill(self) -> None:
        """Kill the process and its children."""
        assert self.process.pid is not None
        kill_group(self.process.pid)
        self.process.kill()

    def exit_code(self) -> int | None:
        self.process.join(_GRACE)
        return self.process.exitcode


class ProcessPool:
    """Starts processes and reuses them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._is_closed = False
        atexit.register(self.close)  # Or the program would wait for the processes of a worker that wasn't stopped.

    def call(self, handler: Handler, context: SyncContext, reporter: BlockingReporter, payload: Any) -> Fields:
        """Call a handler in a process, from a separate thread. Returns the end of its attempt."""
        function = pickle.dumps(handler.function)
        child = self._take()
        child.send("run", function, payload, context.job)
        context.signal.on_abort(lambda reason: child.send("abort", context.job.id, type(reason).__name__, str(reason)))
        end = self._follow(child, context.signal, reporter)
        with self._lock:
            if end is not None:
                self._idle.append(child)
            else:
                self._all.discard(child)
        if end is not None:
            return end
        code = child.exit_code()
        child.kill()  # Kills its children.
        return end_of(error=ProcessError(f"the process of the handler died with exit code {code}"), context=context)

    def _take(self) -> _Child:
        """Return an idle process that is alive, or a new one."""
        with self._lock:
            while self._idle:
                child = self._idle.pop()
                if child.process.is_alive():
                    return child
                self._all.discard(child)
        child = _Child()
        with self._lock:
            self._all.add(child)
            if self._is_closed:
                child.kill()
        return child

    def _follow(self, child: _Child, abort: AbortSignal, reporter: BlockingReporter) -> Fields | None:
        """Pass on what a process reports until its handler returns. Returns None if the process dies."""
        aborted_at: float | None = None
        try:
            while True:
                if child.connection.poll(_LOOK):
                    kind, *values = child.connection.recv()
                    if kind == "end":
                        end: Fields = values[0]
                        return end
                    self._pass_on(child, reporter, kind, values)
                if not abort.aborted or isinstance(abort.reason, Draining):
                    continue
                aborted_at = aborted_at or time.monotonic()
                if time.monotonic() - aborted_at > _GRACE:
                    child.kill()
        except (EOFError, OSError):
            return None

    def _pass_on(self, child: _Child, reporter: BlockingReporter, kind: str, values: list[Any]) -> None:
        if kind == "log":
            reporter.log(values[0])
            return
        try:
            if kind == "progress":
                reporter.progress(values[0])
            else:
                reporter.send(*values)
                child.send("sent", None)
        except YardmasterError as error:
            child.send("sent", (error.code, error.message, error.status))
        except Exception as error:
            if kind == "send":
                child.send("sent", ("NO_RESPONSE", str(error), None))

    def close(self) -> None:
        """Kill all processes and their children."""
        atexit.unregister(self.close)
        with self._lock:
            self._is_closed = True
            children, self._all = self._all, set()
        for child in children:
            child.kill()
