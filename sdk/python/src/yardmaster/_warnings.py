from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger("yardmaster")

#: ``blocked``: a handler blocked the event loop. ``lost``: a job was lost, so what its handler does is ignored.
#: ``logs``: log entries were dropped. ``unknownName``: a job has no handler and was released. ``unavailable``: calls
#: fail and are retried. ``stream``: the kill stream can't be opened. ``report``: the service refused a report.
WarningKind = Literal["blocked", "lost", "logs", "unknownName", "unavailable", "stream", "report"]


@dataclass(frozen=True)
class WorkerWarning:
    """Something that needs attention but doesn't stop the worker."""

    kind: WarningKind
    message: str
    #: IDs of the jobs concerned; may be empty.
    job_ids: tuple[str, ...] = ()


#: Called from any thread.
OnWarning = Callable[[WorkerWarning], None]


def guarded(on_warning: OnWarning) -> OnWarning:
    """Wrap a user's function so that an error it raises is logged instead of stopping the heartbeats."""

    def warn(warning: WorkerWarning) -> None:
        try:
            on_warning(warning)
        except Exception:
            logger.exception("on_warning raised an error")

    return warn


def log_warning(warning: WorkerWarning) -> None:
    """Log a warning with the logger ``yardmaster``."""
    logger.warning("%s (%s)", warning.message, ", ".join([warning.kind, *warning.job_ids]))
