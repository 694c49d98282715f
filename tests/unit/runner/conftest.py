"""What holds for every test of the runner."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest


@pytest.fixture(autouse=True)
def no_process_left_behind() -> Iterator[None]:
    """Processes that earlier tests keep for helpers of their own, such as a resource tracker, are none of ours."""
    before = _living_children()
    yield
    assert not _living_children() - before


def _living_children() -> set[psutil.Process]:
    return {p for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE}
