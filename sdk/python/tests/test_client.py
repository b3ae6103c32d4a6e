from __future__ import annotations

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from fake_service import Call, FakeService, Reply

from yardmaster import AsyncYardmaster, NewJob, NewSchedule, Worker, Yardmaster, YardmasterError
from yardmaster._wire import OperationFilterRequest

CREATED = {"id": "j1", "name": "ok", "status": "pending", "createdAt": ""}


def answering(service: FakeService, *replies: Reply) -> None:
    """Answer calls with these replies, the last of which repeats."""
    queue = list(replies)
    service.override = lambda _: queue.pop(0) if len(queue) > 1 else queue[0]


def test_a_key_from_a_file_may_end_with_a_line_break(service: FakeService) -> None:
    with Yardmaster(url=service.url, api_key="secret\n", space="demo") as client:
        client.create("work")
    assert service.calls[0].headers["x-api-key"] == "secret"
    with pytest.raises(ValueError, match="contains a character that no API key contains") as refused:
        Yardmaster(url=service.url, api_key="sec\nret", space="demo")
    assert "sec\n" not in str(refused.value)


@pytest.mark.parametrize(("missing", "variable"), [("api_key", "YARDMASTER_API_KEY"), ("space", "YARDMASTER_SPACE")])
def test_a_missing_option_raises_an_error_that_names_it_and_its_variable(
    monkeypatch: pytest.MonkeyPatch, missing: str, variable: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    options: dict[str, Any] = {"api_key": "secret", "space": "demo", missing: None}
    with pytest.raises(ValueError, match=f"{missing}.*{variable}"):
        Yardmaster(**options)


@pytest.mark.parametrize(
    "failure",
    [
        None,
        (502, "<html>Bad Gateway</html>", {}),
        (200, '{"id": "j1', {}),
        (503, {"code": "STORAGE_FULL", "error": "full"}, {}),
        (429, {"code": "TOO_MANY_WAITERS", "error": "busy"}, {"retry-after": "0.2"}),
    ],
)
def test_a_create_is_retried_with_the_same_idempotency_key(
    service: FakeService, client: Yardmaster, failure: Reply
) -> None:
    answering(service, failure, failure, (201, CREATED, {}))
    assert client.create("ok", {"n": 1}).id == "j1"
    assert [call.path for call in service.calls] == ["/api/v1/spaces/a%20b/jobs"] * 3
    assert len({call.headers["idempotency-key"] for call in service.calls}) == 1
    assert {call.headers["prefer"] for call in service.calls} == {"handling=strict"}
    assert service.calls[0].body == {"name": "ok", "payload": {"n": 1}}


def test_calls_raise_the_last_error_after_the_retry_window(service: FakeService) -> None:
    answering(service, (503, {"code": "UNAVAILABLE", "error": "no Redis"}, {}))
    client = Yardmaster(url=service.url, api_key="secret", space="demo", retry_window=0.3)
    with pytest.raises(YardmasterError, match="no Redis") as caught:
        client.create("ok")
    assert (caught.value.code, caught.value.status) == ("UNAVAILABLE", 503)
    assert len(service.calls) > 1


def test_a_refused_call_is_not_retried_and_its_error_has_all_details(service: FakeService, client: Yardmaster) -> None:
    details = [{"path": "name", "message": "name must be a string"}]
    body = {"code": "JOB_NOT_UNIQUE", "error": "no", "jobStatus": "running", "jobId": "j0", "details": details}
    answering(service, (409, body, {"x-request-id": "r1"}))
    with pytest.raises(YardmasterError) as caught:
        client.create("ok")
    error = caught.value
    assert (error.message, error.code, error.status) == ("no", "JOB_NOT_UNIQUE", 409)
    assert (error.job_status, error.job_id) == ("running", "j0")
    assert (error.request_id, error.details, len(service.calls)) == ("r1", details, 1)


def test_duration_options_are_sent_in_seconds(service: FakeService, client: Yardmaster) -> None:
    client.create("ok", delay="5m", timeout=timedelta(seconds=90), max_run=1.5, start_within="250ms", max_retries=0)
    assert service.calls[0].body == {
        **{"name": "ok", "payload": None, "delaySeconds": 300, "timeoutSeconds": 90},
        **{"maxRunSeconds": 1.5, "startWithinSeconds": 0.25, "maxRetries": 0},
    }


@pytest.mark.parametrize("wrong", ["5 fortnights", -1, float("nan"), True])
def test_an_invalid_duration_raises_an_error_that_names_its_option(client: Yardmaster, wrong: Any) -> None:
    with pytest.raises(ValueError, match="delay must be"):
        client.create("ok", delay=wrong)


def test_unknown_and_invalid_options_are_refused(client: Yardmaster) -> None:
    wrong: Any = {"prioritty": 1}
    with pytest.raises(TypeError, match="prioritty"):
        client.create("ok", **wrong)
    with pytest.raises(ValueError, match="time zone"):
        client.create("ok", scheduled_for=datetime(2026, 1, 1))


def test_printing_a_client_does_not_show_the_key() -> None:
    with Yardmaster(url="http://127.0.0.1:9", api_key="the-key", space="demo") as client:
        worker = Worker(client)
        for value in (client, client.target, client.job("j"), client.operations, worker, vars(client), vars(worker)):
            assert "the-key" not in f"{value} {value!r}"


def test_create_many_makes_one_call(service: FakeService, client: Yardmaster) -> None:
    jobs = client.create_many([NewJob("ok", {"n": 1}), NewJob("ok", None, {"delay": 1})])
    assert [job.id for job in jobs] == ["j1", "j1"]
    assert service.calls[0].body[1] == {"name": "ok", "payload": None, "delaySeconds": 1}


DEAD = {
    **{"name": "TypeError", "message": "fetch failed"},
    "causes": [{"name": "Error", "message": "connect ECONNREFUSED 127.0.0.1:1"}],
}


@pytest.mark.parametrize(
    ("job", "code"),
    [
        ({"status": "dead", "error": DEAD}, "JOB_DEAD"),
        ({"status": "killed"}, "JOB_KILLED"),
        ({"status": "running"}, "TIMEOUT"),
    ],
)
def test_result_raises_if_the_job_does_not_complete(
    service: FakeService, client: Yardmaster, job: dict[str, Any], code: str
) -> None:
    answering(service, (200, job, {}))
    with pytest.raises(YardmasterError) as caught:
        client.job("j1").result(timeout="50ms")
    assert (caught.value.code, caught.value.job_status) == (code, job["status"])
    if code == "JOB_DEAD":
        assert caught.value.job_error == DEAD
        message = "The job is dead: TypeError: fetch failed (cause: Error: connect ECONNREFUSED 127.0.0.1:1)"
        assert caught.value.message == message


def test_result_long_polls_the_service(service: FakeService, client: Yardmaster) -> None:
    answering(service, (200, {"status": "running"}, {}), (200, {"status": "completed", "result": {"n": 1}}, {}))
    assert client.job("j1").result() == {"n": 1}
    assert [call.path for call in service.calls] == ["/api/v1/jobs/j1?events=0&waitSeconds=20.000"] * 2


def test_the_async_client_makes_the_same_calls(service: FakeService) -> None:
    def answer(call: Call) -> Reply:
        if call.method == "GET" and "/spaces/" in call.path:
            return 200, [{"id": "j1"}], {}
        return 201, {**CREATED, "status": "completed", "result": 7}, {}

    service.override = answer

    async def use() -> None:
        async with AsyncYardmaster(url=service.url, api_key="secret", space="demo") as client:
            job = await client.create("ok")
            assert (job.id, await job.result("1s")) == ("j1", 7)
            assert [each["id"] async for each in client.jobs(status="pending")] == ["j1"]
            await job.kill()
            operation = await client.operations.start("kill", {"status": "pending"})
            assert (operation.id, (await operation.wait())["status"]) == ("j1", "completed")
            await operation.cancel()
            await client.create_stream_token("jobs:read", space_id="demo")

    asyncio.run(use())
    assert [re.sub("waitSeconds=.*", "waitSeconds=", call.path.removeprefix("/api/v1")) for call in service.calls] == [
        *("/spaces/demo/jobs", "/jobs/j1?events=0&waitSeconds="),
        *("/spaces/demo/jobs?status=pending", "/jobs/j1/kill"),
        *("/spaces/demo/operations", "/operations/j1", "/operations/j1", "/stream-tokens"),
    ]


def test_jobs_reads_every_page_with_its_filter(service: FakeService, client: Yardmaster) -> None:
    pages = [(200, [{"id": "a"}, {"id": "b"}], {"x-next-cursor": "1+"}), (200, [], {"x-next-cursor": "2"})]
    answering(service, *pages, (200, [{"id": "c"}], {}))
    after = datetime(2026, 8, 1, 9, 30, tzinfo=timezone.utc)
    found = client.jobs(status=["dead", "killed"], name="resize", tag=["eu"], created_after=after, page_size=2)
    assert [job["id"] for job in found] == ["a", "b", "c"]
    query = "status=dead&status=killed&name=resize&tag=eu&createdAfter=2026-08-01T09%3A30%3A00%2B00%3A00&limit=2"
    path = f"/api/v1/spaces/a%20b/jobs?{query}"
    assert [call.path for call in service.calls] == [path, f"{path}&cursor=1%2B", f"{path}&cursor=2"]


def test_jobs_refuses_an_invalid_filter(client: Yardmaster) -> None:
    wrong: Any = {"statsu": "dead"}
    with pytest.raises(TypeError, match="statsu"):
        list(client.jobs(**wrong))
    with pytest.raises(ValueError, match="created_before must have a time zone"):
        list(client.jobs(created_before=datetime(2026, 1, 1)))


def test_spaces_reads_every_page(service: FakeService, client: Yardmaster) -> None:
    first, second = (
        {"spaces": [{"spaceId": each}], "nextCursor": cursor} for each, cursor in (("a", "a"), ("b", None))
    )
    answering(service, (200, first, {}), (200, second, {}))
    assert [space["spaceId"] for space in client.spaces()] == ["a", "b"]
    assert [call.path for call in service.calls] == ["/api/v1/spaces?limit=100", "/api/v1/spaces?limit=100&cursor=a"]


def test_other_methods_send_the_requests_of_the_api(service: FakeService, client: Yardmaster) -> None:
    answering(service, (200, CREATED, {}))
    client.get("j1")
    client.get("j1", events=False)
    client.job("j1").get(events_after=0, events_limit=10)
    client.requeue("j1", "5m")
    client.delete("j1")
    client.stats()
    client.pause(["resize"])
    client.pause([])  # No call: it must not pause the whole space.
    client.resume()
    client.create("ok", tags=["eu"])
    client.create_stream_token("jobs:read:progress", job_ids=["j1"], expires_in="5m")
    client.create_stream_token("jobs:read", tag="eu")
    assert [(call.method, call.path.removeprefix("/api/v1"), call.body) for call in service.calls] == [
        ("GET", "/jobs/j1", None),
        ("GET", "/jobs/j1?events=0", None),
        ("GET", "/jobs/j1?eventsAfter=0&eventsLimit=10", None),
        ("POST", "/jobs/j1/requeue", {"delaySeconds": 300}),
        ("DELETE", "/jobs/j1", None),
        ("GET", "/spaces/a%20b/stats", None),
        ("POST", "/spaces/a%20b/pause", {"names": ["resize"]}),
        ("POST", "/spaces/a%20b/resume", {}),
        ("POST", "/spaces/a%20b/jobs", {"name": "ok", "payload": None, "tags": ["eu"]}),
        ("POST", "/stream-tokens", {"scope": "jobs:read:progress", "jobIds": ["j1"], "expiresInSeconds": 300}),
        ("POST", "/stream-tokens", {"scope": "jobs:read", "tag": "eu"}),
    ]


def test_a_copy_is_retried_only_if_it_had_no_effect(service: FakeService, client: Yardmaster) -> None:
    limited = (429, {"code": "RATE_LIMITED", "error": "too many calls"}, {"retry-after": "0.2"})
    answering(service, limited, (201, CREATED, {}), (503, {"code": "UNAVAILABLE", "error": "no Redis"}, {}), None)
    assert client.copy("j0", {"n": 1}).id == "j1"
    for code in ("UNAVAILABLE", "NO_RESPONSE"):
        with pytest.raises(YardmasterError) as caught:
            client.copy("j0")
        assert caught.value.code == code
    assert [call.body for call in service.calls] == [{"payload": {"n": 1}}, {"payload": {"n": 1}}, {}, {}]


def test_an_operation_is_started_once_and_can_be_canceled(service: FakeService, client: Yardmaster) -> None:
    running, done = {"id": "o1", "status": "running"}, {"id": "o1", "status": "done", "changed": 7}
    answering(service, None, (202, running, {}), (200, running, {}), (200, done, {}))
    jobs: OperationFilterRequest = {"status": "dead", "names": ["resize"]}
    operation = client.operations.start("requeue", jobs, limit=9, dry_run=True, reason="fixed", delay="1m")
    assert operation.wait()["changed"] == 7
    operation.cancel()
    lost, started, *others = service.calls
    assert lost.headers["idempotency-key"] == started.headers["idempotency-key"]
    options = {"limit": 9, "dryRun": True, "reason": "fixed", "delaySeconds": 60}
    assert started.body == {"action": "requeue", "filter": jobs, **options}
    assert [(call.method, call.path) for call in others] == [
        (method, "/api/v1/operations/o1") for method in ("GET", "GET", "DELETE")
    ]


def test_wait_for_an_operation_ends_at_its_own_timeout(service: FakeService, client: Yardmaster) -> None:
    answering(service, (200, {"id": "o1", "status": "running"}, {}))
    with pytest.raises(YardmasterError) as caught:
        client.operations.handle("o1").wait(timeout="50ms")
    assert caught.value.code == "TIMEOUT"


def test_more_than_a_hundred_calls_can_wait_at_the_same_time(service: FakeService, client: Yardmaster) -> None:
    together = threading.Barrier(120)

    def answer(_: Call) -> Reply:
        together.wait(30)  # It breaks if some calls must wait for others.
        return (201, CREATED, {})

    service.override = answer
    with ThreadPoolExecutor(120) as pool:
        created = list(pool.map(lambda _: client.create("ok").id, range(120)))
    assert created == ["j1"] * 120


NIGHTLY = NewSchedule("nightly/1", NewJob("report", {"kind": "daily"}, {"max_retries": 5}), {"cron": "0 3 * * *"})


def test_schedules_send_the_requests_of_the_api(service: FakeService, client: Yardmaster) -> None:
    answering(service, (200, CREATED, {}))
    schedules = client.schedules
    new_year = datetime(2027, 1, 1, tzinfo=timezone.utc)
    put = schedules.put("nightly/1", NIGHTLY.job, every="10m", spread=30, missed_within="1h", starts_at=new_year)
    assert put["id"] == "j1"
    schedules.sync(owner="billing", schedules=[NIGHTLY], prune=True)
    schedules.get("nightly/1")
    job = schedules.run("nightly/1", payload={"kind": "weekly"})
    assert (job.id, job.name, job.status) == ("j1", "ok", "pending")
    schedules.run("nightly/1")
    schedules.pause("nightly/1")
    schedules.resume("nightly/1")
    schedules.delete("nightly/1")
    report = {"name": "report", "payload": {"kind": "daily"}, "maxRetries": 5}
    seconds = {"everySeconds": 600, "spreadSeconds": 30, "missedWithinSeconds": 3_600}
    nightly = {"id": "nightly/1", "job": report, "cron": "0 3 * * *"}
    one = "/nightly%2F1"
    path = "/api/v1/spaces/a%20b/schedules"
    assert [(call.method, call.path.removeprefix(path), call.body) for call in service.calls] == [
        ("PUT", one, {"job": report, **seconds, "startsAt": "2027-01-01T00:00:00+00:00"}),
        ("PUT", "", {"owner": "billing", "schedules": [nightly], "prune": True}),
        ("GET", one, None),
        ("POST", f"{one}/run", {"payload": {"kind": "weekly"}}),
        ("POST", f"{one}/run", {}),
        ("PATCH", one, {"paused": True}),
        ("PATCH", one, {"paused": False}),
        ("DELETE", one, None),
    ]


def test_list_of_schedules_reads_every_page_in_both_clients(service: FakeService, client: Yardmaster) -> None:
    first, second = ({"schedules": [{"id": each}], "nextCursor": cursor} for each, cursor in (("a", "7"), ("b", None)))
    answering(service, *[(200, page, {}) for page in (first, second, first, second)])

    async def use() -> list[str]:
        async with AsyncYardmaster(url=service.url, api_key="secret", space="a b") as client:
            return [each["id"] async for each in client.schedules.list()]

    assert [each["id"] for each in client.schedules.list()] == asyncio.run(use()) == ["a", "b"]
    path = "/api/v1/spaces/a%20b/schedules?limit=100"
    assert [call.path for call in service.calls] == [path, f"{path}&cursor=7"] * 2


def test_a_put_of_a_schedule_is_retried_but_a_run_only_if_it_had_no_effect(
    service: FakeService, client: Yardmaster
) -> None:
    unavailable: Reply = (503, {"code": "UNAVAILABLE", "error": "no Redis"}, {})
    limited: Reply = (429, {"code": "RATE_LIMITED", "error": "too many calls"}, {"retry-after": "0.2"})
    answering(service, None, unavailable, (200, CREATED, {}), limited, None)
    assert client.schedules.put("nightly", NIGHTLY.job, cron="@daily")["id"] == "j1"
    with pytest.raises(YardmasterError, match="NO_RESPONSE"):
        client.schedules.run("nightly")
    assert [call.method for call in service.calls] == ["PUT"] * 3 + ["POST"] * 2


def test_schedules_refuse_unknown_and_invalid_options(client: Yardmaster) -> None:
    wrong: Any = {"crom": "@daily"}
    with pytest.raises(TypeError, match="Schedules have no option 'crom'"):
        client.schedules.put("nightly", NIGHTLY.job, **wrong)
    with pytest.raises(ValueError, match="ends_at must have a time zone"):
        client.schedules.put("nightly", NIGHTLY.job, cron="@daily", ends_at=datetime(2027, 1, 1))
    with pytest.raises(ValueError, match="every must be"):
        client.schedules.put("nightly", NIGHTLY.job, every="soon")
