"""Calls with outcomes of jobs."""

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

#: Limits of the service: outcomes and bytes of a settle call, and of a poll. The bytes are well below 5 MB and 1 MB.
SETTLE = (100, 3_000_000)
TURN = (50, 500_000)

#: An outcome with its job and token, as the API has it.
Outcome = dict[str, Any]


class Stopped(Exception):
    """The end of a report that was not sent before the worker stopped."""


@dataclass
class Report:
    """An outcome on its way to the service."""

    outcome: Outcome
    #: Called once: with None when it is stored; otherwise with the refusal, or Stopped.
    done: Callable[[Exception | None], None]


async def settle(transport: AsyncTransport, outcomes: Sequence[Outcome], timeout: float | None = None) -> list[Settled]:
    """Make one call with outcomes. Returns one entry for each."""
    path = space_path(transport.target, "/jobs/settle")
    request = Request("POST", path, json_bytes({"outcomes": outcomes}))
    return entries_of(await transport.once(request, timeout), len(outcomes))


def entries_of(body: Any, count: int) -> list[Settled]:
    """Return the entries of a response to settle. Raises YardmasterError for one that is not of the service."""
    if isinstance(body, dict):
        entries = cast("dict[str, Any]", body).get("results")
        if isinstance(entries, list) and len(cast(Any, entries)) == count:
            return cast("list[Settled]", entries)
    raise YardmasterError("NO_RESPONSE", "The response has not one entry for each outcome")


async def settle_within(transport: AsyncTransport, outcomes: list[Outcome], seconds: float) -> YardmasterError | None:
    """Send the last outcomes of a worker until they are stored. Returns why not, with those that are left."""
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
            # One of them is invalid, and must not keep the others.
            outcomes[: len(some)] = left = await _settle_each_within(transport, some, max(end - time.monotonic(), 0.1))
            if left:
                return error
        else:
            del outcomes[: len(some)]
    return None


async def _settle_each_within(transport: AsyncTransport, outcomes: list[Outcome], seconds: float) -> list[Outcome]:
    """Send each outcome alone. Returns those that were refused as invalid, or were not answered in this time."""
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
    """Send each outcome with a call of its own, because a call with all of them was invalid.

    Those of one job keep their order, and no job waits for another. ``done`` gets the index of each outcome, and its
    refusal; None when it is stored.
    """

    async def in_order(numbers: list[int]) -> None:
        for n in numbers:
            done(n, await _settle_alone(transport, outcomes[n]))

    of_jobs: dict[str, list[int]] = {}
    for n, outcome in enumerate(outcomes):
        of_jobs.setdefault(outcome["jobId"], []).append(n)
    await asyncio.gather(*map(in_order, of_jobs.values()))


async def _settle_alone(transport: AsyncTransport, outcome: Outcome) -> YardmasterError | None:
    """Send an outcome until it is accepted or refused. The end of an attempt that is invalid is replaced once."""
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
    """Return the call about one job that does what an outcome says, with a query that begins with ``?``."""
    action = outcome["action"]
    fields = {key: value for key, value in outcome.items() if key not in (*_JOB, "action")}
    body = fields.get("data") if action in ("checkpoint", "event") else fields
    headers = {"x-delivery-token": outcome["deliveryToken"]}
    return Request("POST", job_path(outcome["jobId"], f"/{action}{query}"), json_bytes(body), headers)


_JOB = ("jobId", "deliveryToken")
#: Statuses of a call that is refused for its content, however often it is sent.
_INVALID = (400, 413)
