from __future__ import annotations

import os
from collections.abc import Callable

import handlers_in_processes as handlers
from conftest import Running
from fake_service import FakeService, Json

Start = Callable[..., Running]


def _kill(outcome: Json) -> Json | None:
    return {"code": "JOB_KILLED", "error": "Job has been killed"} if outcome["action"] == "keepalive" else None


def test_a_process_does_the_work_and_is_used_again(service: FakeService, start: Start) -> None:
    start({"work": handlers.work}, process=True, concurrency=1)
    first, second = service.add("work", {"n": 1}), service.add("work", {"n": 2})
    pids = [service.outcome(job)["result"]["pid"] for job in (first, second)]
    assert pids[0] == pids[1] != os.getpid()
    assert service.outcome(second)["result"]["n"] == 3
    assert [entry["metadata"] for entry in service.logs] == [{"n": 1}, {"n": 2}]
    assert {"checkpoint", "progress"} <= set(service.actions(first))


def test_a_process_that_dies_fails_the_job_and_the_next_job_gets_another(service: FakeService, start: Start) -> None:
    start({"die": handlers.die, "work": handlers.work}, process=True, concurrency=1)
    dies, works = service.add("die"), service.add("work", {"n": 1})
    assert service.outcome(dies)["error"] == "the process of the handler has died with exit code 7"
    assert service.outcome(works)["result"]["n"] == 2


def test_an_error_in_a_process_keeps_its_meaning(service: FakeService, start: Start) -> None:
    start({"refuse": handlers.refuse}, process=True)
    outcome = service.outcome(service.add("refuse"))
    assert (outcome["error"], outcome["retryable"]) == ("gone", False)


def test_the_signals_that_stop_a_worker_do_not_end_its_processes(service: FakeService, start: Start) -> None:
    start({"end": handlers.end_itself}, process=True)
    assert service.outcome(service.add("end"))["result"] == "goes on"


def test_a_process_may_report_while_the_worker_stops(service: FakeService, start: Start) -> None:
    running = start({"save": handlers.save_when_aborted}, process=True, drain=0.1)
    job = service.add("save")
    service.wait_for(lambda: service.logs)
    running.worker.stop()
    assert service.outcome(job)["result"] == "saved"
    assert {"checkpoint", "progress"} <= set(service.actions(job))


def test_a_kill_reaches_a_process(service: FakeService, start: Start) -> None:
    start({"wait": handlers.wait_for_abort, "work": handlers.work}, process=True, concurrency=1)
    killed = service.add("wait", timeoutSeconds=0.3)
    service.wait_for(lambda: service.logs)
    service.refuse = _kill
    service.outcome(service.add("work", {"n": 1}))  # The slot is free again.
    assert service.actions(killed) == ["ack"]


def test_a_process_that_ignores_a_kill_is_ended(service: FakeService, start: Start) -> None:
    start({"never": handlers.never_end, "work": handlers.work}, process=True, concurrency=1)
    killed = service.add("never", timeoutSeconds=0.3)
    service.wait_for(lambda: service.logs)
    service.refuse = _kill
    service.outcome(service.add("work", {"n": 1}))
    assert service.actions(killed) == ["ack"]
