# Generated from _async/operations.py by scripts/sdk/wire.mjs; do not edit.
from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from .. import _calls
from .._durations import Duration
from .._options import OperationOptions
from .._wire import Operation, OperationFilterRequest, OperationRequestAction

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import Yardmaster


class Operations:
    """Starts operations on all jobs of the space that match a filter."""

    def __init__(self, client: Yardmaster) -> None:
        self._client = client

    def start(
        self,
        action: OperationRequestAction,
        filter: OperationFilterRequest,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[OperationOptions],
    ) -> OperationHandle:
        """Start an operation. Retries, including calls with the same idempotency key, don't start a second one."""
        request = _calls.start_operation(self._client.target, action, filter, options, idempotency_key)
        return self.handle(cast(Operation, self._client.send(request))["id"])

    def handle(self, operation_id: str) -> OperationHandle:
        """Return a handle to an existing operation. Makes no call."""
        return OperationHandle(self._client, operation_id)


class OperationHandle:
    """A handle to an operation."""

    def __init__(self, client: Yardmaster, operation_id: str) -> None:
        self._client = client
        self.id = operation_id

    def get(self) -> Operation:
        """Return the current state of the operation."""
        return cast(Operation, self._client.send(_calls.operation("GET", self.id)))

    def wait(self, timeout: Duration | None = None) -> Operation:
        """Wait until the operation is done or canceled. Raises YardmasterError ``TIMEOUT`` after ``timeout``."""
        wait = _calls.OperationWait(timeout)
        while (operation := self.get())["status"] == "running":
            time.sleep(wait.next())
        return operation

    def cancel(self) -> None:
        """Cancel the operation. Jobs that it has changed stay changed."""
        self._client.send(_calls.operation("DELETE", self.id))
