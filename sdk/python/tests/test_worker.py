from __future__ import annotations

import asyncio
import functools
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import handlers_in_processes as handlers
import pytest
from conftest import Running
from fake_service import Call, FakeService, Json, Reply

from yardmaster import (
    AsyncYardmaster,
    Context,
    Killed,
    Release,
    RetryAfter,
    SyncContext,
    Worker,
    Yardmaster,
    YardmasterError,
)
from yardmaster._worker.loop_calls import LoopCalls

Start = Callable[..., Running]


async def echo(ctx: Context, payload: Any) -> Any:
    return payload


def refusing(action: str, code: str) -> Callable[[Json], Json | None]:
    return lambda each: {"code": code, "error": code} if each["action"] == action else None


def test_a_job_is_acked_and_completed_with_its_token(service: FakeService, start: Start) -> None:
    start({"echo": echo}, worker_id="w1")
    job = service.add("echo", {"n": 1})
    assert service.outcome(job) == {"jobId": job, "deliveryToken": "0.0", "action": "complete", "result": {"n": 1}}
    assert service.actions(job) == ["ack", "complete"]
    poll = service.polls()[0].body
    assert poll == {"types": ["echo"], "count": 10, "waitSeconds": 20, "workerId": "w1"}


def test_a_def_handler_runs_in_its_own_thread(service: FakeService, start: Start) -> None:
    def handler(ctx: SyncContext, payload: Any) -> str:
        ctx.progress(50, "half")
        ctx.log.info("saves")
        ctx.save({"page": 7})
        return threading.current_thread().name

    start({"work": handler})
    job = service.add("work")
    assert service.outcome(job)["result"] == "yardmaster-handler"
    assert set(service.actions(job)) == {"ack", "progress", "checkpoint", "complete"}
    assert [entry["message"] for entry in service.logs] == ["saves"]


async def busy_loop(ctx: Context, payload: Any) -> None:
    end = time.monotonic() + 2
    while time.monotonic() < end:
        pass


def busy_thread(ctx: SyncContext, payload: Any) -> None:
    asyncio.run(busy_loop(ctx, payload))  # type: ignore[arg-type]


@pytest.mark.parametrize("handler", [busy_loop, busy_thread])
def test_a_cpu_bound_handler_keeps_its_job(service: FakeService, start: Start, handler: Any) -> None:
    start({"busy": handler})
    job = service.add("busy", timeoutSeconds=1.2)
    service.outcome(job)
    beats = [each for each in service.outcomes if each["action"] == "keepalive"]
    assert len(beats) >= 3  # One each 0.4 s.


def test_a_blocked_event_loop_is_reported_while_it_is_blocked(service: FakeService, start: Start) -> None:
    seen: list[tuple[str, ...]] = []

    async def handler(ctx: Context, payload: Any) -> None:
        end = time.monotonic() + 30
        while not seen and time.monotonic() < end:
            time.sleep(0.01)
            seen.extend(warning.job_ids for warning in running.warnings if warning.kind == "blocked")

    running = start({"block": handler, "thread": lambda ctx, payload: ctx.signal.wait(7)})
    service.add("thread")  # It isn't named, because it doesn't run on the loop.
    job = service.add("block")
    service.outcome(job)
    assert seen == [(job,)]


def test_a_blocked_event_loop_delays_neither_outcomes_nor_a_stop(service: FakeService, start: Start) -> None:
    is_blocked, go_on = threading.Event(), threading.Event()

    async def block(ctx: Context, payload: Any) -> None:
        is_blocked.set()
        go_on.wait(60)

    running = start({"block": block, "thread": lambda ctx, payload: is_blocked.wait(60)}, drain="1h")
    blocked = service.add("block")
    assert service.outcome(service.add("thread"))["action"] == "complete"
    running.worker.stop()
    running.worker.stop()
    assert service.outcome(blocked)["action"] == "release"
    go_on.set()
    running.end()


