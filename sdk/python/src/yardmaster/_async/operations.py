from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from .. import _calls
from .._durations import Duration
from .._options import OperationOptions
from .._wire import Operation, OperationFilterRequest, OperationRequestAction

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import AsyncYardmaster


class AsyncOperations:
    """Starts operations on all jobs of the space that match a filter."""

    def __init__(self, client: AsyncYardmaster) -> None:
        self._client = client

    async def start(
        self,
        action: OperationRequestAction,
        filter: OperationFilterRequest,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[OperationOptions],
    ) -> AsyncOperationHandle:
        """Start an operation. Retries, including calls with the same idempotency key, don't start a second one."""
        request = _calls.start_operation(self._client.target, action, filter, options, idempotency_key)
        return self.handle(cast(Operation, await self._client.send(request))["id"])

    def handle(self, operation_id: str) -> AsyncOperationHandle:
        """Return a handle to an existing operation. Makes no call."""
        return AsyncOperationHandle(self._client, operation_id)


class AsyncOperationHandle:
    """A handle to an operation."""

    def __init__(self, client: AsyncYardmaster, operation_id: str) -> None:
        self._client = client
        self.id = operation_id

    async def get(self) -> Operation:
        """Return the current state of the operation."""
        return cast(Operation, await self._client.send(_calls.operation("GET", self.id)))

    async def wait(self, timeout: Duration | None = None) -> Operation:
        """Wait until the operation is done or canceled. Raises YardmasterError ``TIMEOUT`` after ``timeout``."""
        wait = _calls.OperationWait(timeout)
        while (operation := await self.get())["status"] == "running":
            await asyncio.sleep(wait.next())
        return operation

    async def cancel(self) -> None:
        """Cancel the operation. Jobs that it has changed stay changed."""
        await self._client.send(_calls.operation("DELETE", self.id))
