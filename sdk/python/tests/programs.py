"""Programs that tests run in processes of their own: ``python programs.py <name>``, with the variables of a client."""

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
    """Create and watch jobs in children of a process that has used its clients, and print their exit codes."""
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
    """Log at INFO what the clients do, then what they do once the level of httpx is set."""
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
    """Run a worker in a program that has a handler for SIGTERM, which is called by the signal and after the worker."""
    signal.signal(signal.SIGTERM, _handle)
    worker = Worker(Yardmaster(), drain="10s")
    worker.on("work")(_end_itself)
    worker.run()
    assert signal.getsignal(signal.SIGTERM) is _handle
    os.kill(os.getpid(), signal.SIGTERM)


def signals_of_asyncio() -> None:
    """Do so in a program whose event loop has the handler."""
    worker = Worker(Yardmaster(), drain="10s")
    worker.on("work")(_end_itself)

    async def main() -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _handle)
        await worker.run_async()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.1)

    asyncio.run(main())


def signal_of_child() -> None:
    """Fork in a handler, and end the child by a signal, which is not meant for the worker."""
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
    """Drain at Ctrl-C under asyncio.run, whose own handler would cancel the worker."""
    worker = Worker(Yardmaster(), drain="10s")

    @worker.on("work")
    async def work(ctx: Context, payload: Any) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.2)
        return "drained"

    asyncio.run(worker.run_async())
    print("ended")


def left_alone() -> None:
    """End while a worker runs in a thread, with a process of a handler."""
    import handlers_in_processes as handlers

    worker = Worker(Yardmaster())
    worker.on("work", process=True)(handlers.start_process)
    threading.Thread(target=worker.run, daemon=True).start()
    sys.stdin.readline()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
