from __future__ import annotations

from typing import Any

from .._errors import NonRetryable, Release, RetryAfter
from .._payloads import as_json

#: What the API has besides the job and its token: the action and its fields.
Fields = dict[str, Any]

#: Errors may have 64 KB of JSON, in which a character may need six bytes.
_MOST_CHARACTERS = 10_000


def end_of(result: Any) -> Fields:
    """Return the end of an attempt whose handler has returned a value."""
    if isinstance(result, Release):
        return release_of(result.seconds, result.reason)
    try:
        return {"action": "complete", "result": as_json(result)}
    except (TypeError, ValueError, RecursionError) as error:
        return failure_of(TypeError(f"the result is not representable as JSON: {error}"))


def failure_of(error: BaseException) -> Fields:
    """Return the end of an attempt whose handler has raised something."""
    if isinstance(error, Release):
        return release_of(error.seconds, error.reason)
    text = text_of(error)
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[:_MOST_CHARACTERS]} …"
    end: Fields = {"action": "fail", "error": text}
    if isinstance(error, NonRetryable):
        end["retryable"] = False
    if isinstance(error, RetryAfter):
        end["retryAfterSeconds"] = error.seconds
    return end


def text_of(error: BaseException) -> str:
    """Return the message of an error, with its type, because that of a KeyError is only the key."""
    kind = type(error).__name__
    try:
        message = str(error)
    except Exception:  # Its __str__ has an error of its own, and the attempt must still end.
        return kind
    if isinstance(error, NonRetryable | RetryAfter | ProcessError):
        return message or kind
    return f"{kind}: {message}" if message else kind


def release_of(seconds: float, reason: str | None = None) -> Fields:
    end: Fields = {"action": "release"}
    if seconds > 0:
        end["delaySeconds"] = seconds
    if reason:
        end["reason"] = reason
    return end


class ProcessError(Exception):
    """The process of a handler has raised an error, of which this is the text, or has died."""
