from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from .._error_objects import UNREADABLE, cut, describe, message_of, name_of
from .._errors import MOST_DELAY, MOST_RETRY_DELAY, NonRetryable, Release, RetryAfter, YardmasterError
from .._payloads import as_json
from .._warnings import logger

if TYPE_CHECKING:
    from .context import Context, SyncContext

#: An outcome without its job and token: the action and its fields.
Fields = dict[str, Any]

_MOST_REASON = 1_000
#: Maximum length of an error's name that the service accepts in any case, in characters.
_MOST_NAME = 100


class InvalidResult(Exception):
    """Raised for a result that can't be stored, so that a retry wouldn't help."""


class ProcessError(Exception):
    """Raised when the process of a handler dies."""


def end_of(result: Any = None, error: BaseException | None = None, *, context: Context | SyncContext | None) -> Fields:
    """Return the end of an attempt whose handler returned a value or raised an error.

    Never raises, whatever these are and whatever their methods do. An unexpected error is logged, unless the handler
    was aborted.
    """
    if error is None and issubclass(type(result), Release):  # Not isinstance, which reads a property of the value.
        error = cast(Release, result)
    if error is None:
        try:
            return {"action": "complete", "result": _stored(result)}
        except InvalidResult as invalid:
            error = invalid
    try:
        if isinstance(error, Release):
            return release_of(error)
        _log(error, context)
        return _failure_of(error)
    except BaseException:
        return {"action": "fail", "error": {"name": name_of(error), "message": UNREADABLE}}


def _stored(result: Any) -> Any:
    try:
        return as_json(result, "result")
    except ValueError as error:
        raise InvalidResult(message_of(error)) from None
    except BaseException as error:  # The methods of a result may raise anything, such as an exit.
        raise InvalidResult(f"The result is not JSON: it raises {name_of(error)}") from None


def _failure_of(error: BaseException) -> Fields:
    end: Fields = {"action": "fail", "error": describe(error)}
    if isinstance(error, NonRetryable | InvalidResult):
        end["retryable"] = False
    if isinstance(error, RetryAfter):
        end["retryAfterSeconds"] = _seconds_in(error, MOST_RETRY_DELAY)
    return end


def _log(error: BaseException, context: Context | SyncContext | None) -> None:
    if context is None or context.signal.aborted or isinstance(error, NonRetryable | RetryAfter):
        return
    with suppress(BaseException):  # Formatting an error calls its methods.
        logger.warning("A handler of %s failed (%s)", context.job.name, context.job.id, exc_info=error)


def release_of(release: Release) -> Fields:
    end: Fields = {"action": "release"}
    seconds = _seconds_in(release, MOST_DELAY)
    if seconds > 0:
        end["delaySeconds"] = seconds
    reason: Any = getattr(release, "reason", None)
    with suppress(BaseException):
        if text := "" if reason is None else str(reason):
            end["reason"] = cut(text, _MOST_REASON)
    return end


def _seconds_in(error: RetryAfter | Release, most: float) -> float:
    """Return a delay that the service accepts. A subclass may have any."""
    seconds: Any = getattr(error, "seconds", 0)
    is_valid = isinstance(seconds, int | float) and math.isfinite(seconds)
    return min(max(seconds, 0), most) if is_valid else 0


def replacement_of(outcome: Fields, refusal: YardmasterError) -> Fields | None:
    """Replace an outcome that the service refused as invalid or too large.

    Returns an outcome whose content the service accepts; None for a report that doesn't end the attempt.
    """
    job: Fields = {key: outcome[key] for key in ("jobId", "deliveryToken") if key in outcome}
    if outcome["action"] == "release":
        return {**job, "action": "release"}
    if outcome["action"] == "complete":
        error = {"name": InvalidResult.__name__, "message": _invalid_result(outcome["result"], refusal)}
        return {**job, "action": "fail", "error": error, "retryable": False}
    if outcome["action"] != "fail":
        return None
    message = f"The service refused the error of this attempt: {refusal.message}"
    return {**outcome, "error": {"name": outcome["error"]["name"][:_MOST_NAME], "message": message}}


def _invalid_result(result: Any, refusal: YardmasterError) -> str:
    if refusal.status != 413:
        return f"The service refuses the result: {refusal.message}"
    advice = "Store it elsewhere and return its URL."
    return f"The result has {size_of(result):,} bytes of JSON, which the service refuses: {refusal.message}. {advice}"


def size_of(result: Any) -> int:
    """Return the size of a stored value as the service counts it, in bytes of JSON."""
    return len(json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass"))
