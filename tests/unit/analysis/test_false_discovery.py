"""Benjamini and Hochberg's rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from modeldyno.analysis.false_discovery import Q, discoveries


def test_the_example_of_the_paper() -> None:
    p_values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240]
    p_values += [0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert sum(discoveries(p_values)) == 4
    assert discoveries(p_values[::-1]) == discoveries(p_values)[::-1]


def test_none_and_one() -> None:
    assert discoveries([]) == []
    assert discoveries([0.05]) == [True]
    assert discoveries([0.051]) == [False]


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=50))
def test_it_agrees_with_scipy(p_values: list[float]) -> None:
    adjusted = false_discovery_control(p_values)
    clear = np.abs(adjusted - Q) > 1e-9
    assert (np.array(discoveries(p_values))[clear] == (adjusted <= Q)[clear]).all()
