"""Tests of job and space streams with both clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import Any

import httpx
import pytest
from fake_service import FakeService, Messages, Reply, event_of

from yardmaster import AsyncYardmaster, StreamMessage, Yardmaster, YardmasterError
from yardmaster._streams import Stream

Watch = Generator[StreamMessage, None, None]


@pytest.fixture(params=["sync", "async"])
def client(service: FakeService, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return both clients, the async one with synchronous message iterators."""
    options: Any = {"url": service.url, "api_key": "secret", "space": "a b"}
    if request.param == "sync":
        yield Yardmaster(**options)
        return
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        client: Any = AsyncYardmaster(**options)
        follow = client.follow
        client.follow = lambda *arguments: blocking(loop, follow(*arguments))
        yield client
        loop.run_until_complete(client.close())
        loop.run_until_complete(loop.shutdown_asyncgens())


def blocking(loop: asyncio.AbstractEventLoop, messages: AsyncGenerator[StreamMessage, None]) -> Watch:
    try:
        while True:
            yield loop.run_until_complete(anext(messages))
    except StopAsyncIteration:
        return
    finally:
        loop.run_until_complete(messages.aclose())


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("yardmaster._streams._FIRST", 0.01)


def message(kind: str, **fields: Any) -> StreamMessage:
    return {"type": kind, "timestamp": "2026-01-31T09:30:00.766Z", **fields}  # type: ignore[typeddict-item]


def stream_of(*messages: Any) -> Messages:
    """Return a stream that sends messages and stays open unless the last one is None."""
    stream: Messages = Messages()
    for each in messages:
        stream.put(each)
    return stream


def replying(service: FakeService, *replies: Reply) -> None:
    left: list[Reply] = [*replies, (400, {"code": "NO_REPLY", "error": "The test has no further reply"}, {})]
    service.override = lambda _: left.pop(0)


