"""A short form of the kill test; `python tests/e2e/many_writers.py` is the long one."""

from __future__ import annotations

from pathlib import Path

import pytest
from many_writers import one_round


@pytest.mark.slow
def test_killed_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    outcome = one_round(tmp_path, writers=4, seconds=12, seed=1)
    assert outcome.acknowledged > 0, outcome
    assert outcome.kills > 3, outcome
    assert outcome.reads > 0, outcome
    assert not outcome.lost, outcome
    assert not outcome.doubled, outcome
    assert outcome.stored <= outcome.acknowledged + outcome.kills + 4, outcome
