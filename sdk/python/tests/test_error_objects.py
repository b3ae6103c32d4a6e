from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from yardmaster._error_objects import describe, line_of


def raised(function: Callable[[], Any]) -> BaseException:
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("It raises nothing")


def levels_of(described: dict[str, Any]) -> int:
    return 1 + max((levels_of(cause) for cause in described.get("causes", ())), default=0)


def count_of(described: dict[str, Any]) -> int:
    return 1 + sum(count_of(cause) for cause in described.get("causes", ()))


class Group(Exception):
    """A stand-in for ExceptionGroup, which Python 3.10 lacks."""

    def __init__(self, message: str, exceptions: list[BaseException]) -> None:
        super().__init__(message)
        self.exceptions = exceptions


def test_a_stored_error_has_its_class_message_notes_and_frames() -> None:
    def fails() -> None:
        error = KeyError("image")
        error.__notes__ = ["while reading", "cat.png", 7]  # type: ignore[attr-defined]
        raise error

    described = describe(raised(fails))
    assert (described["name"], described["message"]) == ("KeyError", "'image'\nwhile reading\ncat.png")
    lines = described["stack"].splitlines()
    frames = [line.split(" in ")[1] for line in lines if line.startswith("  File ")]
    assert frames == ["raised", "fails"]
    assert "KeyError: " not in described["stack"]
    assert "causes" not in described


def test_the_causes_are_the_direct_cause_and_the_members_of_a_group() -> None:
    def explicit() -> None:
        raise ValueError("outer") from OSError("refused")

    def implicit() -> None:
        try:
            raise OSError("refused")
        except OSError:
            raise ValueError("outer")  # noqa: B904

    def hidden() -> None:
        try:
            raise OSError("refused")
        except OSError:
            raise ValueError("outer") from None

    for function, causes in ((explicit, [("OSError", "refused")]), (implicit, [("OSError", "refused")]), (hidden, [])):
        found = describe(raised(function)).get("causes", [])
        assert [(each["name"], each["message"]) for each in found] == causes
    group = Group("some", [OSError("a"), Group("inner", [OSError("b")])])
    group.__cause__ = TypeError("why")
    assert describe(group)["causes"] == [
        {"name": "TypeError", "message": "why"},
        {"name": "OSError", "message": "a"},
        {"name": "Group", "message": "inner", "causes": [{"name": "OSError", "message": "b"}]},
    ]


@pytest.mark.parametrize("error", [ValueError(), SystemExit(2), KeyboardInterrupt()])
def test_an_error_whose_text_cannot_be_read_keeps_its_class_stack_and_causes(error: BaseException) -> None:
    class Unreadable(Exception):
        def __str__(self) -> str:
            raise error

    def fails() -> None:
        raise Unreadable from OSError("refused")

    described = describe(raised(fails))
    assert (described["name"], described["message"]) == ("Unreadable", "The error cannot be read")
    assert described["stack"].endswith('raise Unreadable from OSError("refused")')
    assert described["causes"] == [{"name": "OSError", "message": "refused"}]


def test_cyclic_and_long_cause_chains_are_cut() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert describe(first)["causes"] == [{"name": "ValueError", "message": "second"}]
    chain = ValueError("0")
    for n in range(1, 3_000):
        chain, before = ValueError(str(n)), chain
        chain.__cause__ = before
    assert (levels_of(describe(chain)), describe(chain)["message"]) == (5, "2999")
    assert count_of(describe(Group("many", [ValueError(str(n)) for n in range(1_000)]))) == 10


@pytest.mark.parametrize("character", ["x", "é", "\U0001f600", "\x00", "\ud83d"])
def test_a_stored_error_is_at_most_32_kb_of_valid_unicode(character: str) -> None:
    text = character * 100_000
    one = describe(ValueError(text))
    assert len(json.dumps(one, ensure_ascii=False).encode()) <= 32_768
    assert one["message"].endswith(" …")
    named = type(text[:50_000].replace("\x00", "y").encode("utf-8", "replace").decode(), (Exception,), {})
    many = describe(Group(text, [named(text) for _ in range(20)]))
    assert len(json.dumps(many, ensure_ascii=False).encode()) <= 32_768
    assert count_of(many) == 10
    assert len(many["causes"][0]["name"]) <= 200


def test_the_innermost_frames_of_a_long_stack_are_kept() -> None:
    def even(n: int) -> None:
        odd(n - 1)

    def odd(n: int) -> None:
        if n <= 0:
            raise ValueError("deep")
        even(n - 1)

    stack = describe(raised(lambda: even(400)))["stack"]
    assert len(stack) <= 16_384
    assert stack.startswith("…\n")
    assert 'raise ValueError("deep")' in stack


@pytest.mark.parametrize(
    ("stored", "line"),
    [
        ("disk full\n  again", "disk full again"),
        ({"name": "TypeError", "message": "fetch failed"}, "TypeError: fetch failed"),
        ({"message": "fetch failed", "code": 7}, "fetch failed"),
        ({"name": "TypeError", "message": ""}, "TypeError"),
        ({"detail": [1, "é"]}, '{"detail": [1, "\\u00e9"]}'),
        (None, "null"),
        (
            {"name": "A", "message": "a", "causes": [{"name": "B", "message": "b\nb", "causes": ["c"]}, "d"]},
            "A: a (cause: B: b b (cause: c))",
        ),
    ],
)
def test_a_stored_error_of_any_form_is_shown_on_one_line(stored: Any, line: str) -> None:
    assert line_of(stored) == line
