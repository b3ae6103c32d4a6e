from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from .._errors import NonRetryable, Release, RetryAfter
from .._payloads import as_type, payload_type_of
from .._warnings import logger
from .context import Context, SyncContext, current_log
from .outcomes import Fields, end_of, failure_of


@dataclass(frozen=True)
class Handler:
    """A function of the user, and how it is called."""

    function: Callable[..., Any]
    kind: Literal["loop", "thread", "process"]
    payload_type: Any
    #: Whether its task is cancelled when its signal is aborted; only of kind loop.
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


def in_thread(call: Callable[[], Fields]) -> asyncio.Future[Fields]:
    """Call a function in a thread of its own. A pool would wait for its threads when the program ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Fields] = loop.create_future()
    context = contextvars.copy_context()

    def finish(end: Fields) -> None:
        if not future.done():
            future.set_result(end)

    def run() -> None:
        try:
            end = context.run(call)
        except BaseException as error:
            end = failure_of(error)
        with suppress(RuntimeError):  # The loop is closed: the worker has ended, and has released the job.
            loop.call_soon_threadsafe(finish, end)

    threading.Thread(target=run, name="yardmaster-handler", daemon=True).start()
    return future
