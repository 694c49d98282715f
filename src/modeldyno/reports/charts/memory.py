"""Peak memory of the cases of one run, in the order they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from modeldyno.core.metrics import format_value
from modeldyno.reports.cells import metric_title
from modeldyno.reports.charts.layout import axis, platform_colour, wants_log
from modeldyno.reports.charts.style import GREY, WIDTH, data, finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

METRIC = "memory_peak_mb"
_MINUTE = 60.0
_HOUR = 60 * _MINUTE


@dataclass(frozen=True)
class Peak:
    """One case of the run."""

    seconds: float
    """From the start of the run to the start of the case."""
    case: str
    platform: str
    value: float
    made_up: bool
    """Whether no hardware gave it, or an emulator did."""


def course(name: str, title: str, rows: Sequence[Peak], note: str) -> Chart:
    """Points joined in the order given."""
    least, most = min(rows, key=lambda row: row.value), max(rows, key=lambda row: row.value)
    told = (
        f"Peak memory of {counted(len(rows), 'case')} of one run in the order they were measured, "
        f"from {format_value(METRIC, least.value)} ({least.case}) to {format_value(METRIC, most.value)} ({most.case})."
    )
    return finished(_chart(rows), name, title, told, note)


def _chart(rows: Sequence[Peak]) -> altair.TopLevelMixin:
    import altair as alt

    size, unit = _unit(max(row.seconds for row in rows))
    values = [asdict(row) | {"order": place, "since": row.seconds / size} for place, row in enumerate(rows)]
    scale = alt.Scale(type="log") if wants_log([[row.value for row in rows]]) else alt.Scale(zero=True)
    base = alt.Chart().encode(
        x=alt.X("since:Q", title=f"time since the run began ({unit})", scale=alt.Scale(zero=True), axis=axis()),
        y=alt.Y("value:Q", title=metric_title(METRIC), scale=scale, axis=axis()),
    )
    said = [alt.Tooltip("case:N"), alt.Tooltip("value:Q", title=metric_title(METRIC), format=".4~g")]
    points = base.mark_point(filled=True, size=55).encode(
        color=platform_colour(row.platform for row in rows),
        opacity=alt.condition("datum.made_up", alt.value(0.5), alt.value(1.0)),
        tooltip=[*said, alt.Tooltip("since:Q", title=f"begun after ({unit})", format=".3~g")],
    )
    joined = base.mark_line(color=GREY, strokeWidth=1, opacity=0.6).encode(order="order:Q")
    return alt.layer(joined, points, data=data(values)).properties(width=WIDTH, height=260)


def _unit(longest: float) -> tuple[float, str]:
    """Seconds in the unit, and its name."""
    if longest > 3 * _HOUR:
        return _HOUR, "h"
    return (_MINUTE, "min") if longest > 3 * _MINUTE else (1.0, "s")
