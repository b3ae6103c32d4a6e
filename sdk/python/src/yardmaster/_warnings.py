from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

logger = logging.getLogger("yardmaster")

#: ``blocked``: a handler blocks the event loop. ``lost``: a job was lost, so what its handler does is ignored.
#: ``logs``: log entries were dropped. ``unknownName``: a job has no handler and was released. ``unavailable``: calls
#: fail and are sent again. ``stream``: there is no stream of kills. ``report``: the service refused a report.
WarningKind = Literal["blocked", "lost", "logs", "unknownName", "unavailable", "stream", "report"]


@dataclass(frozen=True)
class WorkerWarning:
    """Something that needs attention but does not end the worker."""

    kind: WarningKind
    message: str
    #: Of the jobs that it is about; may be empty.
    job_ids: tuple[str, ...] = ()


#: It may be called from any thread.
OnWarning = Callable[[WorkerWarning], None]


def guarded(on_warning: OnWarning) -> OnWarning:
    """Log what a function of the user raises, because it must not end the heartbeats."""

    def warn(warning: WorkerWarning) -> None:
        try:
            on_warning(warning)
        except Exception:
            logger.exception("on_warning has failed")

    return warn


def log_warning(warning: WorkerWarning) -> None:
    """Write a warning to the logger ``yardmaster``."""
    logger.warning("%s (%s)", warning.message, ", ".join([warning.kind, *warning.job_ids]))
