"""Handlers that processes can import."""

from __future__ import annotations

import os
import time

from yardmaster import NonRetryable, SyncContext


def work(ctx: SyncContext, payload: dict[str, int]) -> dict[str, int]:
    ctx.log.info("begins", n=payload["n"])
    ctx.progress(50, "half")
    ctx.save({"page": payload["n"]})
    return {"pid": os.getpid(), "n": payload["n"] + 1}


def die(ctx: SyncContext, payload: object) -> None:
    os._exit(7)


def refuse(ctx: SyncContext, payload: object) -> None:
    raise NonRetryable("gone")


def wait_for_abort(ctx: SyncContext, payload: object) -> None:
    ctx.log.info("waits")
    ctx.signal.wait(60)
    ctx.signal.raise_if_aborted()


def never_end(ctx: SyncContext, payload: object) -> None:
    ctx.log.info("waits")
    while True:
        time.sleep(1)
