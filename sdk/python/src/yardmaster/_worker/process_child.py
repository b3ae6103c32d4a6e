"""The program of a handler process."""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

from .._errors import Aborted, DeliveryLost, Draining, Killed, TimedOut, YardmasterError
from .._payloads import as_json
from .._signals import kill_group, lead_group, on_signal
from .context import JobInfo, LogEntry, ReportAction, SyncContext
from .handlers import call_blocking, handler_of
from .job_log import line_of
from .outcomes import Fields, end_of
from .signal import AbortSignal

_REASONS: dict[str, type[Aborted]] = {each.__name__: each for each in (Killed, DeliveryLost, TimedOut, Draining)}


class _ProcessReporter:
    """Passes reports of a handler to the worker's process."""

    def __init__(self, connection: Connection, job: JobInfo) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.job = job
        self.signal = AbortSignal()
        self.sent: queue.SimpleQueue[tuple[str, str, int | None] | None] = queue.SimpleQueue()

    def write(self, *message: Any) -> None:
        with self._lock:
            self._connection.send(message)

    def log(self, entry: LogEntry) -> None:
        self.write("log", json.loads(line_of(entry)))  # Values that can't be sent to another process become text.

    def _raise_if_over(self) -> None:
        """Raise the reason if the job is lost. While the worker drains, reports are still sent."""
        if not isinstance(self.signal.reason, Draining):
            self.signal.raise_if_aborted()

    def progress(self, report: Fields) -> None:
        self._raise_if_over()
        self.write("progress", report)

    def send(self, action: ReportAction, data: Any) -> None:
        self._raise_if_over()
        self.write("send", action, as_json(data, "event" if action == "ephemeral" else action))
        refusal = self.sent.get()
        if refusal is not None:
            self._raise_if_over()
            code, text, status = refusal
            raise YardmasterError(code, text, status=status)


def serve(connection: Connection) -> None:
    """Call handlers in this process until the worker's process ends."""
    lead_group()
    # Ctrl-C and systemd signal all processes, but only the worker must react: it drains.
    for number in (signal.SIGINT, signal.SIGTERM):
        on_signal(number, lambda: None)
    runs: queue.SimpleQueue[tuple[bytes, Any, _ProcessReporter]] = queue.SimpleQueue()

    def read() -> None:
        reporter: _ProcessReporter | None = None
        while True:
            try:
                kind, *values = connection.recv()
            except (EOFError, OSError):
                kill_group(os.getpid())
                os._exit(0)
            if kind == "run":
                function, payload, job = values
                reporter = _ProcessReporter(connection, job)
                runs.put((function, payload, reporter))
            elif reporter is None:
                continue
            elif kind == "sent":
                reporter.sent.put(values[0])
            elif values[0] == reporter.job.id:  # A late abort belongs to an earlier job.
                reporter.signal.abort(_REASONS[values[1]](values[2]))

    threading.Thread(target=read, name="yardmaster-reader", daemon=True).start()
    while True:
        function, payload, reporter = runs.get()
        context = SyncContext(reporter.job, reporter.signal, reporter)
        try:
            loaded = pickle.loads(function)
            end = call_blocking(handler_of(loaded, process=True, cancel=False), context, payload)
        except BaseException as error:  # The function can't be imported here.
            end = end_of(error=error, context=context)
        reporter.write("end", end)
