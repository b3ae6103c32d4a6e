"""Tests of how the SDK fits into a program: its processes, event loops, signals, logs and annotations."""

from __future__ import annotations

import asyncio
import functools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fake_service import Call, FakeService, Reply

from yardmaster import AsyncYardmaster, SyncContext, Worker, Yardmaster
from yardmaster.testing import run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yardmaster import Context


def start_program(service: FakeService, name: str) -> subprocess.Popen[str]:
    env = {**os.environ, "YARDMASTER_URL": service.url, "YARDMASTER_API_KEY": "secret", "YARDMASTER_SPACE": "demo"}
    command = [sys.executable, "-W", "error::RuntimeWarning", str(Path(__file__).with_name("programs.py")), name]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run_program(service: FakeService, name: str) -> str:
    with start_program(service, name) as program:
        try:
            output, _ = program.communicate(timeout=30)
        finally:
            program.kill()
    assert program.returncode == 0, output
    return output


def echo_names(call: Call) -> Reply | str:
    if call.method != "POST" or not call.path.endswith("/jobs"):
        return "none"
    return 201, {"id": "j1", "name": call.body["name"], "status": "pending", "createdAt": ""}, {}


def test_a_client_that_was_used_before_a_fork_gets_its_own_responses(service: FakeService) -> None:
    service.override = echo_names
    assert run_program(service, "fork") == "[0, 0, 0, 0]\n"
    # Responses get mixed up only sometimes, so check that no connection is used by two processes.
    users: dict[int, set[str]] = {}
    for call in service.calls:
        name = call.body["name"] if call.body else call.path.split("/")[-1]
        process = name.rsplit("-", 1)[0].replace("parent", "warm")
        users.setdefault(call.port, set()).add(process)
    assert {len(processes) for processes in users.values()} == {1}


def test_an_async_client_works_in_several_event_loops_in_turn(service: FakeService) -> None:
    service.override = echo_names
    client = AsyncYardmaster(url=service.url, api_key="secret", space="demo")

    async def create(name: str) -> str | None:
        assert (await anext(client.job(name).watch()))["type"] == "init"
        together = await asyncio.gather(client.create(name), client.create(name))
        return together[1].name

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # The first loop leaves its connections open.
        assert [asyncio.run(create(name)) for name in ("a", "b", "c")] == ["a", "b", "c"]
        assert len(client._transport._connections._pools) == 1


def test_calls_of_the_sdk_write_no_line_to_info_logs(service: FakeService) -> None:
    lines = run_program(service, "quiet").splitlines()
    assert [line.split()[4].removeprefix(service.url) for line in lines] == [
        "/of-the-program",
        "/api/v1/spaces/demo/jobs",
    ]


@pytest.mark.parametrize("name", ["signals", "signals_of_asyncio"])
def test_the_programs_own_signal_handler_is_still_called_and_is_restored(service: FakeService, name: str) -> None:
    job = service.add("work")
    assert run_program(service, name) == "host\nhost\n"
    assert service.outcome(job)["result"] == "drained"


def test_a_signal_ends_a_child_that_a_handler_forked(service: FakeService) -> None:
    job = service.add("work")
    run_program(service, "signal_of_child")
    assert service.outcome(job)["result"] == -15


def test_a_worker_drains_on_ctrl_c_under_asyncio_run(service: FakeService) -> None:
    job = service.add("work")
    assert run_program(service, "interrupt") == "ended\n"
    assert service.outcome(job)["result"] == "drained"


def test_run_in_an_event_loop_raises_an_error_that_names_run_async(client: Yardmaster) -> None:
    worker = Worker(client)
    worker.on("work")(lambda ctx, payload: None)

    async def cell() -> None:
        with pytest.raises(RuntimeError, match=r"await worker\.run_async\(\)"):
            worker.run()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(cell())


def test_rerunning_a_notebook_cell_replaces_its_handler(service: FakeService, client: Yardmaster) -> None:
    worker = Worker(client)

    def cell(answer: int) -> None:
        @worker.on("work")
        async def work(ctx: Context, payload: object) -> int:
            return answer

    async def notebook() -> int:
        for answer in (1, 2):
            cell(answer)
        running = asyncio.create_task(worker.run_async())
        end = await asyncio.to_thread(service.outcome, service.add("work"))
        worker.stop()
        await running
        return int(end["result"])

    assert asyncio.run(notebook()) == 2


def test_annotations_that_exist_only_for_a_type_checker_are_ignored() -> None:
    class Local:
        pass

    async def of_context(ctx: Context, payload: dict[str, Any]) -> None:
        assert payload == {"n": 1}

    async def of_payload(ctx: Context, payload: Mapping[str, Any]) -> None:
        assert payload == {"n": 1}

    async def of_local(ctx: Context, payload: Local) -> None:
        assert payload == {"n": 1}  # type: ignore[comparison-overlap]

    for handler in (of_context, of_payload, of_local):
        assert run(handler, {"n": 1}).error is None


class Multiplier:
    def __init__(self, by: int) -> None:
        self.by = by

    async def __call__(self, ctx: Context, payload: dict[str, int]) -> int:
        return payload["n"] * self.by

    def method(self, ctx: SyncContext, payload: dict[str, int]) -> int:
        return payload["n"] * self.by


async def multiply(by: int, ctx: Context, payload: dict[str, int], *, plus: int = 0) -> int:
    return payload["n"] * by + plus


@pytest.mark.parametrize(
    "handler",
    [Multiplier(3), Multiplier(3).method, functools.partial(multiply, 3), functools.partial(multiply, 2, plus=7)],
)
def test_partials_methods_and_callable_objects_can_be_handlers(
    service: FakeService, client: Yardmaster, start: Callable[..., Any], handler: Any
) -> None:
    assert run(handler, {"n": 7}).result == 21
    start({"work": handler})
    assert service.outcome(service.add("work", {"n": 7}))["result"] == 21
