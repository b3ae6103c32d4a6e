"""Whatever a handler returns or raises, its job gets an outcome and the worker keeps running."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import pydantic
import pytest
from conftest import Running
from fake_service import Call, FakeService, Json, Reply
from test_error_objects import Group

from yardmaster import Context, NonRetryable, Release, RetryAfter, SyncContext

Start = Callable[..., Running]

#: Errors and exits that methods of a value raise.
RAISED: list[BaseException] = [ValueError("of a method"), SystemExit(2), KeyboardInterrupt(), RecursionError("deep")]
TEXTS = ["", "short", "x" * 100_000, "\ud83d" * 20_000, "\U0001f600" * 70_000, "\x00" * 50_000, "a\nb"]


def raising(name: str, base: type, method: str, error: BaseException) -> type:
    """Return a class with a method or property that raises an error."""

    def fail(*_: object) -> Any:
        raise error

    is_property = method in ("__class__", "__cause__", "__traceback__", "__notes__", "exceptions", "seconds", "reason")
    return type(name, (base,), {method: property(fail, lambda *_: None) if is_property else fail})


class Meta(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise ValueError("of a name")


class Nameless(Exception, metaclass=Meta):
    pass


class WithoutInit(RetryAfter):
    def __init__(self) -> None:
        pass


@dataclass
class Node:
    next: Any = None


class Serialized(pydantic.BaseModel):
    width: int = 1

    @pydantic.field_serializer("width")
    def serialize(self, width: int) -> int:
        raise RuntimeError("of a serializer")


def errors(rng: random.Random) -> list[BaseException]:
    """Return errors of all kinds."""
    found: list[BaseException] = [
        Nameless(),
        WithoutInit(),
        asyncio.CancelledError(),
        GeneratorExit(),
        StopIteration(1),
    ]
    found += [type(error)(rng.choice(TEXTS)) for error in RAISED]
    for base in (Exception, NonRetryable, Release):
        for method in ("__str__", "__class__", "__cause__", "__traceback__", "__notes__", "exceptions", "__bool__"):
            found.append(raising("Failing", base, method, rng.choice(RAISED))())
    found += [raising("Failing", Release, "reason", error)(0) for error in RAISED[:2]]
    for text in TEXTS:
        error = rng.choice([ValueError, NonRetryable])(text)
        error.__notes__ = [text, rng.choice([7, None, text])]  # type: ignore[attr-defined]
        error.__cause__ = Group(text, [error, *(ValueError(text) for _ in range(rng.randrange(30)))])
        found += [error, Release(0, text)]
    for seconds in (float("nan"), float("inf"), -5, "5m", None, 10**30):
        for delayed in (RetryAfter(0), Release(0, rng.choice(TEXTS))):
            delayed.seconds = seconds  # type: ignore[assignment]
            found.append(delayed)
    for reason in (42, object(), b"bytes", raising("Failing", object, "__str__", rng.choice(RAISED))()):
        found.append(Release(0, reason))  # type: ignore[arg-type]
    return found


def results(rng: random.Random) -> list[Any]:
    """Return results that aren't JSON or that the service refuses, and a Release."""
    cycle: list[Any] = [rng.random()]
    cycle.append({"back": cycle})
    node = Node()
    node.next = [node]
    deep: Any = rng.random()
    for _ in range(rng.choice([65, 500, 990, 50_000])):
        deep = {"deep": deep}
    dicts = [raising("Failing", dict, method, rng.choice(RAISED))({"a": object()}) for method in ("items", "__len__")]
    dicts += [raising("Failing", object, "__class__", error)() for error in RAISED]
    numbers = [float("nan"), float("-inf"), 10**400, 10**5_000, Decimal("1.5")]
    values = [*numbers, *dicts, cycle, node, object(), {1, 2}, b"bytes", datetime.now(), Serialized(), ValueError("x")]
    values += [iter([1]), {(1, 2): 3}, "x" * 300_000, Ellipsis, type, deep, {"error": errors(rng)[0]}]
    nested = [{"items": [None, {"é b": value}]} for value in values if rng.random() < 0.5]
    return [*values, *nested, *(error for error in errors(rng) if type(error) is Release)]


