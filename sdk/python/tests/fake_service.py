"""A fake service with real sockets, for the calls that the tests make."""

from __future__ import annotations

import gzip
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
#: The messages of a stream. None ends it.
Messages = queue.SimpleQueue["Json | None"]
#: Status, body and headers; or None to close the connection without a response.
Reply = tuple[int, Any, dict[str, str]] | None
_OF_JOB = re.compile(r".*/jobs/(.+)/(ack|complete|fail|release|progress|checkpoint|event)")


class Call:
    def __init__(self, method: str, path: str, headers: dict[str, str], body: Any, port: int = 0) -> None:
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self.port = port  # Port of the client, which identifies the connection.


class FakeService:
    """Returns the jobs in ``jobs`` to polls, and records all calls and outcomes.

    ``override`` may answer a call differently. ``refuse`` may refuse an outcome by returning the fields of an error.
    ``invalid`` may refuse the whole call with an outcome by returning a status and a message.
    """

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.jobs: list[Json] = []
        self.calls: list[Call] = []
        self.outcomes: list[Json] = []
        self.logs: list[Json] = []
        self.override: Callable[[Call], Reply | str] = lambda _: "none"
        self.refuse: Callable[[Json], Json | None] = lambda _: None
        self.invalid: Callable[[Json], tuple[int, str] | None] = lambda _: None
        self.streams: list[Messages] = []
        self.closed_streams = 0  # Closed by clients.
        self.url = ""

    def add(self, name: str, payload: Any = None, **fields: Any) -> str:
        with self.changed:
            job_id = f"job-{len(self.calls)}-{len(self.jobs)}-{name}"
            job = {"id": job_id, "name": name, "payload": payload, "timeoutSeconds": 300, "maxRetries": 3}
            job |= {"attemptNumber": 0, "attempt": 1, "createdAt": "2026-01-31T09:30:00.766Z"}
            self.jobs.append({**job, "checkpoint": None, "deliveryToken": "0.0", **fields})
            self.changed.notify_all()
            return job_id

    def wait_for(self, condition: Callable[[], Any]) -> Any:
        """Wait until a condition on the calls is true and return its value."""
        with self.changed:
            assert self.changed.wait_for(condition, 30), [call.path for call in self.calls]
            return condition()

    def polls(self) -> list[Call]:
        return [call for call in self.calls if call.path.endswith("/poll")]

    def actions(self, job_id: str) -> list[str]:
        return [each["action"] for each in self.outcomes if each["jobId"] == job_id and each["action"] != "keepalive"]

    def outcome(self, job_id: str) -> Json:
        """Wait for the outcome that ends a job and return it."""
        ends = ("complete", "fail", "release")
        found: list[Json] = self.wait_for(
            lambda: [each for each in self.outcomes if each["jobId"] == job_id and each["action"] in ends]
        )
        return found[0]

    def answer(self, call: Call) -> Reply:
        with self.changed:
            self.calls.append(call)
            self.changed.notify_all()
        other = self.override(call)
        if not isinstance(other, str):
            return other
        path = call.path.split("?")[0]
        if "/realtime/" in path:
            return 200, self._stream(), {}
        of_job = _OF_JOB.fullmatch(path)
        outcomes: list[Json] = []
        if isinstance(call.body, dict):
            outcomes = call.body.get("outcomes") or call.body.get("settle") or []
        if of_job is not None and "ephemeral" not in call.path:
            action, token = of_job[2], call.headers["x-delivery-token"]
            fields = {"data": call.body} if action in ("checkpoint", "event") else call.body
            outcomes = [{"jobId": of_job[1], "deliveryToken": token, "action": action, **fields}]
        for invalid in map(self.invalid, outcomes):
            if invalid is not None:
                return invalid[0], {"code": "TOO_LARGE", "error": invalid[1]}, {}
        if of_job is not None and outcomes:
            return 200, self._settle(outcomes)[0], {}
        if path.endswith("/jobs/poll"):
            return 200, self._poll(call.body), {}
        if path.endswith("/jobs/settle"):
            return 200, {"results": self._settle(call.body["outcomes"])}, {}
        if path.endswith("/logs"):
            self.logs += call.body
            return 200, {"success": True, "inserted": len(call.body), "fromSeq": 1, "toSeq": 1}, {}
        if call.method == "POST" and path.endswith("/jobs"):
            one = {"id": "j1", "name": "n", "status": "pending", "createdAt": ""}
            return 201, [one for _ in call.body] if isinstance(call.body, list) else one, {}
        return 404, {"code": "NOT_FOUND", "error": "Not found"}, {}

    def publish(self, message: Json) -> None:
        """Send a message on all open streams. ``id`` becomes the ID of the server-sent event."""
        for stream in self.wait_for(lambda: self.streams):
            stream.put(message)

    def _stream(self) -> Messages:
        messages: Messages = queue.SimpleQueue()
        messages.put({"type": "init", "status": "running"})
        with self.changed:
            self.streams.append(messages)
            self.changed.notify_all()
        return messages

    def _settle(self, outcomes: list[Json]) -> list[Json]:
        with self.changed:
            entries: list[Json] = []
            for each in outcomes:
                error = self.refuse(each)
                if error is None:
                    self.outcomes.append(each)
                entries.append({"jobId": each["jobId"], "success": error is None, **(error or {})})
            self.changed.notify_all()
            return entries

    def _poll(self, poll: Json) -> Json:
        response = {"settled": self._settle(poll["settle"])} if "settle" in poll else {}
        end = time.monotonic() + poll.get("waitSeconds", 0)
        with self.changed:
            while not self.jobs and time.monotonic() < end and self.url:
                self.changed.wait(0.1)
            jobs, self.jobs = self.jobs[: poll["count"]], self.jobs[poll["count"] :]
        return {"jobs": jobs, **response}


def _body_of(headers: dict[str, str], raw: bytes) -> Any:
    if headers.get("content-encoding") == "gzip":
        return [json.loads(line) for line in gzip.decompress(raw).splitlines()]
    return json.loads(raw) if raw else None


def event_of(message: Json) -> bytes:
    """Return a message as a server-sent event."""
    fields = {"timestamp": "2026-01-31T09:30:00.766Z", **message}
    number = f"id: {fields.pop('id')}\n" if "id" in fields else ""
    return f"{number}data: {json.dumps(fields, ensure_ascii=False)}\n\n".encode()


@contextmanager
def serve() -> Iterator[FakeService]:
    fake = FakeService()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            raw = self.rfile.read(int(headers.get("content-length", 0)))
            reply = fake.answer(Call(self.command, self.path, headers, _body_of(headers, raw), self.client_address[1]))
            if reply is None:
                self.close_connection = True
                return
            status, body, more = reply
            if isinstance(body, queue.SimpleQueue):
                self.stream(body)
                return
            text = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-length": str(len(text)), **more}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def stream(self, messages: Messages) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            try:
                while fake.url:
                    try:
                        message = messages.get(timeout=0.1)
                    except queue.Empty:
                        self.wfile.write(b": still here\n\n")
                        continue
                    if message is None:
                        return
                    self.wfile.write(event_of(message))
            except OSError:
                with fake.changed:
                    fake.closed_streams += 1
                    fake.changed.notify_all()

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, format: str, *args: Any) -> None:
            """Write no access log."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A worker closes the connection of its poll when it stops."""

    server = Server(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield fake
    finally:
        fake.url = ""  # Ends waiting polls.
        server.shutdown()
        server.server_close()
