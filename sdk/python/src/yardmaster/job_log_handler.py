from __future__ import annotations

import logging

from ._wire import LogEntryLevel
from ._worker.context import current_log

#: Records of the SDK itself while it sends the log must not become part of the log.
_OWN = ("yardmaster", "httpx", "httpcore", "asyncio")


class JobLogHandler(logging.Handler):
    """Sends log records made inside a job handler to the log of that job.

    Add it once: ``logging.getLogger().addHandler(JobLogHandler())``. Records made outside of handlers are ignored.
    Tracebacks and ``extra`` fields become metadata.
    """

    def emit(self, record: logging.LogRecord) -> None:
        log = current_log.get()
        if log is None or record.name.split(".")[0] in _OWN:
            return
        try:
            metadata = {name: value for name, value in vars(record).items() if name not in _STANDARD}
            metadata["logger"] = record.name
            if record.exc_info:
                metadata["traceback"] = (self.formatter or _FORMATTER).formatException(record.exc_info)
            log.write(_level_of(record.levelno), record.getMessage(), metadata)
        except Exception:
            self.handleError(record)


_FORMATTER = logging.Formatter()
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def _level_of(number: int) -> LogEntryLevel:
    if number >= logging.CRITICAL:
        return "fatal"
    if number >= logging.ERROR:
        return "error"
    if number >= logging.WARNING:
        return "warn"
    return "info" if number >= logging.INFO else "debug"
