from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar, overload

from ._durations import Duration, seconds_of
from ._http import Target
from ._signals import on_signal
from ._warnings import OnWarning, guarded, log_warning
from ._worker.context import Context, SyncContext
from ._worker.handlers import Handler, handler_of
from ._worker.health import Health
from ._worker.loop_thread import LoopThread
from ._worker.poller import Poller
from ._worker.session import Session, SessionOptions

AsyncHandler = TypeVar("AsyncHandler", bound=Callable[[Context, Any], Coroutine[Any, Any, Any]])
SyncHandler = TypeVar("SyncHandler", bound=Callable[[SyncContext, Any], Any])

#: Limits of the service: names per poll, and characters of a worker ID.
_MOST_NAMES = 100
_MOST_WORKER_ID = 128
#: Time to cancel the tasks that remain at the end, in seconds.
_CANCEL = 1.0


class Client(Protocol):
    """A :class:`Yardmaster` or an :class:`AsyncYardmaster`. A worker uses only its target."""

    @property
    def target(self) -> Target: ...


class Register(Protocol):
    """A decorator that returns the handler unchanged."""

    @overload
    def __call__(self, handler: AsyncHandler, /) -> AsyncHandler: ...
    @overload
    def __call__(self, handler: SyncHandler, /) -> SyncHandler: ...


class Worker:
    """Claims jobs and calls their handlers.

    :param concurrency: maximum number of jobs to run at once
    :param drain: how long handlers may continue after the worker is told to stop
    :param auto_ack: start jobs with the poll that claims them, which saves a call per job; but if the response is lost,
        its jobs must first time out, which uses up an attempt
    :param worker_id: name shown on the jobs; by default host and process ID
    :param health_port: port that serves ``/healthz``
    :param on_warning: called from any thread when something needs attention but doesn't stop the worker; by default
        the logger ``yardmaster`` gets it
    :param handle_signals: whether SIGTERM and SIGINT stop the worker; the program's own handlers are still called
    """

    def __init__(
        self,
        client: Client,
        *,
        concurrency: int = 10,
        drain: Duration = "25s",
        auto_ack: bool = False,
        worker_id: str | None = None,
        health_port: int | None = None,
        on_warning: OnWarning = log_warning,
        handle_signals: bool = True,
    ) -> None:
        if concurrency < 1:
            raise ValueError(f"concurrency must be a positive whole number; got {concurrency}")
        self._target = client.target
        self._concurrency = concurrency
        self._drain = seconds_of(drain, "drain")
        self._auto_ack = auto_ack
        self._worker_id = (worker_id or f"{socket.gethostname()}-{os.getpid()}")[:_MOST_WORKER_ID]
        self._health_port = health_port
        self._on_warning = guarded(on_warning)
        self._handle_signals = handle_signals
        self._handlers: dict[str, Handler] = {}
        self._stop: Callable[[], None] | None = None

    def on(self, name: str, *, process: bool = False, cancel: bool = True) -> Register:
        """Register the handler for a name: a function that takes a context and the payload.

        What it returns becomes the result, and what it raises fails the attempt. The payload is a dict, or the type of
        its annotation: a dataclass, a pydantic model or a msgspec Struct. A payload that doesn't match makes the job
        dead. An annotation that exists only for a type checker is ignored.

        An ``async def`` gets a :class:`Context` and runs on the event loop of ``run`` or ``run_async``; its task is
        canceled when its signal is aborted, unless ``cancel`` is False. A ``def`` gets a :class:`SyncContext` and runs
        in a thread, or with ``process`` in a process, which suits CPU-bound work.

        A function with the same module and name replaces the previous one, so you can rerun a notebook cell. A running
        worker keeps the handlers it started with.
        """
        if not name:
            raise ValueError("The job name must not be empty")

        def register(function: Any) -> Any:
            handler, before = handler_of(function, process=process, cancel=cancel), self._handlers.get(name)
            if before is not None and before.qualified_name != handler.qualified_name:
                raise ValueError(f"{name} already has a handler")
            if before is None and len(self._handlers) == _MOST_NAMES:
                raise ValueError(f"A worker can have handlers for at most {_MOST_NAMES} names")
            self._handlers[name] = handler
            return function

        return register

    def run(self) -> None:
        """Run until SIGTERM, SIGINT or ``stop``, then drain.

        ::

            first signal     no more polls, heartbeats continue
            after ``drain``  handlers are aborted with Draining and get 5 s
            then             the remaining jobs are released without using up an attempt
            second signal    all jobs are released immediately

        Raises YardmasterError only if someone has to act: the key or the polls are refused.
        """
        if _is_in_loop():
            raise RuntimeError("An event loop is already running here, as in a notebook. Use: await worker.run_async()")
        loop = asyncio.new_event_loop()
        running = loop.create_task(self.run_async())
        try:
            loop.run_until_complete(running)
        finally:
            running.cancel()  # After an interrupt; it releases all jobs.
            loop.run_until_complete(asyncio.wait({running}))
            _cancel_rest(loop)
            loop.close()

    async def run_async(self) -> None:
        """Run like ``run``, but in an event loop that is already running. Canceling it releases all jobs."""
        if self._stop is not None:
            raise RuntimeError("The worker is already running")
        if not self._handlers:
            raise RuntimeError("Register a handler with on(name) before run()")
        health = Health()
        if self._health_port is not None:
            health.serve(self._health_port)
        options = SessionOptions(dict(self._handlers), self._concurrency, self._drain, self._auto_ack, self._on_warning)
        session = Session(self._target, options, asyncio.get_running_loop())
        thread = LoopThread(session.run(Poller(self._worker_id, health)))
        self._stop = partial(thread.call, session.stop)
        try:
            with self._signals():
                await thread.wait()
        finally:
            health.close()
            self._stop = None

    def stop(self) -> None:
        """Stop as if by a signal: the first call drains, a second one releases all jobs immediately. Thread-safe."""
        stop = self._stop
        if stop is not None:
            stop()

    @contextmanager
    def _signals(self) -> Generator[None, None, None]:
        """Let signals stop the worker. Only the main thread of a program can handle signals."""
        is_main = threading.current_thread() is threading.main_thread()
        numbers = [signal.SIGTERM, signal.SIGINT] if self._handle_signals and is_main else []
        restores = [on_signal(number, self.stop) for number in numbers]
        try:
            yield
        finally:
            for restore in restores:
                restore()


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _cancel_rest(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the remaining tasks. A handler that ignores this doesn't keep the program alive."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_CANCEL))
    loop.run_until_complete(loop.shutdown_asyncgens())
