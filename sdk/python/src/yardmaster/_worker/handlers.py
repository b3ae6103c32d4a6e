from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from .._payloads import as_type, function_of, payload_type_of
from .context import Context, SyncContext, current_log
from .loop_calls import LoopCalls
from .outcomes import Fields, end_of


@dataclass(frozen=True)
class Handler:
    """A user's function and how to call it."""

    function: Callable[..., Any]
    kind: Literal["loop", "thread", "process"]
    payload_type: Any
    #: Whether its task is canceled when its signal is aborted; only for the kind loop.
    is_cancelled: bool = True

    @property
    def qualified_name(self) -> tuple[str, str]:
        """Module and name of the function. A rerun notebook cell defines another function with the same ones."""
        function = function_of(self.function)
        return function.__module__, function.__qualname__


def handler_of(function: Callable[..., Any], *, process: bool, cancel: bool) -> Handler:
    """Return the handler of a function. Raises TypeError if it can't be one."""
    payload_type = payload_type_of(function)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(function_of(function)):
        if process:
            raise TypeError("A handler that runs in a process must be a def, not an async def")
        return Handler(function, "loop", payload_type, cancel)
    return Handler(function, "process" if process else "thread", payload_type)


async def call_in_loop(handler: Handler, context: Context, payload: Any) -> Fields:
    """Call an async def handler. Returns the end of its attempt."""
    current_log.set(context.log)  # For this task.
    try:
        result = await handler.function(context, as_type(handler.payload_type, payload))
    except BaseException as error:  # An exit in the handler must not stop the worker.
        return end_of(error=error, context=context)
    return end_of(result, context=context)


def call_blocking(handler: Handler, context: SyncContext, payload: Any) -> Fields:
    """Call a def handler. Returns the end of its attempt."""
    current_log.set(context.log)  # For this thread.
    try:
        result = handler.function(context, as_type(handler.payload_type, payload))
    except BaseException as error:
        return end_of(error=error, context=context)
    return end_of(result, context=context)


class LoopCall:
    """A call of an async def handler in the event loop of the handlers. Used from the event loop of the worker."""

    def __init__(self, call: Callable[[], Coroutine[Any, Any, Fields]], handlers: LoopCalls, worker: LoopCalls) -> None:
        self._call = call
        self._handlers, self._worker = handlers, worker
        self._task: asyncio.Task[Fields] | None = None
        #: The end of the attempt, once the handler has returned.
        self.end: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
        handlers.call_together(self._begin)

    @property
    def has_begun(self) -> bool:
        return self._task is not None

    def cancel(self) -> None:
        """Cancel the handler, which may ignore it."""
        self._handlers.call_together(lambda: self._task is None or self._task.cancel())

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._call())
        self._task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Fields]) -> None:
        # A task that is canceled before it starts has no result.
        end = end_of(error=asyncio.CancelledError(), context=None) if task.cancelled() else task.result()
        self._worker.call_together(_set, self.end, end)


def _set(future: asyncio.Future[Fields], end: Fields) -> None:
    if not future.done():
        future.set_result(end)


def in_thread(call: Callable[[], Fields], context: SyncContext, worker: LoopCalls) -> asyncio.Future[Fields]:
    """Call a function in a new thread. A pool would wait for its threads when the program exits."""
    future: asyncio.Future[Fields] = asyncio.get_running_loop().create_future()
    variables = contextvars.copy_context()

    def run() -> None:
        try:
            end = variables.run(call)
        except BaseException as error:
            end = end_of(error=error, context=context)
        worker.call(_set, future, end)

    threading.Thread(target=run, name="yardmaster-handler", daemon=True).start()
    return future
