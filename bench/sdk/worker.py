"""A worker with the Python SDK."""

import os

from yardmaster import Context, Worker, Yardmaster

worker = Worker(Yardmaster(), concurrency=int(os.environ["CONCURRENCY"]))


@worker.on("bench")
async def work(ctx: Context, payload: dict) -> dict:
    return {"ok": True}


if __name__ == "__main__":
    worker.run()
