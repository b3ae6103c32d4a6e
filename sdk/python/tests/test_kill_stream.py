from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Running
from fake_service import Call, FakeService, Reply

from yardmaster import Killed, SyncContext

Start = Callable[..., Running]


class Waiting:
    """Handlers that wait until they are aborted, and why they were."""

    def __init__(self, service: FakeService) -> None:
        self._service = service
        self.reasons: dict[str, object] = {}

    def __call__(self, ctx: SyncContext, payload: Any) -> None:
        with self._service.changed:
            self.reasons[ctx.job.id] = None
            self._service.changed.notify_all()
        ctx.signal.wait(60)
        with self._service.changed:
            self.reasons[ctx.job.id] = type(ctx.signal.reason)
            self._service.changed.notify_all()

    def wait_for(self, **jobs: Any) -> None:
        self._service.wait_for(lambda: jobs.items() <= self.reasons.items())


def streams(service: FakeService) -> list[Call]:
    return [call for call in service.calls if "/realtime/" in call.path]


def test_a_kill_aborts_the_handler_of_its_job_at_once(service: FakeService, start: Start) -> None:
    waiting = Waiting(service)
    start({"wait": waiting})
    other, killed = service.add("wait"), service.add("wait")
    waiting.wait_for(**{other: None, killed: None})
    service.publish({"type": "killed", "jobId": killed, "data": {"reason": "line\u2028separator\x85"}})
    waiting.wait_for(**{killed: Killed})
    assert waiting.reasons[other] is None
    stream = streams(service)[0]
    types = "type=dead&type=delivery_timeout&type=killed&type=released&type=retried"
    assert stream.path == f"/api/v1/realtime/spaces/a%20b?{types}&name=wait"
    assert (stream.headers["accept"], stream.headers["x-api-key"]) == ("text/event-stream", "secret")


@pytest.mark.parametrize("fault", ["end", "page", "not JSON", "stall"])
def test_a_stream_that_breaks_is_opened_again(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr("yardmaster._transport._SILENT", 0.5)
    monkeypatch.setattr("yardmaster._worker.kill_stream._FIRST", 0.01)
    faults: dict[str, Reply] = {"page": (200, "<html>", {}), "not JSON": (200, "data: {\n\n", {})}
    stalled = threading.Event()

    def answer(call: Call) -> Reply | str:
        if "/realtime/" not in call.path or len(streams(service)) > 1:
            return "none"
        if fault == "stall":
            stalled.wait(60)
        return faults.get(fault, "none")

    service.override = answer
    waiting = Waiting(service)
    start({"wait": waiting})
    job = service.add("wait")
    waiting.wait_for(**{job: None})
    if fault == "end":
        service.wait_for(lambda: service.streams)[0].put(None)
    service.wait_for(lambda: len(streams(service)) > 1 and len(service.streams) > (fault == "end"))
    stalled.set()
    service.publish({"type": "killed", "jobId": job})
    waiting.wait_for(**{job: Killed})


def test_a_key_without_jobs_read_is_a_warning_that_names_the_delay_of_kills(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yardmaster._worker.kill_stream._FIRST", 0.01)
    refusal: Reply = (403, {"code": "FORBIDDEN", "error": "The key lacks the scope jobs:read"}, {})
    service.override = lambda call: refusal if "/realtime/" in call.path else "none"
    running = start({"echo": lambda ctx, payload: payload})
    service.wait_for(lambda: len(streams(service)) > 5)
    assert service.outcome(service.add("echo", 7))["result"] == 7
    assert [(warning.kind, warning.message) for warning in running.warnings] == [
        (
            "stream",
            "kills are noticed with the next heartbeat, up to 60 s later, because their stream cannot be opened: "
            "The key lacks the scope jobs:read (FORBIDDEN)",
        )
    ]


def test_a_stream_that_the_service_ends_with_204_is_not_opened_again(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yardmaster._worker.kill_stream._FIRST", 0.01)
    service.override = lambda call: (204, "", {}) if "/realtime/" in call.path else "none"
    running = start({"echo": lambda ctx, payload: payload})
    service.wait_for(lambda: streams(service))
    for n in range(20):  # Each takes longer than the wait before a second stream.
        assert service.outcome(service.add("echo", n))["result"] == n
    assert len(streams(service)) == 1
    assert [warning.kind for warning in running.warnings] == ["stream"]
