"""What it means that no series changed."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno.analysis.calibration import SHORTEST
from modeldyno.analysis.history import History
from modeldyno.reports.cells import metric_name
from modeldyno.reports.document import Finding, Tone
from modeldyno.reports.plural import counted


def unchanged(found: Sequence[History], name: str) -> Finding:
    """How small a change would have been seen, and how many series are too short to see one."""
    asked = [one for one in found if len(one.points) >= 2 * SHORTEST]
    short = len(found) - len(asked)
    if not asked:
        points = counted(max((len(one.points) for one in found), default=0), "point")
        text = f"No change of {metric_name(name)} can be seen yet: {len(found)} series, the longest of {points}."
        return Finding(text=f"{text} It takes {2 * SHORTEST}.", tone=Tone.DOUBT)
    left = f"; {short} more are too short to see one" if short else ""
    return Finding(text=f"No change of {metric_name(name)} was found in {len(asked)} series{_seen(asked)}{left}.")


def _seen(asked: Sequence[History]) -> str:
    """The changes that would have been seen."""
    smallest = [one.smallest for one in asked if one.smallest is not None]
    if not smallest:
        return ", though they are too short to say how small a change would be seen"
    low, high = f"{min(smallest) * 100:.1f}", f"{max(smallest) * 100:.1f}"
    size = f"{low} %" if low == high else f"{low} to {high} %, by series,"
    return f"; one of {size} or more would be seen within five runs in nine of ten cases, in a series looked at alone"
