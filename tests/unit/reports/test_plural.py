"""Numbers of things."""

from __future__ import annotations

import pytest

from modeldyno.reports.plural import counted


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 models"), (1, "1 model"), (2, "2 models"), (12000, "12,000 models")]
)
def test_one_is_one_and_more_are_many(count: int, told: str) -> None:
    assert counted(count, "model") == told
