from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_service import FakeService, serve

from yardmaster import Worker, WorkerWarning, Yardmaster


@pytest.fixture
def service() -> Iterator[FakeService]:
    with serve() as fake:
        yield fake


@pytest.fixture
def client(service: FakeService) -> Iterator[Yardmaster]:
    with Yardmaster(url=service.url, api_key="secret", space="a b", retry_window=5) as client:
        yield client


class Running:
    """A worker in a thread."""

    def __init__(self, worker: Worker, warnings: list[WorkerWarning]) -> None:
        self.worker = worker
        self.warnings = warnings
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.worker.run()
        except BaseException as error:
            self.error = error

    def end(self) -> None:
        self.thread.join(30)
        assert not self.thread.is_alive()


@pytest.fixture
def start(client: Yardmaster) -> Iterator[Callable[..., Running]]:
    """Return a function that starts a worker with handlers by name, and options."""
    started: list[Running] = []

    def begin(handlers: dict[str, Any], *, process: bool = False, **options: Any) -> Running:
        warnings: list[WorkerWarning] = []
        worker = Worker(client, on_warning=warnings.append, **options)
        for name, handler in handlers.items():
            worker.on(name, process=process)(handler)
        started.append(Running(worker, warnings))
        return started[-1]

    yield begin
    for running in started:
        while running.thread.is_alive():
            running.worker.stop()  # The first call drains, the second one releases immediately.
            running.thread.join(0.05)
