from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: How long a poll may go unanswered, in seconds.
_SILENT = 60.0


class Health:
    """Serves ``/healthz``: 200, or 503 if no poll was answered for 60 s. A worker without a free slot doesn't poll."""

    def __init__(self) -> None:
        self._asked_at: float | None = None
        self._server: ThreadingHTTPServer | None = None

    def asked(self) -> None:
        """Note the start or the retry of a poll."""
        if self._asked_at is None:
            self._asked_at = time.monotonic()

    def answered(self) -> None:
        self._asked_at = None

    @property
    def is_good(self) -> bool:
        asked_at = self._asked_at
        return asked_at is None or time.monotonic() - asked_at < _SILENT

    def serve(self, port: int) -> int:
        """Serve in a thread and return the port. Raises OSError if the port is in use."""
        health = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status = 404 if self.path.split("?")[0] != "/healthz" else 200 if health.is_good else 503
                text = {200: "ok", 404: "not found", 503: "no poll was answered for 60 s"}[status]
                self.send_response(status)
                self.send_header("content-type", "text/plain")
                self.end_headers()
                self.wfile.write(f"{text}\n".encode())

            def log_message(self, format: str, *args: Any) -> None:
                """Write no access log."""

        self._server = ThreadingHTTPServer(("", port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="yardmaster-health", daemon=True).start()
        return int(self._server.server_address[1])

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
