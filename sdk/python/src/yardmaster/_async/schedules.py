from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from .. import _calls
from .._options import NewJob
from .._schedules import NewSchedule, ScheduleOptions, definition_of
from .._wire import KnownJob, Schedule, ScheduleList, SchedulesChange, ScheduleWithTimes
from .job import AsyncJob

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .client import AsyncYardmaster


class AsyncSchedules:
    """Schedules, which create jobs at recurring times."""

    def __init__(self, client: AsyncYardmaster) -> None:
        self._client = client

    async def put(self, schedule_id: str, job: NewJob, **options: Unpack[ScheduleOptions]) -> Schedule:
        """Create a schedule, or replace its job and options. Repeating the call changes nothing."""
        return await self._change("PUT", schedule_id, definition_of(job, options))

    async def sync(self, *, owner: str, schedules: Sequence[NewSchedule], prune: bool = False) -> SchedulesChange:
        """Declare up to 200 schedules of an owner, such as a deployment: all are created or changed, or none.

        ``prune`` deletes the owner's other schedules. Returns how many were created, changed, unchanged and deleted.
        """
        request = _calls.sync_schedules(self._client.target, owner, schedules, prune)
        return cast(SchedulesChange, await self._client.send(request))

    async def list(self) -> AsyncIterator[Schedule]:
        """List the schedules of the space, oldest first."""
        cursor = None
        while True:
            page = cast(ScheduleList, await self._client.send(_calls.schedules(self._client.target, cursor)))
            for schedule in page["schedules"]:
                yield schedule
            cursor = page["nextCursor"]
            if cursor is None:
                return

    async def get(self, schedule_id: str) -> ScheduleWithTimes:
        """Return a schedule with its next times."""
        request = _calls.schedule("GET", self._client.target, schedule_id)
        return cast(ScheduleWithTimes, await self._client.send(request))

    async def run(self, schedule_id: str, payload: Any = ...) -> AsyncJob:
        """Create a job now, even while the schedule is paused, with the schedule's payload unless you pass one.

        Raises ``SCHEDULE_RUNNING`` if ``overlap`` is ``skip`` and the last job has not ended. The call isn't retried
        after a lost response, because a retry could make a second job.
        """
        request = _calls.run_schedule(self._client.target, schedule_id, payload)
        created = cast(KnownJob, await self._client.send(request))
        return AsyncJob(self._client, created["id"], created["name"], created["status"])

    async def pause(self, schedule_id: str) -> Schedule:
        """Stop creating jobs until ``resume``."""
        return await self._change("PATCH", schedule_id, {"paused": True})

    async def resume(self, schedule_id: str) -> Schedule:
        """Create jobs again from now on; times that have passed are not made up for."""
        return await self._change("PATCH", schedule_id, {"paused": False})

    async def delete(self, schedule_id: str) -> None:
        """Delete a schedule; its jobs stay. After a lost response, a retry may raise ``SCHEDULE_NOT_FOUND``."""
        await self._client.send(_calls.schedule("DELETE", self._client.target, schedule_id))

    async def _change(self, method: str, schedule_id: str, body: dict[str, Any]) -> Schedule:
        request = _calls.schedule(method, self._client.target, schedule_id, body)
        return cast(Schedule, await self._client.send(request))