@pytest.mark.parametrize("seed", range(3))
def test_every_attempt_gets_an_outcome(service: FakeService, start: Start, seed: int) -> None:
    rng = random.Random(seed)
    cases: list[tuple[bool, Any]] = [(True, error) for error in errors(rng)] + [(False, each) for each in results(rng)]

    def finish(n: int) -> Any:
        is_raised, value = cases[n]
        if is_raised:
            raise value
        return value

    async def loop(ctx: Context, n: int) -> Any:
        return finish(n)

    def thread(ctx: SyncContext, n: int) -> Any:
        return finish(n)

    def invalid(outcome: Json) -> tuple[int, str] | None:
        """Refuse outcomes as the service does."""
        for field, most in (("result", 262_144), ("error", 65_536), ("reason", 65_536)):
            if len(json.dumps(outcome.get(field), ensure_ascii=False).encode(errors="replace")) > most:
                return 413, f"{field} must be at most {most} bytes of JSON"
        if re.search(r"\d{310}", json.dumps(outcome)):
            return 400, "result must not contain a number beyond the range of a double"
        delays = [outcome.get("retryAfterSeconds", 0), outcome.get("delaySeconds", 0)]
        is_valid = all(isinstance(each, int | float) and 0 <= each <= 31_622_400 for each in delays)
        return None if is_valid else (400, "delay")

    service.invalid = invalid
    start({"loop": loop, "thread": thread}, concurrency=50)
    jobs = {(name, n): service.add(name, n) for name in ("loop", "thread") for n in range(len(cases))}
    for (name, n), job in jobs.items():
        is_raised, value = cases[n]
        end = service.outcome(job)
        case = f"{name} {is_raised} {type(value)} {end}"[:500]
        if type(value) is Release:
            assert end["action"] == "release", case
            assert len(end.get("reason", "")) <= 1_000, case
            json.dumps(end, ensure_ascii=False).encode()
            continue
        if issubclass(type(value), Release):  # One of its methods may have failed.
            assert end["action"] in ("release", "fail"), case
            continue
        assert end["action"] == "fail", case
        assert isinstance(end["error"]["name"], str), case
        assert len(json.dumps(end["error"], ensure_ascii=False).encode()) <= 32_768, case
        if not is_raised:
            assert (end["error"]["name"], end["retryable"]) == ("InvalidResult", False), case
    counts = Counter(each["jobId"] for each in service.outcomes)
    assert [counts[job] for job in jobs.values()] == [2] * len(jobs)  # Its ack and its final outcome.


async def returns(ctx: Context, payload: Any) -> Any:
    return payload


async def raises(ctx: Context, payload: Any) -> None:
    raise {"retry": RetryAfter("5m", "busy"), "never": NonRetryable("gone")}[payload]


async def releases(ctx: Context, payload: Any) -> None:
    raise ctx.release("5m", payload)


REFUSED = "The service refused the error of this attempt: too much"


@pytest.mark.parametrize(
    ("handler", "payload", "refused", "end"),
    [
        (
            *(returns, "é", (413, "complete")),
            {
                **{"action": "fail", "retryable": False},
                "error": {
                    "name": "InvalidResult",
                    "message": "The result has 4 bytes of JSON, which the service refuses: too much. "
                    "Store it elsewhere and return its URL.",
                },
            },
        ),
        (
            *(returns, 1, (400, "complete")),
            {
                **{"action": "fail", "retryable": False},
                "error": {"name": "InvalidResult", "message": "The service refuses the result: too much"},
            },
        ),
        (releases, "not yet", (413, "release"), {"action": "release"}),
    ],
)
@pytest.mark.parametrize("is_last_call", [False, True])
def test_a_refused_outcome_is_replaced(
    service: FakeService,
    start: Start,
    handler: Any,
    payload: Any,
    refused: tuple[int, str],
    end: Json,
    is_last_call: bool,
) -> None:
    def invalid(outcome: Json) -> tuple[int, str] | None:
        is_refused = outcome["action"] == refused[1] and len(outcome) > 3
        return (refused[0], "too much") if is_refused else None

    service.invalid = invalid
    running = start({"work": handler}, drain="1h")
    sent: list[Call] = []

    def answer(call: Call) -> Reply | str:
        outcomes = call.body.get("outcomes", []) if isinstance(call.body, dict) else []
        if not is_last_call or refused[1] not in [each["action"] for each in outcomes] or sent:
            return "none"
        sent.append(call)
        return 503, {"code": "UNAVAILABLE", "error": "no Redis"}, {"retry-after": "60"}

    service.override = answer
    job = service.add("work", payload)
    if is_last_call:
        service.wait_for(lambda: sent)
        running.worker.stop()
        running.worker.stop()
        running.end()
    assert service.outcome(job) == {"jobId": job, "deliveryToken": "0.0", **end}


@pytest.mark.parametrize(("payload", "kept"), [("retry", {"retryAfterSeconds": 300}), ("never", {"retryable": False})])
def test_a_refused_error_is_replaced_by_a_short_one(
    service: FakeService, start: Start, payload: str, kept: Json
) -> None:
    service.invalid = lambda each: (400, "too much") if "stack" in each.get("error", {}) else None
    start({"work": raises})
    job, name = service.add("work", payload), {"retry": "RetryAfter", "never": "NonRetryable"}[payload]
    end = {"action": "fail", "error": {"name": name, "message": REFUSED}, **kept}
    assert service.outcome(job) == {"jobId": job, "deliveryToken": "0.0", **end}


def test_a_refused_replacement_causes_a_warning_and_frees_the_slot(service: FakeService, start: Start) -> None:
    service.invalid = lambda each: (400, "too much") if each["jobId"] == job and each["action"] != "ack" else None
    job = service.add("work", "secret")
    running = start({"work": returns}, concurrency=1)
    assert service.outcome(service.add("work", 7))["result"] == 7
    refused = [warning.job_ids for warning in running.warnings if warning.kind == "report"]
    assert refused == [(job,)]


def test_a_progress_report_that_is_not_json_fails_the_handler_but_not_the_worker(
    service: FakeService, start: Start
) -> None:
    async def reports(ctx: Context, payload: Any) -> None:
        await ctx.progress(1, "on", {"part": {"percent": 1, "message": object()}})

    start({"work": reports})
    assert "has the type object" in service.outcome(service.add("work"))["error"]["message"]