def test_a_worker_does_not_poll_while_its_event_loop_is_blocked(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yardmaster._worker.loop_watch._BLOCKED", 0.1)
    go_on = threading.Event()

    async def block(ctx: Context, payload: Any) -> None:
        go_on.wait(60)

    running = start({"block": block, "thread": lambda ctx, payload: None})
    service.add("block")
    while "blocked" not in [warning.kind for warning in running.warnings]:
        time.sleep(0.01)
    polls = len(service.polls())
    service.outcome(service.add("thread"))  # From the poll that was waiting.
    assert len(service.polls()) == polls
    last = service.add("thread")
    go_on.set()
    service.outcome(last)


def test_the_jobs_of_a_poll_are_acked_and_completed_together(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    wakes: list[object] = []
    wake = asyncio.BaseEventLoop.call_soon_threadsafe

    def counting(loop: asyncio.BaseEventLoop, callback: Any, *arguments: Any, **options: Any) -> Any:
        handle = wake(loop, callback, *arguments, **options)
        calls = getattr(callback, "__self__", None)
        if isinstance(calls, LoopCalls):
            wakes.append(callback)
            while calls._is_woken:  # Until the loop has run, so that another call must wake it again.
                time.sleep(0.001)
        return handle

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_soon_threadsafe", counting)
    jobs = [service.add("echo", n) for n in range(10)]
    start({"echo": echo})
    assert [service.outcome(job)["result"] for job in jobs] == list(range(10))
    assert len(wakes) == 2  # Of the handlers' event loop, and of the worker's.


def test_handlers_see_the_context_variables_of_the_caller(service: FakeService, client: Yardmaster) -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    worker = Worker(client)

    @worker.on("loop")
    async def of_loop(ctx: Context, payload: Any) -> str:
        return tenant.get()

    worker.on("thread")(lambda ctx, payload: tenant.get())

    async def test() -> list[Any]:
        tenant.set("acme")
        running = asyncio.create_task(worker.run_async())
        jobs = [service.add("loop"), service.add("thread")]
        results = [(await asyncio.to_thread(service.outcome, job))["result"] for job in jobs]
        worker.stop()
        await running
        return results

    assert asyncio.run(test()) == ["acme", "acme"]


def test_a_refused_heartbeat_cancels_the_handler_and_its_outcome_is_not_sent(
    service: FakeService, start: Start
) -> None:
    reasons: list[object] = []

    async def handler(ctx: Context, payload: Any) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            reasons.append(type(ctx.signal.reason))

    def blocking(ctx: SyncContext, payload: Any) -> None:
        ctx.signal.wait(60)
        reasons.append(type(ctx.signal.reason))
        ctx.save("ignored")

    service.refuse = refusing("keepalive", "JOB_KILLED")
    start({"wait": handler, "block": blocking, "echo": echo}, concurrency=2)
    jobs = [service.add(name, timeoutSeconds=0.3) for name in ("wait", "block")]
    service.outcome(service.add("echo"))
    service.wait_for(lambda: len(reasons) == 2)
    assert reasons == [Killed, Killed]
    assert [service.actions(job) for job in jobs] == [["ack"], ["ack"]]


def test_a_job_whose_ack_is_refused_is_not_run(service: FakeService, start: Start) -> None:
    service.refuse = lambda each: refusing("ack", "DELIVERY_LOST")(each) if "lost" in each["jobId"] else None
    running = start({"lost": echo, "echo": echo}, concurrency=1)
    lost = service.add("lost")
    service.outcome(service.add("echo"))
    assert service.actions(lost) == []
    assert [warning for warning in running.warnings if warning.kind == "lost"] == []


def test_a_refused_checkpoint_raises_in_the_handler(service: FakeService, start: Start) -> None:
    def answer(call: Call) -> Reply | str:
        actions = [each["action"] for each in (call.body or {}).get("outcomes", [])]
        if "checkpoint" in actions or call.path.endswith("/checkpoint"):
            return 400, {"code": "INVALID_REQUEST", "error": "too deep"}, {}
        return "none"

    async def handler(ctx: Context, payload: Any) -> str:
        with pytest.raises(YardmasterError, match="too deep"):
            await ctx.save({})
        with pytest.raises(ValueError, match="checkpoint has the type object"):
            await ctx.save(object())
        return "went on"

    service.override = answer
    start({"save": handler})
    assert service.outcome(service.add("save"))["result"] == "went on"
    alone = next(call for call in service.calls if call.path.endswith("/checkpoint"))
    assert (alone.headers["x-delivery-token"], alone.body) == ("0.0", {})


def test_some_of_many_progress_reports_are_sent_and_always_the_last_one(service: FakeService, start: Start) -> None:
    async def handler(ctx: Context, payload: Any) -> None:
        for i in range(1_000):
            await ctx.progress(i / 10, f"{i}")
            if i % 100 == 0:
                await asyncio.sleep(0.01)

    start({"often": handler})
    job = service.add("often")
    service.outcome(job)
    sent = [each for each in service.outcomes if each["action"] == "progress"]
    assert len(sent) <= 5
    assert sent[-1]["message"] == "999"
    assert service.actions(job)[-2:] == ["progress", "complete"]


def test_a_worker_survives_responses_of_another_server_and_a_failing_hook(
    service: FakeService, client: Yardmaster
) -> None:
    def fail(warning: object) -> None:
        raise ValueError("of the hook")

    worker = Worker(client, on_warning=fail)
    strange = iter(range(6))  # Number of calls that get an answer that isn't from the service.
    service.override = lambda call: "none" if call.method == "GET" or next(strange, None) is None else (200, {}, {})
    worker.on("wait")(wait_for_beats(service))
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert service.outcome(service.add("wait", timeoutSeconds=0.6))["result"] is None
    worker.stop()
    thread.join()


def wait_for_beats(service: FakeService) -> Callable[[SyncContext, Any], None]:
    def handler(ctx: SyncContext, payload: Any) -> None:
        strange = iter(range(2))
        service.override = lambda call: "none" if call.method == "GET" or next(strange, None) is None else (200, [], {})
        service.wait_for(lambda: sum(each["action"] == "keepalive" for each in service.outcomes) > 1)

    return handler


def test_a_job_with_an_unknown_name_is_released(service: FakeService, start: Start) -> None:
    running = start({"echo": echo})
    outcome = service.outcome(service.add("other"))
    assert outcome["action"] == "release"
    assert [warning.kind for warning in running.warnings if warning.kind != "stream"] == ["unknownName"]


def test_run_raises_when_the_key_is_refused(service: FakeService, start: Start) -> None:
    service.override = lambda _: (401, {"code": "UNAUTHENTICATED", "error": "The key is unknown"}, {})
    running = start({"echo": echo})
    running.end()
    assert isinstance(running.error, YardmasterError)
    assert running.error.code == "UNAUTHENTICATED"


def test_a_worker_survives_an_error_page_of_a_proxy(service: FakeService, start: Start) -> None:
    service.override = lambda call: (404, "<html>", {}) if len(service.polls()) < 3 else "none"
    start({"echo": echo})
    assert service.outcome(service.add("echo"))["action"] == "complete"


def test_a_job_is_released_when_no_thread_can_be_started(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("yardmaster._worker.invoke.in_thread", no_thread)
    start({"thread": lambda ctx, payload: None})
    assert service.outcome(service.add("thread"))["action"] == "release"  # No attempt is used up.


def test_a_handler_that_ignores_its_cancellation_does_not_keep_the_program_alive(
    service: FakeService, start: Start
) -> None:
    async def ignore(ctx: Context, payload: Any) -> None:
        while True:
            try:
                await asyncio.sleep(3_600)
            except asyncio.CancelledError:
                continue

    running = start({"ignore": ignore}, drain="1h")
    job = service.add("ignore")
    service.wait_for(lambda: service.actions(job) == ["ack"])
    running.worker.stop()
    running.worker.stop()
    running.end()
    assert service.outcome(job)["action"] == "release"


def test_a_result_is_sent_even_if_the_worker_stops_before_its_log_is_sent(service: FakeService, start: Start) -> None:
    async def work(ctx: Context, payload: Any) -> str:
        ctx.log.info("done")
        return "made"

    full = {"code": "STORAGE_FULL", "error": "full"}
    service.override = lambda call: (503, full, {}) if call.path.endswith("/logs") else "none"
    running = start({"work": work}, drain="1h")
    job = service.add("work")
    service.wait_for(lambda: any(call.path.endswith("/logs") for call in service.calls))
    running.worker.stop()
    running.worker.stop()
    assert service.outcome(job)["result"] == "made"


def test_heartbeats_do_not_wait_for_the_retry_after_of_a_failure(service: FakeService, start: Start) -> None:
    busy = iter(range(1))

    def answer(call: Call) -> Reply | str:
        is_beat = isinstance(call.body, dict) and "keepalive" in [
            each["action"] for each in call.body.get("outcomes", [])
        ]
        if is_beat and next(busy, None) is not None:
            return 503, {"code": "OVERLOADED", "error": "busy"}, {"retry-after": "600"}
        return "none"

    service.override = answer
    start(
        {
            "wait": lambda ctx, payload: service.wait_for(
                lambda: [o for o in service.outcomes if o["action"] == "keepalive"]
            )
        }
    )
    assert service.outcome(service.add("wait", timeoutSeconds=0.6))["action"] == "complete"


def test_a_rate_limited_worker_honors_retry_after_and_loses_no_outcome(service: FakeService, start: Start) -> None:
    times: dict[str, list[float]] = {}

    def answer(call: Call) -> Reply | str:
        outcomes = call.body.get("outcomes") if isinstance(call.body, dict) else None
        kind = outcomes[0]["action"] if outcomes else call.path.split("/")[-1]
        times.setdefault(kind, []).append(time.monotonic())
        if len(times[kind]) > 1:
            return "none"
        return 429, {"code": "RATE_LIMITED", "error": "too many calls"}, {"retry-after": "0.4"}

    service.override = answer
    # A heartbeat is due after 0.1 s, and Retry-After is longer than half of that.
    start({"wait": lambda ctx, payload: service.wait_for(lambda: len(times.get("keepalive", ())) > 1)})
    assert service.outcome(service.add("wait", timeoutSeconds=0.3))["action"] == "complete"
    assert {"poll", "ack", "keepalive"} <= times.keys()
    for kind in ("ack", "keepalive"):
        assert times[kind][1] - times[kind][0] >= 0.4, kind


def test_delays_that_the_service_would_refuse_raise_in_the_handler() -> None:
    with pytest.raises(ValueError, match="must be at most 604800 s"):
        RetryAfter("8d")
    with pytest.raises(ValueError, match="must be at most"):
        Release("400d")


def test_an_exit_in_the_workers_thread_ends_run(client: Yardmaster, monkeypatch: pytest.MonkeyPatch) -> None:
    async def leave(*_: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr("yardmaster.worker.Session.run", leave)
    worker = Worker(client, handle_signals=False)
    worker.on("echo")(echo)
    with pytest.raises(SystemExit):
        worker.run()


def test_failing_polls_are_retried_and_reported(service: FakeService, start: Start) -> None:
    service.override = lambda call: (502, "<html>", {}) if len(service.polls()) < 6 else "none"
    running = start({"echo": echo})
    service.outcome(service.add("echo"))
    assert "unavailable" in [warning.kind for warning in running.warnings]


def test_a_drain_releases_jobs_that_do_not_finish(service: FakeService, start: Start) -> None:
    begun: list[str] = []

    async def forever(ctx: Context, payload: Any) -> None:
        begun.append(ctx.job.id)
        await asyncio.sleep(3_600)

    async def ends(ctx: Context, payload: Any) -> str:
        begun.append(ctx.job.id)
        try:
            await asyncio.sleep(3_600)
        except asyncio.CancelledError:
            return type(ctx.signal.reason).__name__
        return ""

    running = start({"forever": forever, "ends": ends}, drain=0.1)
    jobs = [service.add("forever"), service.add("ends")]
    while len(begun) < 2:
        time.sleep(0.01)
    running.worker.stop()
    running.end()
    assert service.outcome(jobs[0]) == {
        **{"jobId": jobs[0], "deliveryToken": "0.0", "action": "release", "reason": "worker is shutting down"}
    }
    assert service.outcome(jobs[1])["result"] == "Draining"
    assert running.error is None


def test_a_second_stop_ends_the_worker_even_if_a_thread_continues(service: FakeService, start: Start) -> None:
    release = threading.Event()
    running = start({"thread": lambda ctx, payload: release.wait(60)}, drain="1h")
    job = service.add("thread")
    service.wait_for(lambda: service.actions(job) == ["ack"])
    running.worker.stop()
    running.worker.stop()
    running.end()
    release.set()
    assert service.outcome(job)["action"] == "release"


def test_outcomes_of_a_job_keep_their_order_when_a_call_with_several_is_refused(
    service: FakeService, start: Start
) -> None:
    singles: list[str] = []

    def answer(call: Call) -> Reply | str:
        body = call.body if isinstance(call.body, dict) else {}
        if any(each["action"] == "complete" for each in body.get("outcomes") or body.get("settle") or []):
            return 413, {"code": "TOO_LARGE", "error": "The body is too large"}, {}
        action = call.path.rsplit("/", 1)[-1]
        if action not in ("progress", "complete"):
            return "none"
        if action == "progress":
            time.sleep(0.3)  # Longer than the complete would take.
        singles.append(action)
        return 200, {"success": True}, {}

    async def handler(ctx: Context, payload: Any) -> None:
        await ctx.progress(1, "begun")
        while "progress" not in service.actions(job):
            await asyncio.sleep(0.01)
        await ctx.progress(100, "done")

    service.override = answer
    job = service.add("work")
    start({"work": handler})
    service.wait_for(lambda: "complete" in singles)
    assert singles == ["progress", "complete"]


def test_an_invalid_outcome_does_not_hold_up_the_others_at_shutdown(service: FakeService, start: Start) -> None:
    begun = threading.Semaphore(0)

    def wait(ctx: SyncContext, payload: Any) -> None:
        begun.release()
        ctx.signal.wait(60)

    def answer(call: Call) -> Reply | str:
        outcomes = (call.body or {}).get("outcomes", []) if isinstance(call.body, dict) else []
        if len(outcomes) > 1 and {each["action"] for each in outcomes} == {"release"}:
            return 400, {"code": "INVALID_REQUEST", "error": "outcomes[0] is invalid"}, {}
        return (200, {"success": True}, {}) if call.path.endswith("/release") else "none"

    service.override = answer
    running = start({"wait": wait}, drain="1h")
    jobs = [service.add("wait"), service.add("wait")]
    assert all(begun.acquire(timeout=30) for _ in jobs)
    running.worker.stop()
    running.worker.stop()
    running.end()
    assert {call.path for call in service.calls if call.path.endswith("/release")} == {
        f"/api/v1/jobs/{job}/release" for job in jobs
    }


def test_canceling_a_worker_releases_its_jobs(service: FakeService, client: Yardmaster) -> None:
    worker = Worker(AsyncYardmaster(url=service.url, api_key="secret", space="demo"))
    started = asyncio.Event()

    @worker.on("wait")
    async def wait(ctx: Context, payload: Any) -> None:
        started.set()
        await asyncio.sleep(60)

    async def test() -> None:
        task = asyncio.create_task(worker.run_async())
        await started.wait()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()

    job = service.add("wait")
    asyncio.run(test())
    assert service.actions(job) == ["ack", "release"]


async def send_tokens(ctx: Context, payload: list[str]) -> None:
    for token in payload:
        await ctx.event(token, ephemeral=True)


@pytest.mark.parametrize(
    ("handler", "process"), [(send_tokens, False), (handlers.send_tokens, False), (handlers.send_tokens, True)]
)
def test_an_ephemeral_event_is_sent_once_even_without_a_response(
    service: FakeService, start: Start, handler: Any, process: bool
) -> None:
    replies: list[Reply] = [None, (503, {"code": "OVERLOADED", "error": "x"}, {}), (200, {"success": True}, {})]
    service.override = lambda call: replies.pop(0) if "/event" in call.path else "none"
    start({"work": handler}, process=process)
    job = service.add("work", ["a", "b", "c"])
    service.outcome(job)
    sent = [call for call in service.calls if "/event" in call.path]
    assert [(call.path, call.headers["x-delivery-token"], call.body) for call in sent] == [
        (f"/api/v1/jobs/{job}/event?ephemeral=true", "0.0", token) for token in "abc"
    ]
    assert service.actions(job) == ["ack", "complete"]


def test_an_ephemeral_event_aborts_its_handler_when_the_job_is_killed(service: FakeService, start: Start) -> None:
    refusals: list[Reply] = [
        (413, {"code": "TOO_LARGE", "error": "too large"}, {}),
        (409, {"code": "JOB_KILLED", "error": "Job has been killed"}, {}),
    ]
    service.override = lambda call: refusals.pop(0) if "/event" in call.path else "none"
    raised: list[str] = []

    def handler(ctx: SyncContext, payload: Any) -> None:
        for _ in range(2):
            try:
                ctx.event(1, ephemeral=True)
            except YardmasterError as error:
                raised.append(error.code)
        raised.append("goes on")

    def ends_killed(ctx: SyncContext, payload: Any) -> None:
        try:
            handler(ctx, payload)
        except Killed:
            raised.append(f"Killed {ctx.signal.aborted}")
        with service.changed:
            service.changed.notify_all()

    start({"work": ends_killed})
    service.add("work")
    service.wait_for(lambda: len(raised) == 2)
    assert raised == ["TOO_LARGE", "Killed True"]


def test_healthz_fails_when_polls_get_no_response(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yardmaster._worker.health._SILENT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def status() -> int:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    service.override = lambda call: (
        (503, {"code": "OVERLOADED", "error": ""}, {}) if len(service.polls()) > 1 else "none"
    )
    service.add("echo")
    start({"echo": echo}, health_port=port)
    service.wait_for(lambda: len(service.polls()) > 4)
    assert status() == 503


def test_invalid_registrations_are_refused(client: Yardmaster) -> None:
    worker = Worker(client)
    worker.on("echo")(echo)
    with pytest.raises(ValueError, match="already has a handler"):
        worker.on("echo")(lambda ctx, payload: None)
    worker.on("partial")(functools.partial(echo))
    with pytest.raises(ValueError, match="already has a handler"):
        worker.on("partial")(functools.partial(send_tokens))
    with pytest.raises(TypeError, match="must be a def"):
        worker.on("other", process=True)(echo)
    with pytest.raises(TypeError, match="two arguments"):
        worker.on("none")(lambda: None)  # type: ignore[type-var]
    with pytest.raises(RuntimeError, match="Register a handler"):
        Worker(client).run()
