"""Many questions at once: which of their answers still count (Benjamini and Hochberg, JRSS B 57, 1995)."""

from __future__ import annotations

from collections.abc import Sequence

Q = 0.05
"""The share of the alarms that may be false."""


def discoveries(p_values: Sequence[float], q: float = Q) -> list[bool]:
    """For each p-value whether it is among the smallest k with p(k) <= k/m * q."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    count = max((rank for rank, place in enumerate(order, 1) if p_values[place] <= rank / len(order) * q), default=0)
    found = [False] * len(p_values)
    for place in order[:count]:
        found[place] = True
    return found
