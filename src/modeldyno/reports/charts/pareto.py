"""Two aims against each other: a point for each candidate, a step line through those that no other beats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from modeldyno.reports.charts.layout import axis, legend, panels, platform_colour, titled, wants_log
from modeldyno.reports.charts.style import GREY, finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True)
class Choice:
    """One candidate."""

    panel: str
    name: str
    """Which platform, runtime and sizes."""
    platform: str
    precision: str
    x: float
    y: float
    best: bool
    """Whether it lies on the frontier."""
    made_up: bool
    """Whether no hardware gave it, or an emulator did."""


def pareto_chart(name: str, title: str, axes: tuple[str, str], rows: Sequence[Choice], note: str) -> Chart:
    """The titles of the axes carry their units."""
    where = counted(len({row.panel for row in rows}), "panel")
    told = (
        f"{axes[0].capitalize()} against {axes[1]}: {counted(len(rows), 'candidate')} in {where}, "
        f"{sum(row.best for row in rows)} of them on a frontier."
    )
    values = [asdict(row) for row in rows]
    return finished(panels(_layers(axes, rows), values), name, titled(title, (row.panel for row in rows)), told, note)


def _layers(axes: tuple[str, str], rows: Sequence[Choice]) -> list[altair.Chart]:
    import altair as alt

    base = alt.Chart().encode(
        x=alt.X("x:Q", title=axes[0], scale=_scale(rows, lambda row: row.x), axis=axis()),
        y=alt.Y("y:Q", title=axes[1], scale=_scale(rows, lambda row: row.y), axis=axis()),
    )
    line = base.mark_line(interpolate="step-after", color=GREY, strokeWidth=1.5)
    points = base.mark_point(filled=True).encode(
        color=platform_colour(row.platform for row in rows),
        shape=alt.Shape("precision:N", legend=legend("precision")),
        size=alt.condition("datum.best", alt.value(80), alt.value(35)),
        opacity=alt.condition("datum.best && !datum.made_up", alt.value(1.0), alt.value(0.5)),
        tooltip=[
            alt.Tooltip("panel:N", title="model"),
            alt.Tooltip("name:N", title="on"),
            alt.Tooltip("x:Q", title=axes[0], format=".4~g"),
            alt.Tooltip("y:Q", title=axes[1], format=".4~g"),
            alt.Tooltip("best:N", title="on the frontier"),
        ],
    )
    return [line.transform_filter("datum.best"), points]


def _scale(rows: Sequence[Choice], value: Callable[[Choice], float]) -> altair.Scale:
    import altair as alt

    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.panel, []).append(value(row))
    return alt.Scale(type="log" if wants_log(found.values()) else "linear", zero=False, nice=False, padding=14)
