"""Pytest fixtures, which pytest finds once the SDK is installed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .testing import Run, run


@pytest.fixture
def run_handler() -> Callable[..., Run]:
    """Return ``yardmaster.testing.run``: ``run_handler(resize, {"width": 320}).result``."""
    return run
