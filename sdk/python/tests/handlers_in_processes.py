"""Handlers that processes can import."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time

from yardmaster import NonRetryable, SyncContext


def work(ctx: SyncContext, payload: dict[str, int]) -> dict[str, int]:
    ctx.log.info("begins", n=payload["n"])
    ctx.progress(50, "half")
    ctx.save({"page": payload["n"]})
    return {"pid": os.getpid(), "n": payload["n"] + 1}


def send_tokens(ctx: SyncContext, payload: list[str]) -> None:
    for token in payload:
        ctx.event(token, ephemeral=True)


def die(ctx: SyncContext, payload: object) -> None:
    os._exit(7)


def refuse(ctx: SyncContext, payload: object) -> None:
    raise NonRetryable("gone")


def wait_for_abort(ctx: SyncContext, payload: object) -> None:
    ctx.log.info("waits")
    ctx.signal.wait(60)
    ctx.signal.raise_if_aborted()


def end_itself(ctx: SyncContext, payload: object) -> str:
    for number in (signal.SIGTERM, signal.SIGINT):
        os.kill(os.getpid(), number)
    return "goes on"


def save_when_aborted(ctx: SyncContext, payload: object) -> str:
    ctx.log.info("waits")
    ctx.signal.wait(60)
    ctx.progress(50, "stops")
    ctx.save({"page": 1})
    return "saved"


def never_end(ctx: SyncContext, payload: object) -> None:
    ctx.log.info("waits")
    while True:
        time.sleep(1)


def start_process(ctx: SyncContext, payload: object) -> None:
    """Start a multiprocessing process and report its ID."""
    process = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    process.start()
    ctx.save([os.getpid(), process.pid])
    process.join()


def square(n: int) -> int:
    return n * n


def use_pool(ctx: SyncContext, payload: list[int]) -> list[int]:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        return pool.map(square, payload)
