# Generated from _async/watch.py by scripts/sdk/wire.mjs; do not edit.
from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing

import httpx

from .._errors import YardmasterError
from .._http import no_response
from .._streams import OnDisconnect, Stream, StreamMessage
from .transport import Transport


def watch(
    transport: Transport, stream: Stream, on_disconnect: OnDisconnect | None
) -> Generator[StreamMessage, None, None]:
    """Yield the messages of a stream across reconnects, until no more can follow."""
    while True:
        error = YardmasterError("NO_RESPONSE", "The stream has ended")
        try:
            with closing(transport.open(stream.request())) as response:
                if response.status_code == 204:
                    return
                for piece in response.iter_bytes():
                    for message in stream.read(piece):
                        is_last = stream.is_last(message)
                        yield message
                        if is_last:
                            return
                    if stream.has_ended:
                        return
        except httpx.HTTPError as raised:
            error = no_response(raised)
        except YardmasterError as raised:
            error = raised
        pause = stream.pause_after(error)
        if on_disconnect is not None:
            on_disconnect(error)
        time.sleep(pause)
