"""Horizontal bars with error bars: one metric of several candidates, grouped by model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.reports.cells import metric_name, metric_title
from modeldyno.reports.charts.style import WIDTH, data, finished, platform_colours, spans_decades
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

MOST_BARS = 60
"""Places for bars; more than that are dots, a line for each group."""
_BAR, _ROW = 15, 18
_LABELS = 1.45
"""The axis ends so far beyond the longest bar, for its label."""


@dataclass(frozen=True)
class Bar:
    """One candidate."""

    group: str
    """What stands together, such as the model."""
    name: str
    """Which candidate, such as the platform and runtime."""
    platform: str
    value: float
    label: str = ""
    """What stands beside the bar."""
    low: float | None = None
    high: float | None = None


def bars(name: str, title: str, metric: str, rows: Sequence[Bar], note: str | None = None) -> Chart:
    """Few as bars, many as dots on one line for each group."""
    groups = len({row.group for row in rows})
    places = groups * len({row.platform for row in rows})
    alt = f"{metric_name(metric)} of {counted(groups, 'model')} on {_platforms(rows)}; {_extremes(rows)}"
    chart = _dots(metric, rows) if places > MOST_BARS else _bars(metric, rows)
    return finished(chart, name, title, alt, note)


def _platforms(rows: Sequence[Bar]) -> str:
    return ", ".join(sorted({row.platform for row in rows}))


def _extremes(rows: Sequence[Bar]) -> str:
    least, most = min(rows, key=lambda row: row.value), max(rows, key=lambda row: row.value)
    return f"least {least.value:.4g} ({least.group}, {least.name}), most {most.value:.4g} ({most.group}, {most.name})"


def _values(rows: Sequence[Bar]) -> list[dict[str, Any]]:
    return [
        {
            "group": row.group,
            "name": row.name,
            "label": row.label,
            "platform": row.platform,
            "value": row.value,
            "low": row.value if row.low is None else row.low,
            "high": row.value if row.high is None else row.high,
        }
        for row in rows
    ]


def _colour(rows: Sequence[Bar]) -> altair.Color:
    import altair as alt

    return alt.Color("platform:N", scale=platform_colours(row.platform for row in rows), title="platform")


def _tooltip(metric: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("group:N", title="model"),
        alt.Tooltip("name:N", title="on"),
        alt.Tooltip("value:Q", title=metric_title(metric), format=".4~g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
    ]


def _bars(metric: str, rows: Sequence[Bar]) -> altair.TopLevelMixin:
    """Lengths begin at zero, so this axis is never logarithmic."""
    import altair as alt

    longest = max(row.value if row.high is None else row.high for row in rows)
    x = alt.X(
        "value:Q",
        title=metric_title(metric),
        scale=alt.Scale(domain=[0, longest * _LABELS or 1], nice=False),
        stack=None,
    )
    base = alt.Chart(data(_values(rows))).encode(
        y=alt.Y("group:N", title=None, sort=None), yOffset=alt.YOffset("platform:N"), tooltip=_tooltip(metric)
    )
    return alt.layer(
        base.mark_bar().encode(x=x, color=_colour(rows)),
        base.mark_rule(strokeWidth=4, color="white", opacity=0.6).encode(x="low:Q", x2="high:Q"),
        base.mark_rule(strokeWidth=1.5, color="black").encode(x="low:Q", x2="high:Q"),
        base.mark_text(align="left", dx=5, fontSize=10).encode(x="high:Q", text="label:N"),
    ).properties(width=WIDTH, height={"step": _BAR, "for": "offset"})


def _dots(metric: str, rows: Sequence[Bar]) -> altair.TopLevelMixin:
    import altair as alt

    log = spans_decades([row.value for row in rows])
    places = sorted({row.platform for row in rows})  # as for the colours: equal scales make one legend
    scale = alt.Scale(type="log", nice=False, padding=12) if log else alt.Scale(zero=True)
    base = alt.Chart(data(_values(rows))).encode(
        y=alt.Y("group:N", title=None, sort=None, axis=alt.Axis(grid=True)),
        color=_colour(rows),
        tooltip=_tooltip(metric),
    )
    return alt.layer(
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=60, opacity=0.85).encode(
            x=alt.X("value:Q", title=metric_title(metric), scale=scale),
            shape=alt.Shape("platform:N", title="platform", scale=alt.Scale(domain=places)),
        ),
    ).properties(width=WIDTH, height=alt.Step(_ROW))
