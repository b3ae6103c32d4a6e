"""Payloads and results as types of the user: dicts, dataclasses, and models of pydantic or msgspec."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
import typing
from collections.abc import Callable
from typing import Any, cast

from ._errors import NonRetryable


def json_bytes(value: Any) -> bytes:
    """Raises TypeError or ValueError for a value that JSON cannot represent."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode()


def as_json(value: Any) -> Any:
    """Return a value as the service would store it. Raises TypeError or ValueError, as json_bytes does."""
    return json.loads(json_bytes(value))


def _plain(value: Any) -> Any:
    if _is_a("pydantic", "BaseModel", type(value)):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if _is_a("msgspec", "Struct", type(value)):
        return sys.modules["msgspec"].to_builtins(value)
    raise TypeError(f"{type(value).__name__} is not representable as JSON")


def _is_a(package: str, base: str, kind: Any) -> bool:
    """Whether a type has this base. A model exists only when its package is imported, so nothing is imported here."""
    module: Any = sys.modules.get(package)
    return module is not None and isinstance(kind, type) and issubclass(kind, getattr(module, base))


def payload_type_of(handler: Callable[..., Any]) -> Any:
    """Return the annotation of the second parameter of a handler; None without one. Raises TypeError for others."""
    parameters = list(inspect.signature(handler).parameters.values())
    if len(parameters) != 2:
        raise TypeError("A handler takes two arguments: the context and the payload")
    return typing.get_type_hints(handler).get(parameters[1].name)


def as_type(kind: Any, payload: Any) -> Any:
    """Return a payload as the type that a handler wants. Raises NonRetryable, which says what does not fit."""
    try:
        if _is_a("pydantic", "BaseModel", kind):
            return kind.model_validate(payload)
        if _is_a("msgspec", "Struct", kind):
            return sys.modules["msgspec"].convert(payload, kind)
        return _as_dataclass(kind, payload)
    except (TypeError, ValueError) as error:
        raise NonRetryable(f"The payload is not valid: {error}") from error


def _as_dataclass(kind: Any, value: Any) -> Any:
    """Fill dataclasses, also those in lists and in dicts. Fields that a dataclass does not have are left out."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(f"{kind.__name__} must be an object")
        hints = typing.get_type_hints(kind)
        names = [field.name for field in dataclasses.fields(kind) if field.init and field.name in value]
        return kind(**{name: _as_dataclass(hints[name], value[name]) for name in names})
    if origin is list and isinstance(value, list):
        return [_as_dataclass(arguments[0], each) for each in cast(Any, value)]
    if origin is dict and isinstance(value, dict):
        return {name: _as_dataclass(arguments[1], each) for name, each in cast("dict[str, Any]", value).items()}
    inner = [each for each in arguments if each is not type(None)]
    if len(arguments) == 2 and len(inner) == 1 and value is not None:  # X | None
        return _as_dataclass(inner[0], value)
    return value
