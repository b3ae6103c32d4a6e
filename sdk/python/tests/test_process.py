from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import handlers_in_processes as handlers
import pytest
from conftest import Running
from fake_service import FakeService, Json
from test_host import start_program

Start = Callable[..., Running]


def _kill(outcome: Json) -> Json | None:
    return {"code": "JOB_KILLED", "error": "Job has been killed"} if outcome["action"] == "keepalive" else None


def test_a_handler_runs_in_a_process_that_is_reused(service: FakeService, start: Start) -> None:
    start({"work": handlers.work}, process=True, concurrency=1)
    first, second = service.add("work", {"n": 1}), service.add("work", {"n": 2})
    pids = [service.outcome(job)["result"]["pid"] for job in (first, second)]
    assert pids[0] == pids[1] != os.getpid()
    assert service.outcome(second)["result"]["n"] == 3
    assert [entry["metadata"] for entry in service.logs] == [{"n": 1}, {"n": 2}]
    assert {"checkpoint", "progress"} <= set(service.actions(first))


def test_a_process_that_dies_fails_its_job_and_the_next_job_gets_a_new_process(
    service: FakeService, start: Start
) -> None:
    start({"die": handlers.die, "work": handlers.work}, process=True, concurrency=1)
    dies, works = service.add("die"), service.add("work", {"n": 1})
    died = {"name": "ProcessError", "message": "the process of the handler died with exit code 7"}
    assert service.outcome(dies)["error"] == died
    assert service.outcome(works)["result"]["n"] == 2


def test_special_errors_raised_in_a_process_keep_their_meaning(service: FakeService, start: Start) -> None:
    start({"refuse": handlers.refuse}, process=True)
    outcome = service.outcome(service.add("refuse"))
    assert (outcome["error"]["name"], outcome["error"]["message"]) == ("NonRetryable", "gone")
    assert outcome["retryable"] is False


def test_the_signals_that_stop_a_worker_do_not_end_its_processes(service: FakeService, start: Start) -> None:
    start({"end": handlers.end_itself}, process=True)
    assert service.outcome(service.add("end"))["result"] == "goes on"


def test_a_process_can_still_report_while_the_worker_drains(service: FakeService, start: Start) -> None:
    running = start({"save": handlers.save_when_aborted}, process=True, drain=0.1)
    job = service.add("save")
    service.wait_for(lambda: service.logs)
    running.worker.stop()
    assert service.outcome(job)["result"] == "saved"
    assert {"checkpoint", "progress"} <= set(service.actions(job))


def test_a_kill_aborts_a_handler_in_a_process(service: FakeService, start: Start) -> None:
    start({"wait": handlers.wait_for_abort, "work": handlers.work}, process=True, concurrency=1)
    killed = service.add("wait", timeoutSeconds=0.3)
    service.wait_for(lambda: service.logs)
    service.refuse = _kill
    service.outcome(service.add("work", {"n": 1}))  # The slot is free again.
    assert service.actions(killed) == ["ack"]


def test_a_process_that_ignores_a_kill_is_killed(service: FakeService, start: Start) -> None:
    start({"never": handlers.never_end, "work": handlers.work}, process=True, concurrency=1)
    killed = service.add("never", timeoutSeconds=0.3)
    service.wait_for(lambda: service.logs)
    service.refuse = _kill
    service.outcome(service.add("work", {"n": 1}))
    assert service.actions(killed) == ["ack"]


def test_a_handler_in_a_process_can_start_processes(service: FakeService, start: Start) -> None:
    start({"work": handlers.use_pool}, process=True)
    assert service.outcome(service.add("work", [1, 2, 3]))["result"] == [1, 4, 9]


def is_alive(pid: int) -> bool:
    """Return whether a process is running. A zombie, whose parent hasn't read its exit code, is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for_end(pids: list[int]) -> None:
    end = time.monotonic() + 30
    while any(map(is_alive, pids)):
        assert time.monotonic() < end, pids
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc").exists(), reason="it looks at /proc")
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_the_processes_of_a_handler_end_with_the_worker_or_the_job(
    service: FakeService, start: Start, how: str
) -> None:
    running = start({"work": handlers.start_process}, process=True, drain="1h")
    job = service.add("work", timeoutSeconds=0.3)
    service.wait_for(lambda: "checkpoint" in service.actions(job))
    [pids] = [each["data"] for each in service.outcomes if each["action"] == "checkpoint"]
    assert all(map(is_alive, pids))
    if how == "stop":
        running.worker.stop()
        running.worker.stop()
    else:
        service.refuse = _kill
    wait_for_end(pids)


@pytest.mark.skipif(not Path("/proc").exists(), reason="it looks at /proc")
@pytest.mark.parametrize("how", ["exit", "SIGKILL"])
def test_the_processes_of_a_handler_end_with_a_program_that_does_not_stop_its_worker(
    service: FakeService, how: str
) -> None:
    job = service.add("work")
    with start_program(service, "left_alone") as program:
        service.wait_for(lambda: "checkpoint" in service.actions(job))
        if how == "SIGKILL":
            program.kill()
        try:
            program.communicate("\n", timeout=30)
        finally:
            program.kill()
    [pids] = [each["data"] for each in service.outcomes if each["action"] == "checkpoint"]
    wait_for_end(pids)
