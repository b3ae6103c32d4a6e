from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pydantic
import pytest

from yardmaster import AbortSignal, Context, JobLogHandler, Killed, NonRetryable, RetryAfter, SyncContext, Yardmaster
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


@dataclass
class Unreadable:
    width: int = 1

    def __getattribute__(self, name: str) -> Any:
        if name == "width":
            raise RuntimeError("of a field")
        return super().__getattribute__(name)


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
        (functools.partial(on_line), {"points": [{"x": 1}]}, {"points": [{"x": 1, "y": 0}], "label": None}),
        (on_model, {"width": 1}, {"width": 2}),
        (on_struct, Struct(1), [{"width": 2}]),
    ],
)
def test_payloads_are_converted_to_the_types_of_the_handler(handler: Any, payload: Any, result: Any) -> None:
    assert run(handler, payload).result == result


@pytest.mark.parametrize("handler", [on_line, on_model, on_struct])
def test_a_payload_that_does_not_match_fails_without_retries(handler: Any) -> None:
    done = run(handler, {"width": "wide", "points": 1, "label": 3} if handler is not on_line else {})
    assert (done.status, done.is_retryable) == ("failed", False)
    assert "The payload is not valid" in str(done.error)


def test_run_records_what_a_handler_reports(run_handler: Callable[..., Run]) -> None:
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
    ("error", "message", "is_retryable", "delay"),
    [
        (ValueError("disk full"), "disk full", True, None),
        (KeyError("image"), "'image'", True, None),
        (NonRetryable("404"), "404", False, None),
        (RetryAfter("30s", "busy"), "busy", True, 30),
        (RetryAfter(timedelta(seconds=-1)), "Try again later", True, 0),
        (SystemExit(1), "1", True, None),
        (asyncio.CancelledError(), "", True, None),
    ],
)
def test_a_raised_error_fails_the_attempt(
    error: BaseException, message: str, is_retryable: bool, delay: float | None
) -> None:
    async def handler(ctx: Context, payload: object) -> None:
        raise error

    done = run(handler)
    assert done.error is not None
    assert (done.error["name"], done.error["message"]) == (type(error).__name__, message)
    assert (done.status, done.is_retryable, done.delay_seconds) == ("failed", is_retryable, delay)


def test_a_release_can_be_raised_or_returned() -> None:
    async def raises(ctx: Context, payload: object) -> None:
        raise ctx.release("10m", "not yet")

    async def returns(ctx: Context, payload: object) -> object:
        return ctx.release()

    assert (run(raises).status, run(raises).delay_seconds) == ("released", 600)
    assert run(returns).status == "released"


_CYCLE: dict[str, Any] = {"items": []}
_CYCLE["items"].append(_CYCLE)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (object(), " has the type object"),
        ({"items": [0, 1, {"price": float("nan")}]}, ".items[2].price is NaN"),
        ({"a b": [float("-inf")]}, '["a b"][0] is -Infinity'),
        ({"when": datetime(2026, 1, 1)}, ".when has the type datetime"),
        ({"price": Decimal("1.5")}, ".price has the type Decimal"),
        ({(1, 2): 3}, " has a key of the type tuple"),
        ({1: {1, 2}}, "[1] has the type set"),
        (Line([Point(float("inf"))]), ".points[0].x is Infinity"),  # type: ignore[arg-type]
        (_CYCLE, ".items[0] refers to a value that contains it"),
        (10**5_000, " is too large a number"),
        (Unreadable(), " cannot be read: RuntimeError: of a field"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",  # pytest's own ID fails for such a number.
)
def test_values_that_are_not_json_are_refused_with_their_path(client: Yardmaster, value: Any, fault: str) -> None:
    async def returns(ctx: Context, payload: object) -> object:
        return value

    async def reports(ctx: Context, payload: object) -> list[str]:
        errors: list[Any] = []
        with pytest.raises(ValueError) as raised:
            await run_async(returns, value)
        errors.append(raised)
        for report in (ctx.save(value), ctx.event(value), ctx.event(value, ephemeral=True)):
            with pytest.raises(ValueError) as raised:
                await report
            errors.append(raised)
        with pytest.raises(ValueError) as raised:
            client.create("ok", {"value": value})
        return [str(error.value) for error in [*errors, raised]]

    done = run(returns)
    assert (done.status, done.is_retryable) == ("failed", False)
    assert done.error == {"name": "InvalidResult", "message": f"The result is not JSON: result{fault}"}
    assert run(reports).result == [
        *(f"The {what} is not JSON: {what}{fault}" for what in ("payload", "checkpoint", "event", "event")),
        f"The request is not JSON: payload.value{fault}",
    ]


def test_a_result_that_is_too_large_fails_the_attempt_as_in_a_worker() -> None:
    async def handler(ctx: Context, payload: int) -> str:
        return "é" * payload

    assert run(handler, 131_071).status == "completed"
    done = run(handler, 131_072)
    assert (done.status, done.is_retryable, done.result) == ("failed", False, None)
    assert done.error == {
        "name": "InvalidResult",
        "message": "The result has 262,146 bytes of JSON, which the service refuses: "
        "result must be at most 262144 bytes of JSON. Store it elsewhere and return its URL.",
    }


@pytest.mark.parametrize("depth", [64, 65, 990, 100_000])
def test_a_result_can_nest_as_deeply_as_the_service_allows(depth: int) -> None:
    async def handler(ctx: Context, payload: object) -> object:
        nested: object = 1
        for _ in range(depth):
            nested = [nested]
        return nested

    done = run(handler)
    if depth == 64:
        assert done.status == "completed"
    else:
        assert done.is_retryable is False
        assert str(done.error).endswith("is nested deeper than 64 levels'}")


def test_progress_accepts_a_rounding_error_beyond_its_limits() -> None:
    async def handler(ctx: Context, payload: object) -> None:
        await ctx.progress(100.00000000000001, "on", {"decode": -1e-9})

    assert run(handler).progress == [{"percent": 100, "message": "on", "subProgress": {"decode": {"percent": 0}}}]


@pytest.mark.parametrize(("percent", "message"), [(101, "on"), (True, "on"), (1, ""), (float("nan"), "on")])
def test_invalid_progress_raises_in_the_handler(percent: float, message: str) -> None:
    async def handler(ctx: Context, payload: object) -> str:
        with pytest.raises(ValueError, match="must be"):
            await ctx.progress(percent, message)
        return "went on"

    assert run(handler).result == "went on"


def test_an_abort_cancels_an_async_handler() -> None:
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
        logging.getLogger("httpx").warning("HTTP Request")  # A record as from the SDK's own calls.
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


def test_values_that_are_too_large_to_send_are_refused() -> None:
    async def handler(ctx: Context, payload: object) -> str:
        with pytest.raises(
            ValueError, match=r"^The checkpoint has 16,000,002 bytes of JSON, which is too large to send"
        ):
            await ctx.save("x" * 16_000_000)
        return "x" * 16_000_000

    done = run(handler)
    assert (done.status, done.is_retryable) == ("failed", False)
    assert "The result has 16,000,002 bytes of JSON, which is too large to send" in str(done.error)
