from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import pydantic
import pytest

from yardmaster import AbortSignal, Context, JobLogHandler, Killed, NonRetryable, RetryAfter, SyncContext
from yardmaster.testing import Run, run, run_async


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass
class Line:
    points: list[Point]
    label: Point | None = None


class Model(pydantic.BaseModel):
    width: int


class Struct(msgspec.Struct):
    width: int


async def on_line(ctx: Context, line: Line) -> Line:
    assert isinstance(line.points[0], Point)
    return line


async def on_model(ctx: Context, payload: Model) -> Model:
    return Model(width=payload.width + 1)


async def on_struct(ctx: Context, payload: Struct) -> list[Struct]:
    return [Struct(payload.width + 1)]


@pytest.mark.parametrize(
    ("handler", "payload", "result"),
    [
        (on_line, {"points": [{"x": 1, "more": 2}]}, {"points": [{"x": 1, "y": 0}], "label": None}),
        (on_line, Line([Point(1)], Point(2)), {"points": [{"x": 1, "y": 0}], "label": {"x": 2, "y": 0}}),
        (on_model, {"width": 1}, {"width": 2}),
        (on_struct, Struct(1), [{"width": 2}]),
    ],
)
def test_payloads_and_results_have_the_types_of_the_handler(handler: Any, payload: Any, result: Any) -> None:
    assert run(handler, payload).result == result


@pytest.mark.parametrize("handler", [on_line, on_model, on_struct])
def test_a_payload_that_does_not_fit_is_not_tried_again(handler: Any) -> None:
    done = run(handler, {"width": "wide", "points": 1, "label": 3} if handler is not on_line else {})
    assert (done.status, done.is_retryable) == ("failed", False)
    assert "The payload is not valid" in str(done.error)


def test_what_a_handler_reports_is_recorded(run_handler: Callable[..., Run]) -> None:
    def handler(ctx: SyncContext, payload: dict[str, Any]) -> int:
        ctx.progress(40, "Resizing", {"decode": 100})
        ctx.save({"page": ctx.checkpoint["page"] + 1})
        ctx.event("decoded")
        ctx.event("token", ephemeral=True)
        ctx.log.warn("no profile", file="cat.png")
        return ctx.attempt

    done = run_handler(handler, {}, checkpoint={"page": 1}, attempt=2)
    assert (done.status, done.result) == ("completed", 2)
    part = {"decode": {"percent": 100}}
    assert done.progress == [{"percent": 40, "message": "Resizing", "subProgress": part}]
    assert (done.checkpoints, done.events, done.ephemeral_events) == ([{"page": 2}], ["decoded"], ["token"])
    assert [(each["level"], each["metadata"]) for each in done.logs] == [("warn", {"file": "cat.png"})]


@pytest.mark.parametrize(
    ("error", "text", "is_retryable", "delay"),
    [
        (ValueError("disk full"), "ValueError: disk full", True, None),
        (KeyError("image"), "KeyError: 'image'", True, None),
        (NonRetryable("404"), "404", False, None),
        (RetryAfter("30s", "busy"), "busy", True, 30),
        (SystemExit(1), "SystemExit: 1", True, None),
    ],
)
def test_an_error_fails_the_attempt(error: BaseException, text: str, is_retryable: bool, delay: float | None) -> None:
    async def handler(ctx: Context, payload: object) -> None:
        raise error

    done = run(handler)
    assert (done.status, done.error, done.is_retryable, done.delay_seconds) == ("failed", text, is_retryable, delay)


def test_a_release_may_be_raised_or_returned() -> None:
    async def raises(ctx: Context, payload: object) -> None:
        raise ctx.release("10m", "not yet")

    async def returns(ctx: Context, payload: object) -> object:
        return ctx.release()

    assert (run(raises).status, run(raises).delay_seconds) == ("released", 600)
    assert run(returns).status == "released"


@pytest.mark.parametrize("result", [object(), float("nan"), {1, 2}])
def test_a_result_that_is_no_json_fails_the_attempt(result: object) -> None:
    async def handler(ctx: Context, payload: object) -> object:
        return result

    assert "the result is not representable as JSON" in str(run(handler).error)


@pytest.mark.parametrize(("percent", "message"), [(101, "on"), (True, "on"), (1, "")])
def test_wrong_progress_raises_in_the_handler(percent: float, message: str) -> None:
    async def handler(ctx: Context, payload: object) -> str:
        with pytest.raises(ValueError, match="must be"):
            await ctx.progress(percent, message)
        return "went on"

    assert run(handler).result == "went on"


def test_an_abort_cancels_a_handler_of_asyncio() -> None:
    async def handler(ctx: Context, payload: object) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return type(ctx.signal.reason).__name__
        return "went on"

    async def test() -> None:
        signal = AbortSignal()
        asyncio.get_running_loop().call_later(0.01, signal.abort, Killed("stop"))
        assert (await run_async(handler, signal=signal)).result == "Killed"

    asyncio.run(test())


def test_logging_inside_a_handler_goes_to_the_log_of_its_job() -> None:
    logger = logging.getLogger("my.program")
    logger.setLevel(logging.DEBUG)
    logs = JobLogHandler()
    for name in ("my.program", "httpx"):
        logging.getLogger(name).addHandler(logs)

    async def handler(ctx: Context, payload: object) -> None:
        logger.info("read %s", "cat.png", extra={"bytes": 7})
        logging.getLogger("httpx").warning("HTTP Request")  # The SDK's own calls cause those.
        try:
            raise ValueError("broken")
        except ValueError:
            logger.exception("failed")

    logger.warning("outside")
    entries = run(handler).logs
    for name in ("my.program", "httpx"):
        logging.getLogger(name).removeHandler(logs)
    assert [(each["level"], each["message"]) for each in entries] == [("info", "read cat.png"), ("error", "failed")]
    assert entries[0]["metadata"] == {"bytes": 7, "logger": "my.program"}
    assert "ValueError: broken" in entries[1]["metadata"]["traceback"]
