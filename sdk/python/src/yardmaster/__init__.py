"""Create and run Yardmaster jobs."""

from ._async.client import AsyncYardmaster
from ._async.job import AsyncJob
from ._async.operations import AsyncOperationHandle, AsyncOperations
from ._async.schedules import AsyncSchedules
from ._durations import Duration
from ._errors import (
    Aborted,
    DeliveryLost,
    Draining,
    Killed,
    NonRetryable,
    Release,
    RetryAfter,
    TimedOut,
    YardmasterError,
)
from ._options import JobFilter, JobOptions, NewJob, OperationOptions
from ._schedules import NewSchedule, ScheduleOptions
from ._streams import StreamMessage
from ._sync.client import Yardmaster
from ._sync.job import Job
from ._sync.operations import OperationHandle, Operations
from ._sync.schedules import Schedules
from ._warnings import WorkerWarning
from ._worker.context import Context, JobInfo, Log, SyncContext
from ._worker.signal import AbortSignal
from .job_log_handler import JobLogHandler
from .worker import Worker

__all__ = [
    "AbortSignal",
    "Aborted",
    "AsyncJob",
    "AsyncOperationHandle",
    "AsyncOperations",
    "AsyncSchedules",
    "AsyncYardmaster",
    "Context",
    "DeliveryLost",
    "Draining",
    "Duration",
    "Job",
    "JobFilter",
    "JobInfo",
    "JobLogHandler",
    "JobOptions",
    "Killed",
    "Log",
    "NewJob",
    "NewSchedule",
    "NonRetryable",
    "OperationHandle",
    "OperationOptions",
    "Operations",
    "Release",
    "RetryAfter",
    "ScheduleOptions",
    "Schedules",
    "StreamMessage",
    "SyncContext",
    "TimedOut",
    "Worker",
    "WorkerWarning",
    "Yardmaster",
    "YardmasterError",
]
__version__ = "0.1.0"  # x-release-please-version
