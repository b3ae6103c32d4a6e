from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from .._wire import ClaimedJob
from .context import Context, JobInfo, SyncContext
from .handlers import LoopCall, call_blocking, call_in_loop, in_thread
from .outcomes import Fields, end_of
from .reporter import AttemptReporter, LoopReporter, ThreadReporter

if TYPE_CHECKING:
    from .attempt import Attempt
    from .session import Session


async def invoke(attempt: Attempt, session: Session, reporter: AttemptReporter) -> Fields:
    """Call the handler of an attempt in its loop, thread or process. Returns the end of the attempt."""
    if attempt.signal.reason is not None:  # It was aborted before it started.
        return end_of(error=attempt.signal.reason, context=None)
    handler, payload = session.handler_of(attempt.job), attempt.job["payload"]
    info, loop = _info_of(attempt.job), asyncio.get_running_loop()
    if handler.kind == "loop":
        context = Context(info, attempt.signal, LoopReporter(reporter, loop))
        call = partial(call_in_loop, handler, context, payload)
        attempt.call = LoopCall(call, session.handler_calls, session.calls)
        return await attempt.call.end
    blocking = ThreadReporter(reporter, loop)
    sync = SyncContext(info, attempt.signal, blocking)
    if handler.kind == "thread":
        return await in_thread(partial(call_blocking, handler, sync, payload), sync, session.calls)
    call_process = partial(session.processes.call, handler, sync, blocking, payload)
    return await in_thread(call_process, sync, session.calls)


def _info_of(job: ClaimedJob) -> JobInfo:
    created_at = datetime.fromisoformat(job["createdAt"].replace("Z", "+00:00"))
    return JobInfo(
        job["id"], job["name"], job["attempt"], job["maxRetries"], job["timeoutSeconds"], created_at, job["checkpoint"]
    )
