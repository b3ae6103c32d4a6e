from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Running
from fake_service import Call, FakeService, Reply

from yardmaster import Killed, SyncContext

Start = Callable[..., Running]


class Waiting:
    """Handlers that wait until they are aborted, and the reasons."""

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


def test_a_kill_aborts_the_handler_of_its_job_immediately(service: FakeService, start: Start) -> None:
    waiting = Waiting(service)
    start({"wait": waiting})
    other, killed = service.add("wait"), service.add("wait")
    waiting.wait_for(**{other: None, killed: None})
    service.publish({"type": "killed", "jobId": killed, "data": {"reason": "line\u2028separator\x85"}})
    waiting.wait_for(**{killed: Killed})
    assert waiting.reasons[other] is None
    stream = streams(service)[0]
    types = "type=dead&type=delivery_timeout&type=killed&type=released&type=retried"
    assert stream.path == f"/api/v1/realtime/spaces/a%20b?name=wait&{types}"
    assert (stream.headers["accept"], stream.headers["x-api-key"]) == ("text/event-stream", "secret")


def test_a_kill_during_a_disconnection_is_noticed_after_the_reconnect(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yardmaster._streams._FIRST", 0.01)
    waiting = Waiting(service)
    start({"wait": waiting})
    job = service.add("wait")
    waiting.wait_for(**{job: None})
    service.wait_for(lambda: service.streams)[0].put(None)
    service.wait_for(lambda: len(service.streams) > 1)
    service.publish({"type": "killed", "jobId": job})
    waiting.wait_for(**{job: Killed})


REFUSAL: Reply = (403, {"code": "FORBIDDEN", "error": "The key lacks the scope jobs:read"}, {})


@pytest.mark.parametrize(
    "reply, connections, why",
    [
        (REFUSAL, 1, "The key lacks the scope jobs:read (FORBIDDEN)"),
        ((204, "", {}), 1, "the service closed it"),
        ((502, "<html>", {}), 8, "Status 502 without JSON of the service; check the URL (NO_RESPONSE)"),
    ],
)
def test_a_worker_without_its_kill_stream_continues_and_warns_once(
    service: FakeService, start: Start, monkeypatch: pytest.MonkeyPatch, reply: Reply, connections: int, why: str
) -> None:
    monkeypatch.setattr("yardmaster._streams._FIRST", 0.001)
    service.override = lambda call: reply if "/realtime/" in call.path else "none"
    running = start({"echo": lambda ctx, payload: payload})
    service.wait_for(lambda: len(streams(service)) >= connections)
    for n in range(20):  # Each takes longer than the wait before a second stream.
        assert service.outcome(service.add("echo", n))["result"] == n
    assert connections > 1 or len(streams(service)) == 1
    late = "can't open the kill stream; a kill isn't noticed until the next heartbeat, up to 60 s later"
    assert [(warning.kind, warning.message) for warning in running.warnings] == [("stream", f"{late} ({why})")]
