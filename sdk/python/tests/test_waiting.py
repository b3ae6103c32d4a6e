from __future__ import annotations

import asyncio

from yardmaster._worker.waiting import wait_within


def test_a_cancellation_that_arrives_together_with_the_event_ends_a_loop_of_waits() -> None:
    async def lost(ticks: int) -> bool:
        event = asyncio.Event()

        async def wait_again_and_again() -> None:
            while True:
                event.clear()
                await wait_within(event, 60)

        loop = asyncio.get_running_loop()
        waits = loop.create_task(wait_again_and_again())
        for _ in range(5):
            await asyncio.sleep(0)
        event.set()
        for _ in range(ticks):
            await asyncio.sleep(0)
        waits.cancel()
        _, running = await asyncio.wait({waits}, timeout=1)
        waits.cancel()
        return bool(running)

    async def main() -> list[bool]:
        return [await lost(ticks) for ticks in range(6)]

    assert asyncio.run(main()) == [False] * 6


def test_wait_returns_whether_the_event_was_set() -> None:
    async def main() -> list[bool]:
        event = asyncio.Event()
        too_late = await wait_within(event, 0.01)
        asyncio.get_running_loop().call_soon(event.set)
        return [too_late, await wait_within(event, 60), await wait_within(event, None)]

    assert asyncio.run(main()) == [False, True, True]
