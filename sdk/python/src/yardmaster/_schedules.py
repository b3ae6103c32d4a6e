from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict, cast

from ._durations import Duration, seconds_of
from ._options import NewJob, body_of, text_of
from ._wire import ScheduleMissed, ScheduleOverlap


class ScheduleOptions(TypedDict, total=False):
    """Schedule options. ``cron`` or ``every`` is required; the service has a default for each of the others."""

    #: Cron expression with five fields, or ``@hourly``, ``@daily``, ``@weekly``, ``@monthly`` or ``@yearly``.
    cron: str
    #: Interval between runs, at least 10 s. The first run is at ``starts_at``, or one interval after the creation.
    every: Duration
    #: IANA time zone of ``cron``, such as ``Europe/Berlin``. Default: UTC.
    timezone: str
    #: What to do while the last job has not ended: ``skip`` this run, ``allow`` a second job, or ``replace`` the last
    #: job by killing it. Default: ``skip``.
    overlap: ScheduleOverlap
    #: What to do after missed times: create a job ``once`` for the latest, or ``skip`` them all. Default: ``once``.
    missed: ScheduleMissed
    #: Age from which missed times are always skipped. Default: a day.
    missed_within: Duration
    #: Longest delay of a run, which spreads schedules with the same times. Default: 0.
    spread: Duration
    #: Time of the earliest run. A datetime needs a time zone. Default: no limit.
    starts_at: datetime | str
    #: Time of the latest run. Default: no limit.
    ends_at: datetime | str
    #: Whether to create no jobs for now. Default: unchanged; False for a new schedule.
    paused: bool
    #: Name of who declares the schedule, such as a deployment. Other owners can't change it. Default: none.
    owner: str


@dataclass(frozen=True)
class NewSchedule:
    """A schedule to create or change. Its job has no ``delay`` and no ``scheduled_for``."""

    id: str
    job: NewJob
    options: ScheduleOptions = field(default_factory=ScheduleOptions)


_WIRE = ("cron", "timezone", "overlap", "missed", "paused", "owner")
_DURATIONS = {"every": "everySeconds", "missed_within": "missedWithinSeconds", "spread": "spreadSeconds"}
_TIMES = {"starts_at": "startsAt", "ends_at": "endsAt"}


def definition_of(job: NewJob, options: ScheduleOptions) -> dict[str, Any]:
    """Return the request body that puts a schedule. Raises TypeError or ValueError for an invalid option."""
    body: dict[str, Any] = {"job": body_of(job)}
    for option, value in options.items():
        if option in _DURATIONS:
            body[_DURATIONS[option]] = seconds_of(cast(Duration, value), option)
        elif option in _TIMES:
            body[_TIMES[option]] = text_of(cast("datetime | str", value), option)
        elif option in _WIRE:
            body[option] = value
        else:
            raise TypeError(f"Schedules have no option {option!r}")
    return body
