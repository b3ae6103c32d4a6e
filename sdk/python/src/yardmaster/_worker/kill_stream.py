from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from .._async.transport import AsyncTransport
from .._async.watch import watch
from .._errors import YardmasterError
from .._streams import StreamMessage, space_stream
from .._wire import JOB_LOST_EVENTS

#: Number of failures in a row after which the worker warns.
_FAILURES_BEFORE_WARNING = 5
#: Longest query that fits the header limit. With a longer one, the stream isn't filtered by name.
_MOST_QUERY = 6_000


async def watch_kills(
    transport: AsyncTransport,
    names: Sequence[str],
    *,
    message: Callable[[StreamMessage], None],
    begun: Callable[[], None],
    missing: Callable[[str], None],
) -> None:
    """Watch the space for events that end attempts. ``begun`` is called for each connection: events may be missing.

    Without the scope ``jobs:read`` there is no stream, and heartbeats find out instead.
    """
    failures = 0

    def disconnected(error: YardmasterError) -> None:
        nonlocal failures
        failures += 1
        if failures == _FAILURES_BEFORE_WARNING:
            missing(str(error))

    is_short = len(urlencode({"name": names}, doseq=True)) < _MOST_QUERY
    stream = space_stream(transport.target, names if is_short else (), JOB_LOST_EVENTS, ())
    try:
        async for each in watch(transport, stream, disconnected):
            if each["type"] == "init":
                failures = 0
                begun()
            else:
                message(each)
        missing("the service closed it")
    except YardmasterError as error:
        missing(str(error))
