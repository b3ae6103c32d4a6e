from __future__ import annotations

from typing import TYPE_CHECKING

from .._errors import Release, YardmasterError
from .._warnings import WorkerWarning
from .._wire import ClaimedJob
from .attempt import Attempt
from .outcomes import release_of
from .settle import Report

if TYPE_CHECKING:
    from .session import Session


def begin(session: Session, jobs: list[ClaimedJob]) -> None:
    """Start the jobs of a poll. One call acks them all, and each handler starts after its ack."""
    acks: list[Report] = []
    for job in jobs:
        if job["name"] not in session.options.handlers:
            _release_unknown(session, job)
            continue
        attempt = session.attempt(job)
        if session.options.auto_ack:
            attempt.start()
        else:
            acks.append(_ack_of(attempt))
    if acks:
        session.outbox.send_now(acks)


def _release_unknown(session: Session, job: ClaimedJob) -> None:
    reason = f"the worker has no handler for {job['name']}"
    session.warn(WorkerWarning("unknownName", f"{reason}; its job is released", (job["id"],)))
    outcome = {"jobId": job["id"], "deliveryToken": job["deliveryToken"], **release_of(Release(0, reason))}
    session.outbox.add(Report(outcome, lambda _: None))


def _ack_of(attempt: Attempt) -> Report:
    def done(error: Exception | None) -> None:
        if error is None:
            attempt.start()
        elif isinstance(error, YardmasterError):
            attempt.drop()

    return Report(attempt.outcome({"action": "ack"}), done)