BROKEN: dict[str, Reply] = {
    "connection": None,
    "status": (503, {"code": "UNAVAILABLE", "error": "no Redis"}, {}),
    "page": (200, "<html>", {}),
    "page of a proxy": (404, "<html>", {}),
    "no JSON": (200, "data: {\n\n", {"content-type": "text/event-stream"}),
    "not of the service": (200, "data: []\n\n", {"content-type": "text/event-stream"}),
    "cut": (200, "data: {}", {"content-type": "text/event-stream", "content-length": "999", "connection": "close"}),
    "silent": (200, stream_of(), {}),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_watch_of_a_job_resumes_after_its_last_event(
    service: FakeService, client: Any, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    if fault == "silent":
        silent = httpx.Timeout(10, read=0.05)  # The fake service sends a comment after twice as long.
        for transport in ("_sync", "_async"):
            monkeypatch.setattr(f"yardmaster.{transport}.transport.STREAM", silent)
    init, progress, logs = message("init", status="running"), message("progress"), message("logs_appended")
    first: Reply = (200, stream_of({**init, "id": 3}, {**progress, "id": 4}, logs, None), {})
    last: Reply = (200, stream_of({**init, "id": 4}, {**message("completed"), "id": 5}, None), {})
    replying(service, first, BROKEN[fault], last)
    errors: list[YardmasterError] = []
    messages = list(client.job("j/1").watch(on_disconnect=errors.append))
    assert messages == [init, progress, logs, init, message("completed")]
    assert [(call.path, call.headers.get("last-event-id")) for call in service.calls] == [
        ("/api/v1/realtime/j%2F1", None),
        ("/api/v1/realtime/j%2F1", "4"),
        ("/api/v1/realtime/j%2F1", "4"),
    ]
    assert (service.calls[0].headers["accept"], service.calls[0].headers["x-api-key"]) == (
        "text/event-stream",
        "secret",
    )
    assert errors[0].message == "The stream has ended"
    assert [error.is_temporary for error in errors] == [True, True]
    assert ("check the URL" in errors[1].message) == (
        fault in ("page", "page of a proxy", "no JSON", "not of the service")
    )


def test_a_watch_of_a_job_ends_when_a_reconnect_returns_204(service: FakeService, client: Any) -> None:
    replying(service, (200, stream_of(message("init"), None), {}), (204, "", {}))
    assert list(client.job("j1").watch(since=0)) == [message("init")]
    assert [call.headers["last-event-id"] for call in service.calls] == ["0", "0"]


def test_a_watch_ends_on_the_event_ended(service: FakeService, client: Any) -> None:
    text = f"data: {json.dumps(message('init'))}\n\nevent: ended\ndata: {{}}\n\n"
    replying(service, (200, text, {"content-type": "text/event-stream"}))
    assert list(client.job("j1").watch(on_disconnect=pytest.fail)) == [message("init")]


EXPIRED = "event: expired\ndata: {}\n\n"


@pytest.mark.parametrize(
    "reply, code",
    [
        ((404, {"code": "JOB_NOT_FOUND", "error": "Job not found"}, {}), "JOB_NOT_FOUND"),
        ((403, {"code": "FORBIDDEN", "error": "The key lacks the scope jobs:read"}, {}), "FORBIDDEN"),
        ((200, EXPIRED, {"content-type": "text/event-stream; charset=utf-8"}), "UNAUTHENTICATED"),
    ],
)
def test_a_refused_watch_raises(service: FakeService, client: Any, reply: Reply, code: str) -> None:
    replying(service, reply)
    with pytest.raises(YardmasterError) as caught:
        list(client.job("j1").watch(on_disconnect=pytest.fail))
    assert caught.value.code == code


def test_a_watch_of_the_space_filters_and_continues_when_a_job_ends(service: FakeService, client: Any) -> None:
    killed, completed = message("killed", jobId="j1"), message("completed", jobId="j2")
    replying(
        service,
        (200, stream_of(message("init"), killed, None), {}),
        (200, stream_of(message("init"), completed), {}),
    )
    watch = client.watch(names=["resize", "a b"], types="killed", tags=["eu"], counts=True)
    assert [next(watch)["type"] for _ in range(4)] == ["init", "killed", "init", "completed"]
    watch.close()
    query = "name=resize&name=a%20b&type=killed&tag=eu&counts=1"
    assert [call.path for call in service.calls] == [f"/api/v1/realtime/spaces/a%20b?{query}"] * 2


def test_closing_a_watch_closes_its_connection(service: FakeService, client: Any) -> None:
    for _ in client.watch():
        break
    service.wait_for(lambda: service.closed_streams == 1)


def test_leaving_or_canceling_an_async_watch_closes_its_connection(service: FakeService) -> None:
    client = AsyncYardmaster(url=service.url, api_key="secret", space="a b")

    async def wait_for(condition: Callable[[], bool]) -> None:
        await asyncio.to_thread(service.wait_for, condition)

    async def watch_all() -> None:
        async for _ in client.watch():
            pass

    async def main() -> None:
        async for _ in client.watch():
            break
        await wait_for(lambda: service.closed_streams == 1)
        task = asyncio.create_task(watch_all())
        await wait_for(lambda: len(service.streams) == 2)
        task.cancel()
        await wait_for(lambda: service.closed_streams == 2)

    asyncio.run(main())


LATER = "2026-01-31T09:30:00.767Z"


@pytest.mark.parametrize(
    "since, messages, is_last",
    [
        (None, [message("init", status="running")], False),
        (None, [message("init", status="dead")], True),
        (None, [message("init")], False),  # With a key that may only see progress.
        (0, [message("init", status="dead")], False),
        (0, [message("init", status="dead"), message("dead")], False),  # It may have been requeued since then.
        (0, [message("init", status="dead"), message("killed", timestamp=LATER)], True),
        (0, [message("init", status="completed"), message("completed")], True),
        (None, [message("init", status="running"), message("dead")], True),
        (None, [message("init", status="running"), message("retried")], False),
    ],
)
def test_a_watch_knows_which_message_ends_the_job(
    since: int | None, messages: list[StreamMessage], is_last: bool
) -> None:
    stream = Stream("/", is_of_job=True, since=since)
    stream.request()
    assert [stream.is_last(each) for each in messages] == [*[False] * (len(messages) - 1), is_last]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_events_are_parsed_from_chunks_of_any_size(size: int) -> None:
    texts = ["a", "line\u2028separator\x85", "é" * 1_000]
    whole = b"retry: 1000\n\n:\n\n" + b"".join(event_of({"type": each}) for each in texts)
    stream = Stream("/", is_of_job=True)
    stream.request()
    read = [each for i in range(0, len(whole), size) for each in stream.read(whole[i : i + size])]
    assert [each["type"] for each in read] == texts


def test_reconnect_waits_grow_until_a_connection_lasts_and_honor_retry_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("yardmaster._streams._FIRST", 0.5)
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    stream, ended = Stream("/", is_of_job=True), YardmasterError("NO_RESPONSE", "The stream has ended")

    def pause(lasts: float, error: YardmasterError = ended) -> float:
        nonlocal now
        stream.request()
        list(stream.read(b":\n"))
        now += lasts
        return stream.pause_after(error)

    assert [pause(1) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert pause(5) == 0.5
    limited = YardmasterError("TOO_MANY_STREAMS", "Too many", status=429, retry_after=60)
    assert pause(1, limited) == 60
