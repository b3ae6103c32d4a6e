from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from .._errors import NonRetryable, Release, RetryAfter
from .._payloads import as_type, payload_type_of
from .._warnings import logger
from .context import Context, SyncContext, current_log
from .loop_calls import LoopCalls
from .outcomes import Fields, end_of, failure_of


@dataclass(frozen=True)
class Handler:
    """A function of the user, and how it is called."""

    function: Callable[..., Any]
    kind: Literal["loop", "thread", "process"]
    payload_type: Any
    #: Whether its task is canceled when its signal is aborted; only of kind loop.
    is_cancelled: bool = True


def handler_of(function: Callable[..., Any], *, process: bool, cancel: bool) -> Handler:
    """Raises TypeError for a function that cannot be a handler."""
    payload_type = payload_type_of(function)
    if asyncio.iscoroutinefunction(function):
        if process:
            raise TypeError("A handler that runs in a process must be a def, not an async def")
        return Handler(function, "loop", payload_type, cancel)
    return Handler(function, "process" if process else "thread", payload_type)


async def call_in_loop(handler: Handler, context: Context, payload: Any) -> Fields:
    """Call an async def handler. Returns how its attempt ends."""
    current_log.set(context.log)  # Of the task.
    try:
        return end_of(await handler.function(context, as_type(handler.payload_type, payload)))
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # An exit of the handler must not end the worker.
        return failed(error, context)


def call_blocking(handler: Handler, context: SyncContext, payload: Any) -> Fields:
    """Call a def handler. Returns how its attempt ends."""
    current_log.set(context.log)  # Of the thread.
    try:
        return end_of(handler.function(context, as_type(handler.payload_type, payload)))
    except BaseException as error:
        return failed(error, context)


def failed(error: BaseException, context: Context | SyncContext) -> Fields:
    is_meant = isinstance(error, NonRetryable | RetryAfter | Release)
    if not is_meant and not context.signal.aborted:
        logger.warning("A handler of %s has failed (%s)", context.job.name, context.job.id, exc_info=error)
    return failure_of(error)


class LoopCall:
    """A call of an async def handler in the event loop of the handlers. It belongs to the loop of its worker."""

    def __init__(self, call: Callable[[], Coroutine[Any, Any, Fields]], handlers: LoopCalls, worker: LoopCalls) -> None:
        self._call = call
        self._handlers, self._worker = handlers, worker
        self._task: asyncio.Task[Fields] | None = None
        #: How the attempt ends, once the handler has.
        self.end: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
        handlers.call(self._begin)

    @property
    def has_begun(self) -> bool:
        return self._task is not None

    def cancel(self) -> None:
        """Cancel the handler, which may continue nevertheless."""
        self._handlers.call(lambda: self._task is None or self._task.cancel())

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._call())
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Fields]) -> None:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        self._worker.call(_set, self.end, task.result() if error is None else failure_of(error))


def _set(future: asyncio.Future[Fields], end: Fields) -> None:
    if not future.done():
        future.set_result(end)


def in_thread(call: Callable[[], Fields], worker: LoopCalls) -> asyncio.Future[Fields]:
    """Call a function in a thread of its own. A pool would wait for its threads when the program ends."""
    future: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            end = context.run(call)
        except BaseException as error:
            end = failure_of(error)
        worker.call(_set, future, end)

    threading.Thread(target=run, name="yardmaster-handler", daemon=True).start()
    return future
