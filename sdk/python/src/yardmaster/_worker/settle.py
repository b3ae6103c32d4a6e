"""Send the outcomes of jobs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from .._async.transport import AsyncTransport
from .._backoff import Backoff
from .._errors import YardmasterError
from .._http import Request, job_path, space_path
from .._payloads import json_bytes
from .._warnings import logger
from .._wire import Settled
from .outcomes import replacement_of

#: Maximum outcomes and bytes of a settle call and of a poll. The service accepts 5 MB and 1 MB.
SETTLE = (100, 3_000_000)
TURN = (50, 500_000)

#: An outcome with its job and token, in the form of the API.
Outcome = dict[str, Any]


class Stopped(Exception):
    """Passed to ``done`` if the worker stopped before a report was stored."""


@dataclass
class Report:
    """An outcome to send to the service."""

    outcome: Outcome
    #: Called once: with None if the outcome is stored, otherwise with the refusal or Stopped.
    done: Callable[[Exception | None], None]


async def settle(transport: AsyncTransport, outcomes: Sequence[Outcome], timeout: float | None = None) -> list[Settled]:
    """Make one call with outcomes. Returns an entry for each."""
    path = space_path(transport.target, "/jobs/settle")
    request = Request("POST", path, json_bytes({"outcomes": outcomes}))
    return entries_of(await transport.once(request, timeout), len(outcomes))


def entries_of(body: Any, count: int) -> list[Settled]:
    """Return the entries of a settle response. Raises YardmasterError if it isn't from the service."""
    if isinstance(body, dict):
        entries = cast("dict[str, Any]", body).get("results")
        if isinstance(entries, list) and len(cast(Any, entries)) == count:
            return cast("list[Settled]", entries)
    raise YardmasterError("NO_RESPONSE", "The response does not have one entry per outcome")


async def settle_within(transport: AsyncTransport, outcomes: list[Outcome], seconds: float) -> YardmasterError | None:
    """Send the last outcomes of a worker until they are stored. Returns those that couldn't be stored, and why."""
    end = time.monotonic() + seconds
    backoff = Backoff()
    while outcomes:
        some = outcomes[: SETTLE[0]]
        try:
            await settle(transport, some, max(end - time.monotonic(), 0.1))
        except YardmasterError as error:
            wait = backoff.next(error)
            if error.is_of_key or time.monotonic() + wait > end:
                return error
            if error.is_temporary:
                await asyncio.sleep(wait)
                continue
            # One of them is invalid and must not hold up the others.
            outcomes[: len(some)] = left = await _settle_each_within(transport, some, max(end - time.monotonic(), 0.1))
            if left:
                return error
        else:
            del outcomes[: len(some)]
    return None


async def _settle_each_within(transport: AsyncTransport, outcomes: list[Outcome], seconds: float) -> list[Outcome]:
    """Send each outcome alone. Returns those that were refused as invalid or not answered in time."""
    left = dict(enumerate(outcomes))

    def done(n: int, error: YardmasterError | None) -> None:
        if error is None or error.status not in _INVALID:
            del left[n]

    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(settle_each(transport, outcomes, done), seconds)
    return list(left.values())


async def settle_each(
    transport: AsyncTransport, outcomes: Sequence[Outcome], done: Callable[[int, YardmasterError | None], object]
) -> None:
    """Send each outcome in a separate call, because a call with all of them was invalid.

    Outcomes of one job keep their order, and no job waits for another. ``done`` gets the index of each outcome and its
    refusal; None if it is stored.
    """

    async def in_order(numbers: list[int]) -> None:
        for n in numbers:
            done(n, await _settle_alone(transport, outcomes[n]))

    of_jobs: dict[str, list[int]] = {}
    for n, outcome in enumerate(outcomes):
        of_jobs.setdefault(outcome["jobId"], []).append(n)
    await asyncio.gather(*map(in_order, of_jobs.values()))


async def _settle_alone(transport: AsyncTransport, outcome: Outcome) -> YardmasterError | None:
    """Send an outcome until it is accepted or refused. If it ends an attempt and is invalid, it is replaced once."""
    backoff, sent = Backoff(), outcome
    while True:
        try:
            await transport.once(call_of(sent))
            return None
        except YardmasterError as error:
            replacement = replacement_of(outcome, error) if error.status in _INVALID and sent is outcome else None
            if replacement is not None:
                logger.warning("The service refused to %s %s: %s", outcome["action"], outcome["jobId"], error.message)
                sent = replacement
                continue
            if not error.is_temporary or error.code == "STORAGE_FULL":
                return error
            wait = backoff.next(error)
        await asyncio.sleep(wait)


def call_of(outcome: Outcome, query: str = "") -> Request:
    """Return the call to the endpoint for an outcome's action, with a query that starts with ``?``."""
    action = outcome["action"]
    fields = {key: value for key, value in outcome.items() if key not in (*_JOB, "action")}
    body = fields.get("data") if action in ("checkpoint", "event") else fields
    headers = {"x-delivery-token": outcome["deliveryToken"]}
    return Request("POST", job_path(outcome["jobId"], f"/{action}{query}"), json_bytes(body), headers)


_JOB = ("jobId", "deliveryToken")
#: Statuses of a call whose content is refused, so that a retry can't help.
_INVALID = (400, 413)
