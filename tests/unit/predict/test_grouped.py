"""Groups without loops give what loops give."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.predict._grouped import medians, pairs_within, spreads, weighted_medians

ROWS = st.lists(st.tuples(st.integers(0, 5), st.floats(-1e3, 1e3)), min_size=1, max_size=40)


@given(ROWS)
def test_medians_are_those_of_each_group(rows: list[tuple[int, float]]) -> None:
    groups, values = (np.asarray(column) for column in zip(*rows, strict=True))
    found, middle, count = medians(groups, values.astype(float))
    for group, value, size in zip(found, middle, count, strict=True):
        members = [one for of, one in rows if of == group]
        assert (size, value) == (len(members), pytest.approx(median(members)))


@given(ROWS)
def test_pairs_are_all_of_one_group_and_never_with_itself(rows: list[tuple[int, float]]) -> None:
    groups = np.asarray([group for group, _ in rows])
    left, right = pairs_within(groups)
    wanted = {(i, j) for i in range(len(rows)) for j in range(len(rows)) if i != j and groups[i] == groups[j]}
    assert set(zip(left.tolist(), right.tolist(), strict=True)) == wanted
    assert len(left) == len(wanted)


def test_spread_is_robust_against_an_outlier() -> None:
    _, _, calm, _ = spreads(np.zeros(5, dtype=int), np.asarray([1.0, 1.1, 0.9, 1.05, 0.95]))
    _, _, wild, _ = spreads(np.zeros(6, dtype=int), np.asarray([1.0, 1.1, 0.9, 1.05, 0.95, 1e6]))
    assert wild[0] < 3 * calm[0]


def test_weighted_medians_follow_the_weight_and_leave_empty_groups_open() -> None:
    groups = np.asarray([0, 0, 0, 2, 2])
    found = weighted_medians(groups, np.asarray([1.0, 2.0, 9.0, 4.0, 5.0]), np.asarray([1.0, 1.0, 5.0, 3.0, 1.0]), 3)
    assert found[0] == 9.0
    assert np.isnan(found[1])
    assert found[2] == 4.0
