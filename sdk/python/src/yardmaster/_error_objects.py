"""Convert errors of attempts to stored objects and to single lines."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import os
import re
import traceback
from collections.abc import Callable
from typing import Any, TypeVar, cast

#: An error as a worker reports it: ``name``, ``message``, and ``stack`` and ``causes`` if it has any. Other clients may
#: store other fields.
ErrorObject = dict[str, Any]

UNREADABLE = "The error cannot be read"

# The service accepts 64 KB of JSON, but lists and dashboards show many errors.
_MOST_BYTES = 32_768
#: Maximum length of a message and half that of a stack, in characters. Halved until the error fits.
_MOST_CHARACTERS, _LEAST_CHARACTERS = 8_192, 64
_MOST_NAME = 200
_MOST_ERRORS = 10
_MOST_LEVELS = 5
#: Files whose stack frames don't help the author of a handler.
_INTERNAL = tuple(
    os.path.join(os.path.dirname(file), "") for file in (__file__, asyncio.__file__, concurrent.futures.__file__)
)
_SURROGATES = re.compile("[\ud800-\udfff]")

T = TypeVar("T")


def describe(error: BaseException) -> ErrorObject:
    """Return an error with its causes as at most 32 KB of JSON. Never raises, whatever the error's methods do."""
    whole, limit = _read(error, 1, set()), _MOST_CHARACTERS
    while True:
        described = _cut_all(whole, limit)
        if limit <= _LEAST_CHARACTERS or len(json.dumps(described, ensure_ascii=False).encode()) <= _MOST_BYTES:
            return described
        limit //= 2


def line_of(error: Any) -> str:
    """Return a stored error and its causes on one line. The error can be any JSON, because any client may store one."""
    return re.sub(r"\s*[\r\n]+\s*", " ", _line_of(error))


def name_of(error: BaseException) -> str:
    return _or(lambda: cut(type(error).__name__, _MOST_NAME), "Error")


def message_of(error: BaseException) -> str:
    """Return the message of an error with its notes, or a placeholder if reading it raises."""
    return _or(lambda: "\n".join([str(error), *_notes_of(error)]), UNREADABLE)


def cut(text: str, most: int) -> str:
    """Cut a text to at most this many characters of valid Unicode."""
    return _SURROGATES.sub("\ufffd", text if len(text) <= most else f"{text[: most - 2]} …")


def _or(read: Callable[[], T], otherwise: T) -> T:
    """Call a function that may run the user's methods, and return a fallback if they raise."""
    try:
        return read()
    except BaseException:  # An exit in such a method must not stop the worker.
        return otherwise


def _read(error: BaseException, level: int, seen: set[int]) -> ErrorObject:
    seen.add(id(error))
    causes: list[ErrorObject] = []
    if level < _MOST_LEVELS:
        found: list[BaseException] = _or(lambda: _causes_of(error), [])
        for cause in found:
            if id(cause) not in seen and len(seen) < _MOST_ERRORS:
                causes.append(_read(cause, level + 1, seen))
    stack = _or(lambda: _stack_of(error), "")
    return {"name": name_of(error), "message": message_of(error), "stack": stack, "causes": causes}


def _notes_of(error: BaseException) -> list[str]:
    notes: Any = getattr(error, "__notes__", None)
    return [note for note in cast(Any, notes) if isinstance(note, str)] if isinstance(notes, list | tuple) else []


def _causes_of(error: BaseException) -> list[BaseException]:
    """Return the direct cause of an error, and the members of a group."""
    cause = error.__cause__
    if cause is None and not error.__suppress_context__:
        cause = error.__context__
    members: Any = getattr(error, "exceptions", None)  # Before Python 3.11, exception groups come from packages.
    group: list[Any] = [*members] if isinstance(members, list | tuple) else []
    return [each for each in (cause, *group) if isinstance(each, BaseException)]


def _stack_of(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_INTERNAL)]
    return "".join(traceback.StackSummary.from_list(frames).format()).rstrip("\n")


def _cut_all(whole: ErrorObject, limit: int) -> ErrorObject:
    described = {"name": whole["name"], "message": cut(whole["message"], limit)}
    if whole["stack"]:
        described["stack"] = _cut_start(whole["stack"], 2 * limit)
    if whole["causes"]:
        described["causes"] = [_cut_all(cause, limit) for cause in whole["causes"]]
    return described


def _cut_start(stack: str, most: int) -> str:
    """Cut a stack to its innermost frames, which are the last lines."""
    if len(stack) > most:
        kept = stack[2 - most :]
        stack = f"…\n{kept[kept.find(chr(10)) + 1 :]}"
    return cut(stack, most)


def _line_of(error: Any) -> str:
    if isinstance(error, str):
        return error
    if not isinstance(error, dict) or not isinstance(cast(Any, error).get("message"), str):
        return json.dumps(error)
    stored = cast(ErrorObject, error)
    line = ": ".join(part for part in (stored.get("name"), stored["message"]) if isinstance(part, str) and part)
    causes = stored.get("causes")
    return f"{line} (cause: {_line_of(causes[0])})" if isinstance(causes, list) and causes else line
