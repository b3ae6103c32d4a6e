"""Programs that tests run in separate processes: ``python programs.py <name>``, with a client's variables."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from typing import Any

from yardmaster import AsyncYardmaster, Context, SyncContext, Worker, Yardmaster


def fork() -> None:
    """Create and watch jobs in children of a process that has used its clients. Print their exit codes."""
    client, asynchronous = Yardmaster(), AsyncYardmaster()
    client.create("warm")
    loop = asyncio.new_event_loop()
    loop.run_until_complete(asynchronous.create("warm"))

    async def create(name: str) -> str:
        async for _ in asynchronous.job(name).watch():
            break
        return (await asynchronous.create(name)).name or ""

    for n in range(4):
        if os.fork() == 0:
            wrong = 0
            for k in range(10):
                name = f"child-{n}-{k}"
                next(client.job(name).watch())
                got = (client.create(name).name, loop.run_until_complete(create(name)))
                wrong += got != (name, name)
            os._exit(min(wrong, 1))
    codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)]
    assert client.create("parent").name == "parent"
    assert loop.run_until_complete(create("parent")) == "parent"
    print(codes)


def quiet() -> None:
    """Use the clients with INFO logs, before and after setting the level of httpx."""
    import httpx

    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(name)s: %(message)s")
    client = Yardmaster()
    client.create("quiet")
    asyncio.run(AsyncYardmaster().create("quiet"))
    httpx.get(f"{client.target.url}/of-the-program")
    logging.getLogger("httpx").setLevel(logging.INFO)
    client.create("loud")


def _handle(*_: object) -> None:
    print("host", flush=True)


def _end_itself(ctx: SyncContext, payload: Any) -> str:
    os.kill(os.getpid(), signal.SIGTERM)
    return "drained"


def signals() -> None:
    """Run a worker in a program with its own SIGTERM handler, and signal during and after the run."""
    signal.signal(signal.SIGTERM, _handle)
    worker = Worker(Yardmaster(), drain="10s")
    worker.on("work")(_end_itself)
    worker.run()
    assert signal.getsignal(signal.SIGTERM) is _handle
    os.kill(os.getpid(), signal.SIGTERM)


def signals_of_asyncio() -> None:
    """Run a worker in a program whose event loop has its own SIGTERM handler."""
    worker = Worker(Yardmaster(), drain="10s")
    worker.on("work")(_end_itself)

    async def main() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _handle)
        await worker.run_async()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.1)

    asyncio.run(main())


def signal_of_child() -> None:
    """Fork in a handler and end the child by a signal, to which the worker must not react."""
    worker = Worker(Yardmaster(), drain="10s")

    @worker.on("work")
    def work(ctx: SyncContext, payload: Any) -> int:
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(theirs, b"x")
            time.sleep(60)
            os._exit(1)
        os.read(ours, 1)
        os.kill(pid, signal.SIGTERM)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.kill(os.getpid(), signal.SIGTERM)
        return code

    worker.run()


def interrupt() -> None:
    """Drain on Ctrl-C under asyncio.run, whose own handler would cancel the worker."""
    worker = Worker(Yardmaster(), drain="10s")

    @worker.on("work")
    async def work(ctx: Context, payload: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.2)
        return "drained"

    asyncio.run(worker.run_async())
    print("ended")


def left_alone() -> None:
    """Exit while a worker runs in a thread and its handler in a process."""
    import handlers_in_processes as handlers

    worker = Worker(Yardmaster())
    worker.on("work", process=True)(handlers.start_process)
    threading.Thread(target=worker.run, daemon=True).start()
    sys.stdin.readline()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
