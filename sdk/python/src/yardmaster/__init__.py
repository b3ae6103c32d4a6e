"""Create jobs of Yardmaster, and work on them."""

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
from ._operations import AsyncOperationHandle, AsyncOperations, OperationHandle, Operations
from ._options import JobFilter, JobOptions, NewJob, OperationOptions
from ._warnings import WorkerWarning
from ._worker.context import Context, JobInfo, Log, SyncContext
from ._worker.signal import AbortSignal
from .async_client import AsyncJob, AsyncYardmaster
from .client import Job, Yardmaster
from .job_log_handler import JobLogHandler
from .worker import Worker

__all__ = [
    "AbortSignal",
    "Aborted",
    "AsyncJob",
    "AsyncOperationHandle",
    "AsyncOperations",
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
    "NonRetryable",
    "OperationHandle",
    "OperationOptions",
    "Operations",
    "Release",
    "RetryAfter",
    "SyncContext",
    "TimedOut",
    "Worker",
    "WorkerWarning",
    "Yardmaster",
    "YardmasterError",
]
__version__ = "0.1.0"  # x-release-please-version
