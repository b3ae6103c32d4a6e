"""The program that the conformance scenarios drive: see sdk/conformance/README.md."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from yardmaster import (
    AsyncYardmaster,
    Context,
    JobOptions,
    NewJob,
    NewSchedule,
    NonRetryable,
    RetryAfter,
    Worker,
    WorkerWarning,
    YardmasterError,
)

Json = dict[str, Any]

_print_lock = threading.Lock()
_OPTIONS = {
    "delaySeconds": "delay",
    "timeoutSeconds": "timeout",
    "maxRunSeconds": "max_run",
    "startWithinSeconds": "start_within",
    "maxRetries": "max_retries",
    "scheduledFor": "scheduled_for",
}
_SCHEDULE_OPTIONS = {"everySeconds": "every"}


def emit(event: str, **fields: Any) -> None:
    with _print_lock:
        sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
        sys.stdout.flush()


class Raised(Exception):
    """Raised by the step ``throw``."""


_LONG = "é\n" * 100_000


class Odd(Exception):
    def __str__(self) -> str:
        raise RuntimeError("__str__ raises")


class OddResult(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("items raises")


def odd_result(what: str) -> Any:
    """Return what a handler returns by mistake; None for another mistake."""
    cycle: Json = {}
    cycle["self"] = cycle
    deep: Any = 1
    for _ in range(100):
        deep = [deep]
    results = {
        "resultNaN": {"n": float("nan")},
        "resultCycle": cycle,
        "resultLarge": "x" * 300_000,
        "resultHuge": "x" * 17_000_000,
        "resultDeep": deep,
        "resultRaises": OddResult(a=1),
    }
    return results.get(what)


def odd(ctx: Context, what: str) -> Awaitable[Any] | None:
    """Make a handler's mistake that isn't a result."""
    match what:
        case "errorLong":
            raise Raised(_LONG)
        case "errorCause":
            raise Raised("outer") from Raised("connection refused")
        case "errorGroup":
            if sys.version_info >= (3, 11):
                raise ExceptionGroup("several", [Raised("one"), Raised("two")])  # noqa: F821
            raise Raised("several: one, two")
        case "errorOdd":
            raise Odd
        case "errorEmpty":
            raise Raised
        case "releaseLong":
            raise ctx.release(0, _LONG)
        case "saveNaN":
            return ctx.save({"n": float("nan")})
        case "eventNaN":
            return ctx.event({"n": float("nan")})
        case _:
            raise NonRetryable(f"unknown mistake: {what}")


def carry_out(ctx: Context, action: str, value: Any) -> Awaitable[Any] | None:
    """Run one step of a handler. Returns an awaitable, or None."""
    match action:
        case "throw":
            raise Raised(value)
        case "nonRetryable":
            raise NonRetryable(value)
        case "retryAfter":
            raise RetryAfter(value["seconds"], value["message"])
        case "release":
            raise ctx.release(value.get("delaySeconds", 0), value.get("reason"))
        case "odd":
            return odd(ctx, value)
        case "sleepMs":
            return asyncio.sleep(value / 1_000)
        case "blockMs":
            time.sleep(value / 1_000)
        case "awaitAbort":
            return ctx.signal.wait_async()
        case "progress":
            return ctx.progress(value["percent"], value["message"], value.get("subProgress"))
        case "save":
            return ctx.save(value)
        case "event":
            return ctx.event(value)
        case "ephemeral":
            return ctx.event(value, ephemeral=True)
        case "log":
            ctx.log.write(value["level"], value["message"], value.get("metadata"))
        case "logs":
            for i in range(1, value + 1):
                ctx.log.info(f"line {i}")
        case _:
            raise NonRetryable(f"unknown step: {action}")
    return None


def handler_of(plan: Any) -> Callable[[Context, Any], Coroutine[Any, Any, Any]]:
    attempts = [plan] if isinstance(plan, list) else list(plan["attempts"])

    async def handler(ctx: Context, payload: Any) -> Any:
        job = ctx.job
        fields = {"payload": payload, "checkpoint": ctx.checkpoint, "attempt": ctx.attempt}
        emit("handler", jobId=job.id, name=job.name, **fields)
        ctx.signal.on_abort(lambda reason: emit("aborted", jobId=job.id, reason=type(reason).__name__))
        try:
            for step in attempts.pop(0) if len(attempts) > 1 else attempts[0]:
                [(action, value)] = step.items()
                if action == "return":
                    return value
                if action == "odd" and (result := odd_result(value)) is not None:
                    return result
                waiting = carry_out(ctx, action, value)
                if waiting is not None:
                    await waiting
        finally:
            emit("handlerEnded", jobId=job.id)

    return handler


def warned(warning: WorkerWarning) -> None:
    emit("warning", kind=warning.kind, message=warning.message, jobIds=warning.job_ids)


class Driver:
    def __init__(self) -> None:
        self.client = AsyncYardmaster()
        self.worker: Worker | None = None
        self.ended = asyncio.Event()

    async def start(self, plan: Json) -> None:
        self.worker = Worker(
            self.client,
            concurrency=plan["concurrency"],
            drain=plan["drainSeconds"],
            auto_ack=plan.get("autoAck", False),
            on_warning=warned,
        )
        for name, steps in plan["handlers"].items():
            self.worker.on(name, cancel=False)(handler_of(steps))
        emit("started")
        try:
            await self.worker.run_async()
        except YardmasterError as error:
            emit("failed", error=error.message)
        emit("drained")
        if not self.is_stopped:
            self.ended.set()

    is_stopped = False

    async def create(self, command: Json) -> tuple[str, Json]:
        options, key = options_of(command.get("options")), command.get("idempotencyKey")
        job = await self.client.create(command["name"], command.get("payload"), idempotency_key=key, **options)
        return "created", {"jobId": job.id}

    async def createMany(self, command: Json) -> tuple[str, Json]:
        jobs = [NewJob(job["name"], job.get("payload"), options_of(job.get("options"))) for job in command["jobs"]]
        created = await self.client.create_many(jobs, idempotency_key=command.get("idempotencyKey"))
        return "created", {"jobIds": [job.id for job in created]}

    async def result(self, command: Json) -> tuple[str, Json]:
        result = await self.client.job(command["jobId"]).result(command["timeoutSeconds"])
        return "result", {"result": result}

    async def kill(self, command: Json) -> tuple[str, Json]:
        await self.client.kill(command["jobId"], command.get("reason"))
        return "done", {}

    async def watch(self, command: Json) -> tuple[str, Json]:
        if "jobId" in command:
            messages = self.client.job(command["jobId"]).watch(command.get("since"))
        else:
            messages = self.client.watch(**{name: command.get(name, ()) for name in ("names", "types", "tags")})
        async for each in messages:
            emit("message", **{"as": command["as"]}, type=each["type"], jobId=each.get("jobId"), seq=each.get("seq"))
        return "watchEnded", {}

    async def streamToken(self, command: Json) -> tuple[str, Json]:
        job_ids, expires_in = command["jobIds"], command["expiresInSeconds"]
        made = await self.client.create_stream_token(command["scope"], job_ids=job_ids, expires_in=expires_in)
        return "streamToken", {"token": made["token"]}

    async def schedules(self, command: Json) -> tuple[str, Json]:
        call, schedules = command["call"], self.client.schedules
        if call == "put":
            new = schedule_of({"id": command["id"], **command["schedule"]})
            return "done", {"result": await schedules.put(new.id, new.job, **new.options)}
        if call == "sync":
            listed = [schedule_of(each) for each in command["schedules"]]
            changes = await schedules.sync(owner=command["owner"], schedules=listed, prune=command["prune"])
            return "done", {"result": changes}
        if call == "list":
            return "done", {"result": [each async for each in schedules.list()]}
        if call == "run":
            job = await schedules.run(command["id"], command.get("payload", ...))
            return "created", {"jobId": job.id}
        return "done", {"result": await getattr(schedules, call)(command["id"])}

    async def carry_out(self, command: Json) -> None:
        action, name = command["do"], command.get("as")
        if action == "start":
            return await self.start(command["worker"])
        if action == "stop":
            self.is_stopped = True
            if self.worker is not None:
                self.worker.stop()
            return
        try:
            event, fields = await getattr(self, action)(command)
        except YardmasterError as error:
            event = "refused"
            fields = {"code": error.code, "status": error.status, "error": error.message}
            fields |= {"jobId": error.job_id, "hasRequestId": error.request_id is not None}
        emit(event, **{"as": name}, **fields)


def schedule_of(wire: Json) -> NewSchedule:
    job = wire["job"]
    options: Any = {_SCHEDULE_OPTIONS.get(name, name): wire[name] for name in wire.keys() - {"id", "job"}}
    return NewSchedule(wire["id"], NewJob(job["name"], job.get("payload"), options_of(job.get("options"))), options)


def options_of(wire: Json | None) -> JobOptions:
    options: Any = {_OPTIONS.get(name, name): value for name, value in (wire or {}).items()}
    return options  # type: ignore[no-any-return]


async def main() -> None:
    driver = Driver()
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    def begin(line: str) -> None:
        task = loop.create_task(driver.carry_out(json.loads(line)))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(begin, line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    await driver.ended.wait()


if __name__ == "__main__":
    asyncio.run(main())
