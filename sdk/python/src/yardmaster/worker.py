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

#: Of the service.
_MOST_NAMES = 100
_MOST_WORKER_ID = 128
#: Tasks that are left at the end have this long to be canceled. Seconds.
_CANCEL = 1.0


class Client(Protocol):
    """A :class:`Yardmaster` or an :class:`AsyncYardmaster`. A worker reads only where it sends its calls."""

    @property
    def target(self) -> Target: ...


class Register(Protocol):
    """Takes a handler, and returns it unchanged."""

    @overload
    def __call__(self, handler: AsyncHandler, /) -> AsyncHandler: ...
    @overload
    def __call__(self, handler: SyncHandler, /) -> SyncHandler: ...


class Worker:
    """Claims jobs and calls their handlers.

    ``concurrency``: jobs at once. ``drain``: how long handlers may continue after the worker was asked to stop.
    ``auto_ack``: start jobs with the poll that claims them; it saves a call for each job, but a job whose response is
    lost waits for its timeout, and has used an attempt. ``worker_id``: shown on the jobs; host and process id by
    default. ``health_port``: serves ``/healthz``. ``on_warning``: called, from any thread, when something needs
    attention but does not end the worker; by default the logger ``yardmaster`` gets it. ``handle_signals``: whether
    SIGTERM and SIGINT stop the worker; a handler of the program for them is called as well.
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
            raise ValueError(f"concurrency must be a whole number above 0; it is {concurrency}")
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
        """Register the handler of a name: a function of a context and the payload.

        What it returns is the result, and what it raises fails the attempt. The payload is a dict, or what the
        annotation says: a dataclass, or a model of pydantic or msgspec. One that does not fit makes the job dead. An
        annotation that exists only for a type checker is ignored.

        An ``async def`` gets a :class:`Context` and runs on the event loop of ``run`` or ``run_async``; its task is
        canceled when its signal is aborted, unless ``cancel`` is False. A ``def`` gets a :class:`SyncContext` and runs
        in a thread, or with ``process`` in a process, which suits work that needs the processor.

        A function of the same module and name replaces the one before, so a cell of a notebook may run again. A worker
        that runs keeps the handlers with which it has begun.
        """
        if not name:
            raise ValueError("The name of a job must not be empty")

        def register(function: Any) -> Any:
            handler, before = handler_of(function, process=process, cancel=cancel), self._handlers.get(name)
            if before is not None and before.qualified_name != handler.qualified_name:
                raise ValueError(f"{name} has a handler already")
            if before is None and len(self._handlers) == _MOST_NAMES:
                raise ValueError(f"A worker has handlers for at most {_MOST_NAMES} names")
            self._handlers[name] = handler
            return function

        return register

    def run(self) -> None:
        """Work until SIGTERM or SIGINT, or ``stop``; then drain.

        ::

            first signal     no more polls, heartbeats continue
            after ``drain``  handlers are aborted with Draining, and have 5 s
            then             the remaining jobs are released, which costs no attempt
            second signal    all jobs are released at once

        Raises YardmasterError only when an operator must act: the key or the polls are refused.
        """
        if _is_in_loop():
            raise RuntimeError("An event loop is running here, as in a notebook. Use: await worker.run_async()")
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
        """Work as ``run`` does, in an event loop that runs already. Canceled, it releases all jobs."""
        if self._stop is not None:
            raise RuntimeError("The worker is running already")
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
        """Stop as at a signal: drain the first time, release all jobs at once the second time. From any thread."""
        stop = self._stop
        if stop is not None:
            stop()

    @contextmanager
    def _signals(self) -> Generator[None, None, None]:
        """Let signals stop the worker. Only the main thread of a program can have signals."""
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
    """Cancel the tasks that are left. A handler that continues nevertheless does not keep the program."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.wait(tasks, timeout=_CANCEL))
    loop.run_until_complete(loop.shutdown_asyncgens())
