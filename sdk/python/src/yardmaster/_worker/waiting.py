from __future__ import annotations

import asyncio


async def wait_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, at most this many seconds, or forever with None. Returns whether it was set.

    Don't use asyncio.wait_for here: before Python 3.12, it loses a cancellation that arrives together with the event
    (python/cpython#86296), and a loop around it never ends.
    """
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait({waiting}, timeout=seconds)
    finally:
        waiting.cancel()
    return event.is_set()
