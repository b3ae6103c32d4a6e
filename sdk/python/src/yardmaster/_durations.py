import math
import re
from datetime import timedelta

#: Seconds as a number, a timedelta, or a string such as ``"250ms"``, ``"30s"``, ``"5m"``, ``"2h"`` or ``"1d"``.
Duration = float | str | timedelta

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def seconds_of(duration: Duration, option: str, most: float = math.inf) -> float:
    """Convert a duration to seconds. Raises ValueError with the name of the option if it is invalid or too long."""
    seconds = math.nan
    if isinstance(duration, timedelta):
        seconds = duration.total_seconds()
    elif isinstance(duration, str):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", duration.strip())
        if match:
            seconds = float(match[1]) * _SECONDS[match[2]]
    elif not isinstance(duration, bool):
        seconds = float(duration)
    if seconds > most:
        raise ValueError(f"{option} must be at most {most:g} s; got {duration!r}")
    if math.isfinite(seconds) and seconds >= 0:
        return seconds
    raise ValueError(
        f"{option} must be a number of seconds, a timedelta, or a string such as '30s' or '5m'; got {duration!r}"
    )
