"""Convert payloads and results between JSON and the user's types: dicts, dataclasses, pydantic and msgspec models."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from ._error_objects import message_of
from ._errors import NonRetryable

#: Limit of the service for the nesting of arrays and objects.
_MOST_LEVELS = 64
#: Bodies over about 20 MB would be retried forever, because the service closes the connection in the middle of them.
_MOST_BYTES = 16_000_000


def json_bytes(value: Any, path: str = "") -> bytes:
    """Convert a value to JSON. Raises ValueError with the path of the part that isn't JSON."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode()
    except Exception as error:
        refusal = _refusal_of(value, path, error)
    raise refusal


def as_json(value: Any, path: str) -> Any:
    """Return a value as the service would store it. Raises ValueError with the path of the part that isn't JSON."""
    text = json_bytes(value, path)
    if len(text) > _MOST_BYTES:
        advice = "Store it elsewhere and use its URL."
        raise ValueError(f"The {path} has {len(text):,} bytes of JSON, which is too large to send. {advice}")
    with suppress(RecursionError):
        stored = json.loads(text)
        if _is_shallow(stored):
            return stored
    raise _refusal_of(value, path, None)


def _refusal_of(value: Any, path: str, error: Exception | None) -> ValueError:
    fault = _fault_in(value, path, 1, ()) or (path if error is None else f"{path}: {message_of(error)}")
    return ValueError(f"The {path or 'request'} is not JSON: {fault}")


def _is_shallow(stored: Any) -> bool:
    parts: list[Any] = [stored]
    for _ in range(_MOST_LEVELS + 1):
        nested: list[Any] = [part for part in parts if isinstance(part, dict | list)]
        if not nested:
            return True
        parts = [each for part in nested for each in cast(Any, part.values() if isinstance(part, dict) else part)]
    return False


class _Unknown(TypeError):
    """Raised for something that JSON can't represent. The text continues a sentence that starts with the path."""


def _fault_in(value: Any, path: str, level: int, around: tuple[int, ...]) -> str | None:
    """Describe the first part of a value that isn't JSON. ``around`` has the IDs of the values that contain it."""
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, int | float):
        is_finite = abs(value) <= sys.float_info.max
        return (
            None
            if is_finite
            else f"{path} is {json.dumps(value) if isinstance(value, float) else 'too large a number'}"
        )
    if id(value) in around:
        return f"{path} refers to a value that contains it"
    if level > _MOST_LEVELS:
        return f"{path} is nested deeper than {_MOST_LEVELS} levels"
    try:
        parts = _parts_of(value)
    except _Unknown as unknown:
        return f"{path} {unknown}"
    except Exception as error:
        return f"{path} cannot be read: {type(error).__name__}: {message_of(error)}"
    around = (*around, id(value))
    faults = (_fault_in(part, f"{path}{step}".lstrip("."), level + bool(step), around) for step, part in parts)
    return next((fault for fault in faults if fault is not None), None)


def _parts_of(value: Any) -> list[tuple[str, Any]]:
    """Return the parts of a value, with the path step to each."""
    if isinstance(value, dict):
        return [(_step_of(key), part) for key, part in cast(Any, value).items()]
    if isinstance(value, list | tuple):
        return [(f"[{i}]", part) for i, part in enumerate(cast("list[Any]", value))]
    return [("", _plain(value))]


def _step_of(key: Any) -> str:
    if not isinstance(key, str | int | float | None):
        raise _Unknown(f"has a key of the type {type(key).__name__}")
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{json.dumps(key)}]"


def _plain(value: Any) -> Any:
    if _is_a("pydantic", "BaseModel", type(value)):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if _is_a("msgspec", "Struct", type(value)):
        return sys.modules["msgspec"].to_builtins(value)
    raise _Unknown(f"has the type {type(value).__name__}")


def _is_a(package: str, base: str, kind: Any) -> bool:
    """Return whether a type has this base, without importing the package: a model exists only if it is imported."""
    module: Any = sys.modules.get(package)
    return module is not None and isinstance(kind, type) and issubclass(kind, getattr(module, base))


def function_of(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function behind a handler, which may be a functools.partial or an object with ``__call__``."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    return handler if inspect.isroutine(handler) else type(handler).__call__


def payload_type_of(handler: Callable[..., Any]) -> Any:
    """Return the annotation of the payload; None if it is missing or exists only for a type checker.

    Raises TypeError for a handler that doesn't take a context and a payload.
    """
    signature = _signature_of(handler)
    try:
        signature.bind(None, None)
    except TypeError:
        raise TypeError("A handler takes two arguments: the context and the payload") from None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    hints = [each.annotation for each in signature.parameters.values() if each.kind in by_position]
    if len(hints) < 2 or hints[1] is inspect.Parameter.empty:
        return None
    holder = types.SimpleNamespace(__annotations__={"payload": hints[1]})
    names = getattr(inspect.unwrap(function_of(handler)), "__globals__", {})
    try:
        return typing.get_type_hints(holder, names)["payload"]
    except Exception:  # Evaluating a hint may raise anything.
        return None


def _signature_of(handler: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):  # There, signature() evaluates all annotations by default.
        from annotationlib import Format

        return inspect.signature(handler, annotation_format=Format.FORWARDREF)
    return inspect.signature(handler)


def as_type(kind: Any, payload: Any) -> Any:
    """Convert a payload to the type that a handler expects. Raises NonRetryable that says what doesn't match."""
    try:
        if _is_a("pydantic", "BaseModel", kind):
            return kind.model_validate(payload)
        if _is_a("msgspec", "Struct", kind):
            return sys.modules["msgspec"].convert(payload, kind)
        return _as_dataclass(kind, payload)
    except (TypeError, ValueError) as error:
        raise NonRetryable(f"The payload is not valid: {error}") from error


def _as_dataclass(kind: Any, value: Any) -> Any:
    """Fill dataclasses, including those in lists and dicts. Unknown fields are ignored."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(f"{kind.__name__} must be an object")
        hints = _hints_of(kind)
        names = [field.name for field in dataclasses.fields(kind) if field.init and field.name in value]
        return kind(**{name: _as_dataclass(hints.get(name), value[name]) for name in names})
    if origin is list and isinstance(value, list):
        return [_as_dataclass(arguments[0], each) for each in cast(Any, value)]
    if origin is dict and isinstance(value, dict):
        return {name: _as_dataclass(arguments[1], each) for name, each in cast("dict[str, Any]", value).items()}
    inner = [each for each in arguments if each is not type(None)]
    if len(arguments) == 2 and len(inner) == 1 and value is not None:  # X | None
        return _as_dataclass(inner[0], value)
    return value


def _hints_of(kind: type) -> dict[str, Any]:
    """Return the field types of a dataclass; none if one of them exists only for a type checker."""
    try:
        return typing.get_type_hints(kind)
    except Exception:
        return {}
